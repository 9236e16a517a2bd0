//! Measures compared with values computed by hand.
use fathom_run::{Measure, Metric, Observation, Phase, PhaseEnd, PhaseKind, Run, Series, SeriesKey, Value};
use fathom_units::{Direction, Time};

fn series(key: SeriesKey, values: &[(u64, f64)]) -> Series {
    let mut series = Series::new(key);
    for (second, value) in values {
        let value = if *value < 0.0 { Value::Censored { at_least: -value } } else { Value::Observed(*value) };
        series.push(Observation { at: Time::from_nanos(second * 1_000_000_000), value });
    }
    series
}

/// Idle until 10 s, then upload. Negative values stand for censored ones.
pub(crate) fn run() -> Run {
    let phase = |kind, start: u64, end: u64| Phase {
        kind,
        start_ns: start * 1_000_000_000,
        end_ns: end * 1_000_000_000,
        end: PhaseEnd::TimeLimit,
        load: None,
    };
    let goodput = |flow| SeriesKey { flow, ..SeriesKey::directed(Metric::Goodput, Direction::Up) };
    let drops = |hop: &str| SeriesKey {
        scope: Some(hop.into()),
        ..SeriesKey::directed(Metric::QueueDrops, Direction::Up)
    };
    Run {
        schema_version: fathom_run::SCHEMA_VERSION,
        tool_version: String::new(),
        command: "sim".into(),
        started: String::new(),
        title: String::new(),
        host: fathom_run::Host::default(),
        facts: [].into(),
        phases: vec![phase(PhaseKind::Idle, 0, 10), phase(PhaseKind::Up, 10, 20)],
        series: vec![
            series(
                SeriesKey::of(Metric::UdpRtt),
                &[(1, 0.02), (2, 0.03), (3, 0.01), (11, 0.5), (12, 1.1), (13, -2.0), (14, 0.9)],
            ),
            series(drops("router"), &[(2, 1.0), (11, 3.0)]),
            series(drops("modem"), &[(12, 9.0)]),
            series(goodput(None), &[(11, 3e6), (12, 5e6)]),
            series(goodput(Some(0)), &[(11, 1e6), (12, 1e6)]),
            series(goodput(Some(1)), &[(11, 2e6), (12, 4e6)]),
        ],
        instrument: fathom_run::Instrument::default(),
        partial: None,
        capture: None,
        path: None,
        history: None,
        bursts: Vec::new(),
        switch: None,
        host_traffic: Vec::new(),
        notes: vec![],
    }
}

#[test]
fn numbers() {
    let table = [
        ("udp_rtt_s min", Some(0.01)),
        ("udp_rtt_s p50 while idle", Some(0.02)),
        ("udp_rtt_s max while up", Some(1.1)),
        ("udp_rtt_s p99 while up", Some(2.0)),
        ("udp_rtt_s lost while up", Some(0.25)),
        ("udp_rtt_s count", Some(7.0)),
        ("udp_rtt_s first from 11s", Some(0.5)),
        ("udp_rtt_s last from 1s to 3s", Some(0.03)),
        ("udp_rtt_s reaches 1", Some(12.0)),
        ("udp_rtt_s reaches 1 while up", Some(2.0)),
        ("udp_rtt_s reaches 9", None),
        ("udp_rtt_s max while down", None),
        ("goodput_bits_per_second up mean", Some(4e6)),
        ("goodput_bits_per_second down mean", None),
        ("goodput_bits_per_second up flow 1 sum", Some(6e6)),
        ("goodput_bits_per_second up flow 0..1 mean", Some(2e6)),
        ("goodput_bits_per_second up flow 0..1 jain", Some(0.8)),
        ("goodput_bits_per_second up flow 1..9 jain", Some(1.0)),
        ("goodput_bits_per_second up flow 2..9 sum", None),
        ("queue_drops_packets last", Some(12.0)),
        ("queue_drops_packets last from 12s", Some(9.0)),
        // The router's counter grew from 1 to 3, the modem's from 0 to 9.
        ("queue_drops_packets grown", Some(12.0)),
        ("queue_drops_packets grown from 5s", Some(11.0)),
        ("queue_drops_packets grown from 5s to 12s", Some(2.0)),
        ("queue_drops_packets grown from 13s", Some(0.0)),
        ("queue_drops_packets down grown", None),
        ("queue_drops_packets scope modem last", Some(9.0)),
        // Means 1 and 3: 16 / (2 * 10).
        ("goodput_bits_per_second up jain", Some(0.8)),
    ];
    let run = run();
    for (text, expected) in table {
        let measure: Measure = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(measure.of(&run), expected, "{text}");
        assert_eq!(measure.to_string().parse(), Ok(measure), "{text}");
    }
}

#[test]
fn errors_name_the_word() {
    let table = [
        ("", "the measure is incomplete (expected a metric of docs/metrics.md, such as udp_rtt_s)"),
        ("ping max", "invalid word \"ping\" in a measure (expected a metric"),
        ("udp_rtt_s", "the measure is incomplete (expected min, mean, a percentile"),
        ("udp_rtt_s p100", "invalid word \"p100\" in a measure (expected min, mean"),
        ("udp_rtt_s max during up", "invalid word \"during\" in a measure (expected \"while\""),
        ("udp_rtt_s max while busy", "invalid word \"busy\" in a measure (expected idle, down"),
        ("udp_rtt_s max from 10", "invalid word \"10\" in a measure (expected a time such as 10s)"),
        ("udp_rtt_s flow 3..1 max", "invalid word \"3..1\" in a measure (expected the number of a flow"),
        ("udp_rtt_s max while up now", "invalid word \"now\" in a measure (expected nothing more)"),
    ];
    for (text, start) in table {
        let error = text.parse::<Measure>().expect_err(text).to_string();
        assert!(error.starts_with(start), "{text}: {error}");
    }
}
