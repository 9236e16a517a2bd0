//! `ping`, `fping`, `mtr` and `irtt`: probes without a load.
use crate::samples::{assert_near, directed, kinds, lacks, median, run, run_of, series};
use fathom_diagnose::{Health, diagnose};
use fathom_import::{detect, import};
use fathom_run::{Fact, Metric, PhaseKind, Reason, SeriesKey, Unrecorded, Value};
use fathom_units::Direction;

#[test]
fn ping_with_times() {
    let run = run("ping-linux-d.txt");
    let rtt = series(&run, Metric::IcmpRtt);
    // 45 replies; median and maximum by Python.
    assert_eq!((rtt.values.len(), rtt.censored.len()), (45, 0));
    assert_near(median(rtt), 0.0171, 1e-9);
    assert_near(rtt.values.iter().copied().fold(0.0, f64::max), 0.0998, 1e-9);
    // The first reply came at 1795681022.021246 after 0.024 ms, the last at ...031.057279.
    assert_eq!((run.started.as_str(), rtt.at_ns[0]), ("2026-11-26T08:17:02.021Z", 0));
    assert_near(rtt.at_ns[44] as f64 / 1e9, 9.036_033, 1e-5);
    assert_eq!(kinds(&run), [PhaseKind::Watch]);
    assert_eq!(lacks(&run), [Unrecorded::Load]);
    assert_eq!(run.facts[&Fact::Tool], "ping");
    assert_eq!(run.title, "ping to 10.9.0.2");
    assert_eq!(diagnose(&run).health, Health::Healthy);
}

#[test]
fn ping_without_times_has_the_interval_of_its_summary() {
    let linux = run("ping-linux.txt");
    let rtt = series(&linux, Metric::IcmpRtt);
    assert_near(median(rtt), 0.000_051, 1e-9);
    // 3,903 ms for 20 probes.
    assert_near(rtt.at_ns[19] as f64 / 1e9, 3.903, 1e-6);
    assert_eq!(lacks(&linux), [Unrecorded::Load, Unrecorded::SendTimes]);
    assert_eq!(linux.started, "");
    let busybox = run("ping-busybox.txt");
    assert_near(median(series(&busybox, Metric::IcmpRtt)), 0.000_061, 1e-9);
    // BusyBox does not say how long it took.
    assert_eq!(busybox.facts[&Fact::ProbeInterval], "1s (assumed)");
    assert_eq!(series(&busybox, Metric::IcmpRtt).at_ns[7], 7_000_000_000);
}

#[test]
fn a_target_that_never_answers_has_lost_probes_only() {
    let run = run("ping-unreachable.txt");
    let rtt = series(&run, Metric::IcmpRtt);
    assert_eq!((rtt.values.len(), rtt.censored.len()), (3, 3));
    let diagnosis = diagnose(&run);
    assert_eq!((diagnosis.health, diagnosis.reason), (Health::Inconclusive, Some(Reason::NoAnswers)));
}

/// Probes as (sequence number, answered).
fn outcomes(text: &str) -> Vec<bool> {
    let run = run_of(text.as_bytes());
    series(&run, Metric::IcmpRtt).iter().map(|o| o.value.observed().is_some()).collect()
}

#[test]
fn gaps_timeouts_duplicates_and_wrapped_numbers() {
    let mac = "PING a (192.0.2.1): 56 data bytes\n\
        64 bytes from 192.0.2.1: icmp_seq=0 ttl=57 time=11.402 ms\n\
        Request timeout for icmp_seq 1\n\
        64 bytes from 192.0.2.1: icmp_seq=2 ttl=57 time=12.5 ms\n\
        --- a ping statistics ---\n\
        5 packets transmitted, 2 packets received, 60.0% packet loss\n";
    assert_eq!(outcomes(mac), [true, false, true, false, false]);
    let linux = "[100.5] 64 bytes from h: icmp_seq=65534 ttl=1 time=1 ms\n\
        [101.5] 64 bytes from h: icmp_seq=65535 ttl=1 time=1 ms\n\
        [101.6] 64 bytes from h: icmp_seq=65535 ttl=1 time=99 ms (DUP!)\n\
        [103.5] 64 bytes from h: icmp_seq=1 ttl=1 time=1 ms\n\
        [103.6] 64 bytes from h: icmp_seq=0 ttl=1 time=1100 ms\n\
        no answer yet for icmp_seq=2\n";
    let run = run_of(linux.as_bytes());
    let rtt = series(&run, Metric::IcmpRtt);
    assert_eq!((rtt.values.len(), rtt.duplicates, rtt.reordered), (5, 1, 1));
    assert_eq!(rtt.censored, [4]);
    // Sent at 100.499 s, 101.499, 102.5, 103.499, and a mean interval later.
    assert_eq!(
        rtt.at_ns.iter().map(|at| at / 1_000_000).collect::<Vec<_>>(),
        [0, 1_000, 2_001, 3_000, 4_000]
    );
}

#[test]
fn fping_of_two_targets() {
    let run = run("fping-D.txt");
    let rtt = series(&run, Metric::IcmpRtt);
    assert_eq!(rtt.values.len(), 10);
    assert_near(median(rtt), 0.000_045, 1e-9);
    assert_near(rtt.at_ns[9] as f64 / 1e9, 1.800_22, 1e-4);
    let other = SeriesKey { scope: Some("10.9.0.1".into()), ..SeriesKey::of(Metric::IcmpRtt) };
    assert_eq!(run.series(&other).unwrap().values.len(), 10);
    assert_eq!(run.title, "fping to 10.9.0.2");
}

#[test]
fn fping_in_its_other_forms() {
    for name in ["fping-c.txt", "fping-C-summary.txt"] {
        let run = run(name);
        assert_eq!(series(&run, Metric::IcmpRtt).values.len(), 10, "{name}");
        assert_eq!(lacks(&run), [Unrecorded::Load, Unrecorded::SendTimes]);
    }
    assert_eq!(
        outcomes("h : [0], 64 bytes, 0.5 ms (0.5 avg, 0% loss)\nh : [1], timed out (0.5 avg, 50% loss)\n"),
        [true, false]
    );
    assert_eq!(outcomes("h : 0.12 - 0.10\n"), [true, false, true]);
    // Documented for fping 5.5.
    let json = "{\"resp\": {\"host\": \"h\", \"seq\": 0, \"size\": 64, \"rtt\": 5.12}}\n\
        {\"timeout\": {\"host\": \"h\", \"seq\": 1}}\n\
        {\"summary\": {\"host\": \"h\", \"xmt\": 2, \"rcv\": 1, \"loss\": 50}}\n";
    assert_eq!(outcomes(json), [true, false]);
    assert_eq!(outcomes("{\"vSum\": {\"host\": \"h\", \"values\": [0.054, null]}}"), [true, false]);
}

#[test]
fn mtr_has_single_round_trips_in_its_raw_output_only() {
    let run = run("mtr-raw.txt");
    // The probe to the second hop reached the target too.
    assert_eq!(run.series.len(), 1);
    assert_eq!(series(&run, Metric::IcmpRtt).values, [68e-6, 31e-6, 54e-6, 70e-6, 75e-6]);
    let path = b"x 0 1\nx 1 2\nx 2 3\nh 0 192.0.2.1\np 0 900 1\nh 2 192.0.2.9\np 2 5000 3\nx 0 4\nx 1 5\nx 2 6\np 2 6000 6\n";
    let two = run_of(path);
    let first = SeriesKey { scope: Some("1".into()), ..SeriesKey::of(Metric::HopRtt) };
    let values: Vec<Value> = two.series(&first).unwrap().iter().map(|o| o.value).collect();
    assert_eq!(values, [Value::Observed(0.0009), Value::Censored { at_least: 1.0 }]);
    assert_eq!(series(&two, Metric::IcmpRtt).values, [0.005, 0.006]);
    let report = crate::samples::content("mtr-report.json");
    let error = import(detect(&report).unwrap(), &report).unwrap_err();
    assert!(error.to_string().contains("--raw"), "{error}");
}

#[test]
fn irtt_has_one_way_delays() {
    let run = run("irtt-load.json.gz");
    let rtt = series(&run, Metric::UdpRtt);
    // By Python: 447 answered, median 18.141128 ms, maximum 101.929677 ms, over 8.979072643 s.
    assert_eq!((rtt.values.len(), rtt.censored.len()), (447, 0));
    assert_near(median(rtt), 0.018_141_128, 1e-9);
    assert_near(rtt.at_ns[446] as f64 / 1e9, 8.979_072_643, 1e-9);
    // The upload was loaded: its delay is nearly that of the round trip.
    let largest =
        |direction| directed(&run, Metric::OneWayDelay, direction).values.iter().copied().fold(0.0, f64::max);
    assert!(
        largest(Direction::Up) > 0.095 && largest(Direction::Down) < 0.03,
        "{}",
        largest(Direction::Down)
    );
    assert_eq!(run.facts[&Fact::Tool], "irtt 0.9.0");
    assert_eq!(lacks(&run), [Unrecorded::Load]);
    assert_eq!(run.started, "2026-11-26T08:16:44.845Z");
}

#[test]
fn irtt_names_the_direction_of_a_loss() {
    let trip = |send: u64, lost: &str, rest: &str| {
        format!(
            r#"{{"lost":"{lost}","timestamps":{{"client":{{"send":{{"wall":5,"monotonic":{send}}}}}}},"delay":{{{rest}}}}}"#
        )
    };
    let stamped = r#"{"lost":"false","timestamps":{"client":{"send":{"wall":1,"monotonic":1000},
        "receive":{"wall":2,"monotonic":9000}},"server":{"receive":{"monotonic":77000},"send":{"monotonic":78000}}},
        "delay":{"rtt":7000}}"#;
    let trips = [stamped.to_string(), trip(2_000, "true_up", ""), trip(3_000, "true_down", "")];
    let file =
        format!(r#"{{"config":{{"params":{{"interval":1000}}}},"round_trips":[{}]}}"#, trips.join(","));
    let run = run_of(file.as_bytes());
    let censored = |direction| directed(&run, Metric::OneWayDelay, direction).censored.clone();
    assert_eq!((censored(Direction::Up), censored(Direction::Down)), (vec![1], vec![1]));
    assert_eq!(series(&run, Metric::UdpRtt).censored, [1, 2]);
}
