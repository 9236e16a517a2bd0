//! Statistics of each kind of probe.
use fathom_diagnose::{ProbeStatistics, diagnose};
use fathom_run::{Metric, Observation, PhaseKind, Run, Series, SeriesKey, Value};
use fathom_units::{Direction, Time};

const MS: u64 = 1_000_000;

fn series(key: SeriesKey, delays_ms: &[Option<f64>]) -> Series {
    let mut series = Series::new(key);
    for (n, delay) in delays_ms.iter().enumerate() {
        let value = delay.map_or(Value::Censored { at_least: 9.0 }, |ms| Value::Observed(ms / 1e3));
        series.push(Observation { at: Time::from_nanos(n as u64 * 100 * MS), value });
    }
    series
}

fn of(run: &Run, metric: Metric) -> ProbeStatistics {
    diagnose(run).probes.into_iter().find(|probes| probes.metric == metric).expect("a probe of this metric")
}

#[test]
fn each_kind_has_its_losses_jitter_and_order() {
    let mut run = crate::line::BLOATED.run();
    run.series.clear();
    run.phases.retain(|phase| phase.kind == PhaseKind::Idle);
    (run.phases[0].start_ns, run.phases[0].end_ns) = (0, 600 * MS);
    // Differences of 2, 4 and, across the loss, none; then 3. The seventh is in no phase.
    let delays = [Some(10.0), Some(12.0), Some(8.0), None, Some(20.0), Some(23.0), Some(500.0)];
    let mut round_trips = series(SeriesKey::of(Metric::UdpRtt), &delays);
    (round_trips.duplicates, round_trips.reordered) = (2, 1);
    run.series.push(series(SeriesKey::directed(Metric::OneWayDelay, Direction::Up), &delays[..2]));
    run.series.push(round_trips);
    run.series.push(series(SeriesKey::of(Metric::DnsRtt), &[Some(30.0)]));
    // Those of a hop, of a flow, and one that was never sent, are not in the table.
    run.series
        .push(series(SeriesKey { scope: Some("1".into()), ..SeriesKey::of(Metric::TlsConnect) }, &delays));
    run.series.push(series(SeriesKey { flow: Some(1), ..SeriesKey::of(Metric::TcpConnect) }, &delays));
    run.series.push(Series::new(SeriesKey::of(Metric::HttpForeign)));

    let order: Vec<Metric> = diagnose(&run).probes.iter().map(|probes| probes.metric).collect();
    assert_eq!(order, [Metric::UdpRtt, Metric::DnsRtt, Metric::OneWayDelay]);
    let udp = of(&run, Metric::UdpRtt);
    let [idle] = &udp.phases[..] else { panic!("{udp:?}") };
    assert_eq!((udp.duplicates, udp.reordered, idle.sent), (2, 1, 6));
    assert_eq!(idle.loss_ratio, Some(1.0 / 6.0));
    assert!((idle.jitter_s.expect("four differences") - 0.003).abs() < 1e-9, "{:?}", idle.jitter_s);
    assert_eq!(idle.delay.map(|delay| delay.max.value), Some(0.023));
    let up = of(&run, Metric::OneWayDelay);
    let variation = (up.phases[0].jitter_s, up.phases[0].delay_variation_s);
    let near = |value: Option<f64>, expected: f64| value.is_some_and(|v| (v - expected).abs() < 1e-9);
    assert!(near(variation.0, 0.000_125) && near(variation.1, 0.002), "{variation:?}");
    let dns = of(&run, Metric::DnsRtt);
    assert_eq!((dns.phases[0].jitter_s, dns.phases[0].sent), (None, 1));
}

#[test]
fn each_class_has_the_goodput_of_its_flows_and_the_latency_of_its_probes() {
    let mut run = crate::line::BLOATED.run();
    assert!(diagnose(&run).classes.is_empty());
    let (start, end) = run.phase(PhaseKind::Both).map(|both| (both.start_ns, both.end_ns)).expect("a phase");
    let at = |share: u64| Time::from_nanos(start + (end - start) / 4 * share);
    let mut push = |key, values: [f64; 2]| {
        let mut one = Series::new(key);
        for (share, value) in [1, 2].into_iter().zip(values) {
            one.push(Observation { at: at(share), value: Value::Observed(value) });
        }
        run.series.push(one);
    };
    for (flow, direction) in [(1, Direction::Up), (2, Direction::Down)] {
        let scope = Some("EF".into());
        let key = SeriesKey { flow: Some(flow), scope, ..SeriesKey::directed(Metric::Goodput, direction) };
        push(key, [f64::from(flow) * 1e6, f64::from(flow) * 3e6]);
    }
    push(SeriesKey::of(Metric::UdpExpeditedRtt), [0.010, 0.030]);
    let [class] = &diagnose(&run).classes[..] else { panic!("one class") };
    assert_eq!(
        (class.name.as_str(), class.goodput_up_bits_per_second, class.goodput_down_bits_per_second),
        ("EF", Some(2e6), Some(4e6))
    );
    assert_eq!(class.latency.map(|latency| (latency.p50.value, latency.p90.value)), Some((0.010, 0.030)));
}
