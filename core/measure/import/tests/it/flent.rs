//! Data files of Flent.
use crate::samples::{assert_near, directed, kinds, lacks, median, run, run_of, series, span};
use fathom_diagnose::{Health, diagnose};
use fathom_run::{Fact, Metric, PhaseKind, SeriesKey, Unrecorded};
use fathom_units::Direction;

#[test]
fn a_test_of_both_directions() {
    let run = run("rrul_be.flent.gz");
    assert_eq!(kinds(&run), [PhaseKind::Idle, PhaseKind::Both]);
    // By Python: the later direction began at 5.050 s, and ended at 15.146 s.
    let [start, end] = span(&run.phases[1]);
    assert_near(start, 5.050, 0.001);
    assert_near(end, 15.146, 0.001);
    let icmp = series(&run, Metric::IcmpRtt);
    assert_eq!((icmp.values.len(), icmp.censored.len()), (100, 0));
    assert_near(median(icmp), 0.054_35, 1e-9);
    let udp = series(&run, Metric::UdpRtt);
    assert_eq!((udp.values.len(), udp.censored.len()), (98, 0));
    assert_near(median(udp), 0.056_526_600_5, 1e-9);
    let second = SeriesKey { scope: Some("UDP BE2".into()), ..SeriesKey::of(Metric::UdpRtt) };
    assert_eq!(run.series(&second).unwrap().censored.len(), 1);
    let load = run.phases[1].load.as_ref().unwrap();
    assert_eq!((load.flows_up, load.flows_down), (4, 4));
    // By Python: 5,211,580 and 11,492,871 bytes within 10.146 and 10.096 s.
    assert_near(load.delivered_up_bytes as f64, 5_211_580.0 * 10.096 / 10.146, 3_000.0);
    assert_near(load.delivered_down_bytes as f64, 11_492_871.0, 3_000.0);
    let diagnosis = diagnose(&run);
    assert_eq!(diagnosis.health, Health::Bloated);
    // The line delivered 4 and 10 Mbit/s with headers.
    let both = diagnosis.phase(PhaseKind::Both).unwrap();
    assert_near(both.goodput_up_bits_per_second.unwrap(), 3.8e6, 0.1e6);
    assert_near(both.goodput_down_bits_per_second.unwrap(), 9.4e6, 0.1e6);
    assert_eq!(lacks(&run), [Unrecorded::ReceivedRates]);
    assert_eq!(run.facts[&Fact::Tool], "flent 2.3.0");
    assert_eq!(run.title, "flent rrul_be to 10.9.0.2: sample");
    assert_eq!(run.started, "2026-11-26T08:17:45.204Z");
}

#[test]
fn a_load_whose_flows_start_late_is_one_phase() {
    // The uploads' connections waited in the queue: their first reports began up to 1.2 s later.
    assert_eq!(kinds(&run("rrul.flent.gz")), [PhaseKind::Idle, PhaseKind::Both]);
}

#[test]
fn tests_of_one_direction_and_of_none() {
    for (name, flows) in [("tcp_upload.flent.gz", 1), ("tcp_nup.flent.gz", 2)] {
        let run = run(name);
        assert_eq!(kinds(&run), [PhaseKind::Idle, PhaseKind::Up], "{name}");
        assert_eq!(run.phases[1].load.as_ref().unwrap().flows_up, flows);
        assert_eq!(lacks(&run), [Unrecorded::OneWayDelays, Unrecorded::ReceivedRates]);
    }
    let ping = run("ping.flent.gz");
    assert_eq!((kinds(&ping), lacks(&ping)), (vec![PhaseKind::Watch], &[Unrecorded::Load][..]));
    assert_near(median(series(&ping, Metric::IcmpRtt)), 0.000_047_5, 1e-9);
}

/// A file with a ping and an upload, whose parts a version has in its own places.
fn file(version: &str, metadata: &str, raw: &str) -> String {
    format!(
        r#"{{{version}"metadata":{{"NAME":"tcp_upload","HOST":"h"{metadata}}},"x_values":[0,1,2],
        "results":{{"Ping (ms) ICMP":[10,null,12],"TCP upload":[null,2,4],"TCP upload avg":[1,2,3]}}{raw}}}"#
    )
}

#[test]
fn old_versions_have_their_values_in_other_places() {
    let first = run_of(file("", r#","NETPERF_WRAPPER_VERSION":"0.4""#, "").as_bytes());
    assert_eq!(series(&first, Metric::IcmpRtt).values, [0.01, 0.012]);
    assert_eq!(first.facts[&Fact::Tool], "flent 0.4");
    assert!(lacks(&first).contains(&Unrecorded::SingleRoundTrips));
    assert_eq!(directed(&first, Metric::Goodput, Direction::Up).values, [4e6]);
    let in_metadata = r#","SERIES_META":{"Ping (ms) ICMP":{"RAW_VALUES":[{"t":100.5,"val":20}]}}"#;
    let moved = run_of(file("", in_metadata, "").as_bytes());
    assert_eq!(series(&moved, Metric::IcmpRtt).values, [0.02]);
    assert_eq!(moved.started, "1970-01-01T00:01:40.480Z");
    // Version 3 has transactions per second of netperf.
    let rates = r#","raw_values":{"Ping (ms) UDP":[{"t":100.5,"dur":0.2,"val":50}]}"#;
    for (version, rtt_s) in [(r#""version":3,"#, 0.02), (r#""version":4,"#, 0.05)] {
        let run = run_of(file(version, "", rates).as_bytes());
        assert_eq!(series(&run, Metric::UdpRtt).values, [rtt_s]);
        assert!(lacks(&run).contains(&Unrecorded::SingleRoundTrips));
    }
}

#[test]
fn a_lost_probe_leaves_a_gap() {
    let raw =
        r#","raw_values":{"Ping (ms) ICMP":[{"seq":1,"t":100.01,"val":10},{"seq":4,"t":100.31,"val":10}]}"#;
    let run = run_of(file(r#""version":4,"#, "", raw).as_bytes());
    let rtt = series(&run, Metric::IcmpRtt);
    assert_eq!((rtt.values.len(), rtt.censored.as_slice()), (4, &[1, 2][..]));
    assert_eq!(rtt.at_ns.iter().map(|at| (at + 500_000) / 1_000_000).collect::<Vec<_>>(), [0, 100, 200, 300]);
}

#[test]
fn a_newer_version_is_refused() {
    let bytes = file(r#""version":5,"#, "", "");
    let format = fathom_import::detect(bytes.as_bytes()).unwrap();
    let error = fathom_import::import(format, bytes.as_bytes()).unwrap_err().to_string();
    assert!(error.contains('5') && error.contains('4'), "{error}");
}
