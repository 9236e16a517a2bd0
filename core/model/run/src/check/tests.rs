use super::*;
use crate::SeriesKey;
use alloc::vec;

/// The expected error, and the change that causes it.
type Damage = (&'static str, fn(&mut Run));

/// A run of one phase and one series of three observations, the second of them censored.
fn run() -> Run {
    let json = r#"{"schema_version":2,"tool_version":"0","command":"test","started":"2026-11-20T14:10:00Z","title":"t",
        "host":{"kernel":"Linux","cpus":2},"phases":[{"kind":"idle","start_ns":0,"end_ns":10,"end":"settled"}],
        "series":[{"metric":"udp_rtt_s","at_ns":[1,2,2],"values":[0.1,3.0,0.2],"censored":[1]}],
        "instrument":{"timer_lateness":{"bins":{},"max_ns":0},"send_lateness":{"bins":{},"max_ns":0}}}"#;
    Run::from_json(json.as_bytes()).unwrap()
}

fn problem_after(change: impl FnOnce(&mut Run)) -> String {
    let mut damaged = run();
    change(&mut damaged);
    damaged.check().unwrap_err().to_string()
}

#[test]
fn each_broken_rule_is_named() {
    let cases: [Damage; 11] = [
        ("2 times, but 3 values", |r| r.series[0].at_ns.truncate(2)),
        ("time 2 ns comes after 7 ns", |r| r.series[0].at_ns = vec![1, 7, 2]),
        ("value NaN is out of range", |r| r.series[0].values[2] = f64::NAN),
        ("value inf is out of range", |r| r.series[0].values[1] = f64::INFINITY),
        ("value -1 is out of range", |r| r.series[0].values[0] = -1.0),
        ("value 1000000000000000000000 is out of range", |r| r.series[0].values[0] = 1e21),
        ("exceeds the limit", |r| r.series[0].at_ns[2] = u64::MAX),
        ("censored index 3 is out of order or beyond 3 values", |r| r.series[0].censored = vec![3]),
        ("censored index 1 is out of order", |r| r.series[0].censored = vec![1, 1]),
        ("phase 1: it starts at 11 ns, after its end at 10 ns", |r| r.phases[0].start_ns = 11),
        ("phase 2: it starts at 5 ns, before the previous phase ends at 10 ns", |r| {
            let second = Phase { start_ns: 5, ..r.phases[0].clone() };
            r.phases.push(second);
        }),
    ];
    for (want, change) in cases {
        let problem = problem_after(change);
        assert!(problem.contains(want), "{problem:?} does not say {want:?}");
    }
}

#[test]
fn a_one_way_delay_may_be_negative() {
    let mut run = run();
    run.series[0].key = SeriesKey::of(Metric::OneWayDelay);
    run.series[0].values[0] = -0.001;
    assert_eq!(run.check(), Ok(()));
}

#[test]
fn invalid_bytes_are_rejected() {
    let good = serde_json::to_string(&run()).unwrap();
    let cut = &good[..good.len() / 2];
    let newer = good.replace("\"schema_version\":2", "\"schema_version\":3");
    // A bin beyond the last would shift by more than 63 bits.
    let bins = good.replacen("\"bins\":{}", "\"bins\":{\"99999999\":1}", 1);
    let counts = good.replacen("\"bins\":{}", "\"bins\":{\"1\":18446744073709551615,\"2\":1}", 1);
    let cases = [
        ("", "truncated"),
        (cut, "truncated"),
        ("hello", "is not a run file"),
        ("{}", "missing field `schema_version`"),
        (&newer, "has schema_version 3; this program reads 1 to 2"),
        (&good.replace("0.2", "1e999"), "number out of range"),
        (&good.replace("udp_rtt_s", "ping"), "unknown variant `ping`"),
        (&bins, "histogram bin out of range"),
        (&counts, "histogram counts exceed 2^48"),
    ];
    for (text, want) in cases {
        let error = Run::from_json(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(want), "{error:?} does not say {want:?}");
    }
    assert!(
        Run::from_json("[".repeat(100_000).as_bytes()).is_err(),
        "deep nesting does not exhaust the stack"
    );
}
