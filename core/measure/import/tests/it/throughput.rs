//! `iperf3`, `ndt7-client`, `networkQuality` and Crusader: loads.
use crate::samples::{assert_near, content, directed, kinds, lacks, median, run, run_of, series, span};
use fathom_diagnose::{Health, diagnose};
use fathom_import::{detect, import};
use fathom_run::{Fact, FindingKind, Metric, Missing, PhaseKind, Reason, Run, SeriesKey, Unrecorded};
use fathom_units::Direction;

fn of_flow(run: &Run, metric: Metric, direction: Direction, flow: u32) -> Vec<f64> {
    let key = SeriesKey { flow: Some(flow), ..SeriesKey::directed(metric, direction) };
    run.series(&key).expect("the flow is in the run").values.clone()
}

#[test]
fn an_upload_of_iperf3() {
    let run = run("iperf3-up.json");
    assert_eq!(kinds(&run), [PhaseKind::Up]);
    let [start, end] = span(&run.phases[0]);
    assert_eq!(start, 0.0);
    assert_near(end, 6.001_671, 1e-5);
    let load = run.phases[0].load.as_ref().unwrap();
    assert_eq!((load.flows_up, load.flows_down), (1, 0));
    // What the server received, and what the kernel used.
    assert_eq!((load.delivered_up_bytes, load.congestion_control.as_str()), (2_880_072, "bbr"));
    let goodput = directed(&run, Metric::Goodput, Direction::Up);
    assert_eq!(goodput.values.len(), 6);
    assert_near(goodput.values[0], 7_113_904.336_211_865, 1e-6);
    let rtt = of_flow(&run, Metric::FlowRtt, Direction::Up, 0);
    assert_eq!(rtt, [99_407.0, 21_405.0, 29_419.0, 40_888.0, 35_089.0, 29_431.0].map(|us| us * 1e-6));
    assert_eq!(of_flow(&run, Metric::FlowRetransmits, Direction::Up, 0).last(), Some(&630.0));
    assert_eq!(lacks(&run), [Unrecorded::Probes, Unrecorded::ReceivedRates]);
    assert_eq!(run.started, "2026-11-26T08:12:54.000Z");
    // 100 * 2,880,072 / (2,880,072 + 630 * 1,448); without an idle phase there is no baseline.
    let scores = diagnose(&run).scores;
    let of = |name: &str| scores.iter().find(|score| score.name == name).map(|s| (s.value, s.missing));
    assert_near(of("tcp_efficiency_percent").unwrap().0.unwrap(), 75.945_0, 1e-3);
    assert_eq!(of("buffer_delay_percent"), Some((None, Some(Missing::IdleLatency))));
    assert_eq!(of("aim_rtc_points"), Some((None, Some(Missing::IdleLatency))));
    assert_eq!(of("qoo_game_percent"), Some((None, Some(Missing::Probes))));
    let diagnosis = diagnose(&run);
    assert_eq!((diagnosis.health, diagnosis.reason), (Health::Inconclusive, Some(Reason::NoIdleLatency)));
}

#[test]
fn the_stream_of_iperf3_is_the_same_run() {
    assert_eq!(run("iperf3-stream.json"), run("iperf3-up.json"));
}

#[test]
fn the_rates_of_the_server_are_those_of_delivery() {
    let run = run("iperf3-up-server.json");
    assert_near(directed(&run, Metric::Goodput, Direction::Up).values[0], 3_147_624.983_283_419, 1e-6);
    assert_eq!(lacks(&run), [Unrecorded::Probes]);
}

#[test]
fn two_uploads_of_iperf3_add_up() {
    let run = run("iperf3-up2.json");
    assert_eq!(run.phases[0].load.as_ref().unwrap().flows_up, 2);
    let sum = directed(&run, Metric::Goodput, Direction::Up).values[0];
    assert_near(sum, 6_865_055.613_928_79, 1e3);
    let flows = [0, 1].map(|flow| of_flow(&run, Metric::Goodput, Direction::Up, flow)[0]);
    assert_near(flows.iter().sum(), sum, 1e3);
}

#[test]
fn a_download_and_both_directions_of_iperf3() {
    let down = run("iperf3-down.json");
    assert_eq!((kinds(&down), lacks(&down)), (vec![PhaseKind::Down], &[Unrecorded::Probes][..]));
    assert_eq!(down.phases[0].load.as_ref().unwrap().delivered_down_bytes, 7_177_736);
    let both = run("iperf3-bidir.json");
    assert_eq!(kinds(&both), [PhaseKind::Both]);
    let load = both.phases[0].load.as_ref().unwrap();
    assert_eq!((load.delivered_up_bytes, load.delivered_down_bytes), (2_296_528, 4_472_288));
}

#[test]
fn udp_of_iperf3_is_what_arrived() {
    // 6 Mbit/s were sent, and two thirds of it received.
    let sent = run("iperf3-udp.json");
    assert_eq!(sent.phases[0].load.as_ref().unwrap().delivered_up_bytes, 2_481_872);
    assert_eq!(sent.series(&SeriesKey::directed(Metric::Goodput, Direction::Up)), None);
    let received = run("iperf3-udp-server.json");
    assert!(median(directed(&received, Metric::Goodput, Direction::Up)) < 4e6);
}

#[test]
fn an_error_of_iperf3_is_told() {
    let bytes = content("iperf3-error.json");
    let error = import(detect(&bytes).unwrap(), &bytes).unwrap_err().to_string();
    assert!(error.contains("unable to connect to server: Connection timed out"), "{error}");
}

/// As the server of iperf3 sees an upload.
#[test]
fn directions_are_those_of_the_client() {
    let file = |reverse: u32, sender: bool| {
        let text = format!(
            r#"{{"start":{{"accepted_connection":{{"host":"h","port":1}},"test_start":{{"protocol":"TCP","reverse":{reverse}}}}},
            "intervals":[{{"streams":[{{"socket":5,"start":0,"end":1,"bits_per_second":1e6,"sender":{sender}}}]}}],"end":{{}}}}"#
        );
        kinds(&run_of(text.as_bytes()))
    };
    assert_eq!(file(0, false), [PhaseKind::Up]);
    assert_eq!(file(1, true), [PhaseKind::Down]);
}

const NETWORK_QUALITY: &str = r#"{"dl_flows": 8, "dl_throughput": 36143945, "ul_flows": 12, "ul_throughput": 9803552,
    "start_date": "2026-10-07 04:25:59.000", "end_date": "2026-10-07 04:26:19.000", "responsiveness": 215.5,
    "il_tcp_handshake_443": [20, 22, 19, 21, 20, 20], "il_h2_req_resp": [20.9, 24.5, 21.1],
    "lud_foreign_tcp_handshake_443": [114, 242, 230, 235], "lud_foreign_h2_req_resp": [140, 262],
    "os_version": "Version 14.5", "test_endpoint": "h"}"#;

#[test]
fn network_quality_has_delays_without_times() {
    let run = run_of(NETWORK_QUALITY.as_bytes());
    assert_eq!(kinds(&run), [PhaseKind::Idle, PhaseKind::Both]);
    // 6 and 4 probes share 20 s.
    assert_eq!(run.phases.iter().map(span).collect::<Vec<_>>(), [[0.0, 12.0], [12.0, 20.000_000_001]]);
    let connects = series(&run, Metric::TcpConnect);
    assert_eq!(
        connects.values,
        [20.0, 22.0, 19.0, 21.0, 20.0, 20.0, 114.0, 242.0, 230.0, 235.0].map(|ms| ms * 1e-3)
    );
    assert_eq!(lacks(&run), [Unrecorded::OneWayDelays, Unrecorded::SendTimes]);
    assert_eq!(run.facts[&Fact::Other("responsiveness".into())], "216 RPM");
    let diagnosis = diagnose(&run);
    assert_eq!(diagnosis.health, Health::Bloated);
    let both = diagnosis.phase(PhaseKind::Both).unwrap();
    assert_near(both.goodput_down_bits_per_second.unwrap(), 36_143_945.0, 1.0);
    // Nothing that rests on when the delays were measured.
    let timed =
        [FindingKind::FillTime, FindingKind::DrainTime, FindingKind::StartUp, FindingKind::LowerBound];
    assert!(
        diagnosis.findings.iter().all(|found| !timed.contains(&found.kind())),
        "{:?}",
        diagnosis.findings
    );
}

#[test]
fn network_quality_one_direction_after_the_other_and_its_error() {
    let text = NETWORK_QUALITY
        .replace("lud_foreign_tcp", "lud_foreign_dl_tcp")
        .replace("lud_foreign_h2", "lud_foreign_ul_h2");
    assert_eq!(kinds(&run_of(text.as_bytes())), [PhaseKind::Idle, PhaseKind::Down, PhaseKind::Up]);
    let failed =
        br#"{"error_code": -1009, "error_domain": "NSURLErrorDomain", "os_version": "Version 14.5"}"#;
    let error = import(detect(failed).unwrap(), failed).unwrap_err().to_string();
    assert!(error.contains("NSURLErrorDomain -1009"), "{error}");
}

#[test]
fn ndt7_has_both_directions_in_turn() {
    let lines = r#"{"Key":"connected","Value":{"Test":"download","Server":"ndt.example"}}
{"Key":"measurement","Value":{"AppInfo":{"ElapsedTime":1000000,"NumBytes":1000000},"Origin":"client","Test":"download"}}
{"Key":"measurement","Value":{"TCPInfo":{"ElapsedTime":500000,"RTT":63800,"TotalRetrans":7},"Origin":"server","Test":"download"}}
{"Key":"measurement","Value":{"AppInfo":{"ElapsedTime":2000000,"NumBytes":4000000},"Origin":"client","Test":"download"}}
{"Key":"measurement","Value":{"AppInfo":{"ElapsedTime":1000000,"NumBytes":9000000},"Origin":"client","Test":"upload"}}
{"Key":"measurement","Value":{"TCPInfo":{"ElapsedTime":1000000,"BytesReceived":500000,"RTT":20000},"Origin":"server","Test":"upload"}}
"#;
    let run = run_of(lines.as_bytes());
    assert_eq!(kinds(&run), [PhaseKind::Down, PhaseKind::Up]);
    assert_eq!(
        run.phases.iter().map(span).collect::<Vec<_>>(),
        [[0.0, 2.000_000_001], [2.000_000_001, 3.000_000_001]]
    );
    assert_eq!(directed(&run, Metric::Goodput, Direction::Down).values, [8e6, 24e6]);
    // What the server received, not what the client wrote.
    assert_eq!(directed(&run, Metric::Goodput, Direction::Up).values, [4e6]);
    assert_eq!(of_flow(&run, Metric::FlowRtt, Direction::Down, 0), [0.0638]);
    assert_eq!(lacks(&run), [Unrecorded::Probes]);
    assert_eq!(run.title, "ndt7-client to ndt.example");
}

#[test]
fn crusader_loads_each_direction_and_both() {
    let run = run("crusader.crr");
    let phases = [PhaseKind::Idle, PhaseKind::Down, PhaseKind::Up, PhaseKind::Both];
    assert_eq!(kinds(&run), phases);
    // By Python, with the tool's own format in MessagePack.
    let spans = [[3.735_602, 7.936_171], [9.877_047, 14.078_742], [16.137_982, 20.337_602]];
    for (phase, [start, end]) in run.phases[1..4].iter().zip(spans) {
        assert_near(span(phase)[0], start, 1e-6);
        assert_near(span(phase)[1], end, 1e-6);
    }
    let loads: Vec<_> = run.phases.iter().filter_map(|phase| phase.load.as_ref()).collect();
    let bytes: Vec<_> =
        loads.iter().map(|load| (load.delivered_up_bytes, load.delivered_down_bytes)).collect();
    assert!(
        bytes
            .iter()
            .zip([(0, 4_811_704), (1_701_400, 0), (1_584_984, 4_135_096)])
            .all(|(got, want)| { got.0.abs_diff(want.0) <= 100 && got.1.abs_diff(want.1) <= 100 }),
        "{bytes:?}"
    );
    let rtt = series(&run, Metric::UdpRtt);
    assert_eq!((rtt.values.len(), rtt.censored.len()), (415, 1));
    assert_near(median(rtt), 0.025_610_054, 1e-9);
    // The one lost probe did not arrive at the server.
    let counts = Direction::BOTH.map(|direction| directed(&run, Metric::OneWayDelay, direction).values.len());
    assert_eq!(counts, [415, 414]);
    assert_eq!(run.facts[&Fact::ProbeInterval], "50ms");
    assert_eq!(diagnose(&run).health, Health::Bloated);
    let idle = crate::samples::run("crusader-idle.crr");
    assert_eq!((kinds(&idle), lacks(&idle)), (vec![PhaseKind::Watch], &[Unrecorded::Load][..]));
    assert_eq!(series(&idle, Metric::UdpRtt).values.len(), 41);
}

#[test]
fn tables_of_goresponsiveness_are_one_run() {
    // Its own server, through a line of 100 and 10 Mbit/s; numbers by Python.
    let run = run("goresponsiveness.csv.gz");
    assert_eq!(kinds(&run), [PhaseKind::Down, PhaseKind::Up]);
    let [[start, down], [up, end]] = [span(&run.phases[0]), span(&run.phases[1])];
    assert_eq!(start, 0.0);
    [(down, 39.013), (up, 39.013), (end, 54.018)].into_iter().for_each(|(got, s)| assert_near(got, s, 1e-3));
    let load = run.phases[1].load.as_ref().unwrap();
    assert_eq!((load.flows_up, load.flows_down), (4, 0));
    assert_near(load.delivered_up_bytes as f64, 17_934_266.0, 20_000.0);
    assert_near(of_flow(&run, Metric::Goodput, Direction::Down, 0)[0], 82_836_682.507, 1.0);
    let probes = series(&run, Metric::HttpForeign);
    assert_eq!((probes.values.len(), lacks(&run).len()), (236, 2));
    assert_near(median(probes), 0.244_647_602, 1e-9);
    assert_near(probes.at_ns[0] as f64 / 1e9, 16.053, 1e-3);
    let diagnosis = diagnose(&run);
    assert_eq!((diagnosis.health, diagnosis.reason), (Health::Inconclusive, Some(Reason::NoIdleLatency)));
}

#[test]
fn one_table_of_goresponsiveness_and_a_damaged_one() {
    let whole = String::from_utf8(content("goresponsiveness.csv.gz")).unwrap();
    let foreign: String = whole.lines().take(237).map(|line| format!("{line}\n")).collect();
    assert_eq!(kinds(&run_of(foreign.as_bytes())), [PhaseKind::Watch]);
    let refused =
        |text: &str| import(detect(text.as_bytes()).unwrap(), text.as_bytes()).unwrap_err().to_string();
    assert!(refused(&format!("{foreign}11-26-2026-11-28-44.093, 3\n")).contains("is truncated"));
    assert!(refused(&foreign.replace("11-26-2026", "13-26-2026")).contains("invalid time"));
    assert!(refused(&foreign.replace("0.290618104", "-1")).contains("invalid value \"-1\""));
    assert!(refused(whole.lines().next().unwrap()).contains("cat log-*.csv"));
}

#[test]
fn cloudflare_has_the_latency_of_its_largest_transfers() {
    // Of version 1.14.1 in Chromium, through a line of 100 and 10 Mbit/s; numbers by Python.
    let run = run("cloudflare-raw.json.gz");
    assert_eq!(kinds(&run), [PhaseKind::Idle, PhaseKind::Down, PhaseKind::Up]);
    let [idle, down, up] = [0, 1, 2].map(|phase| span(&run.phases[phase]));
    assert_near(idle[1], 7.890_2, 1e-4);
    assert_near(down[1], 13.227_4, 1e-4);
    assert_near(up[1], 47.382_4, 1e-4);
    let rates = directed(&run, Metric::Goodput, Direction::Up);
    assert_eq!(
        (rates.values.len(), run.phases[2].load.as_ref().unwrap().delivered_up_bytes),
        (4, 40_000_000)
    );
    assert_near(rates.values[0], 9_525_283.7, 1.0);
    let pings = series(&run, Metric::HttpKept);
    assert_eq!(pings.values.len(), 21 + 12 + 50);
    let during = |phase: usize| {
        let mut part = fathom_run::Series::new(SeriesKey::of(Metric::HttpKept));
        pings.within(&run.phases[phase]).for_each(|one| part.push(one));
        part
    };
    // The tool says 20.1 ms, and 279.95 ms of the last 20 of these.
    assert_near(median(&during(0)), 0.020_1, 1e-6);
    assert_near(median(&during(2)), 0.279_95, 0.002);
    assert_eq!(
        (run.started.as_str(), lacks(&run)),
        ("2026-11-26T11:29:36.633Z", &[Unrecorded::OneWayDelays][..])
    );
    let diagnosis = diagnose(&run);
    assert_eq!(diagnosis.health, Health::Bloated);
    // Points and classes of the tool itself.
    let aim = diagnosis.scores.iter().filter(|score| score.phase.is_none());
    let aim: Vec<_> = aim.map(|score| (score.value, score.class)).collect();
    assert_eq!(aim, [(15.0, "poor"), (0.0, "bad"), (5.0, "poor")].map(|(v, c)| (Some(v), Some(c))));
    let summary = content("cloudflare-summary.json");
    let error = import(detect(&summary).unwrap(), &summary).unwrap_err().to_string();
    assert!(error.contains("engine.results.raw"), "{error}");
}
