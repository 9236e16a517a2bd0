//! The hops of a path, as tables and charts.
use crate::golden::{ASCII, UNICODE, golden};
use crate::line::BLOATED;
use fathom_diagnose::diagnose;
use fathom_report::{Detail, PathHop, PathView, Style, html, path_screen};
use fathom_run::{
    AutonomousSystem, Hop, Metric, Observation, Path, PhaseKind, Run, Series, SeriesKey, Value,
};
use fathom_units::{Direction, Duration, Time};

fn key(metric: Metric, hop: u8) -> SeriesKey {
    SeriesKey { scope: Some(hop.to_string()), ..SeriesKey::of(metric) }
}

fn hop((number, address): (u8, &str)) -> Hop {
    Hop {
        number,
        address: address.into(),
        flow_address: None,
        other_address: None,
        name: None,
        autonomous_system: None,
        return_hops: None,
    }
}

/// Four hops: a router before the queue, one that also takes up to 90 ms to reply itself, one that
/// answers no echo and only every third request that expires there, and the server.
fn run() -> Run {
    let mut run = BLOATED.run();
    let of_server: Vec<Observation> =
        run.series(&SeriesKey::of(Metric::UdpRtt)).map(|series| series.iter().collect()).unwrap_or_default();
    let mut add = |key: SeriesKey, delay: &dyn Fn(usize, f64) -> Option<f64>| {
        let mut series = Series::new(key);
        for (n, observation) in of_server.iter().enumerate() {
            let value = observation.value.observed().and_then(|delay_s| delay(n, delay_s));
            let value = value.map_or(Value::Censored { at_least: 1.0 }, Value::Observed);
            series.push(Observation { value, ..*observation });
        }
        run.series.push(series);
    };
    add(key(Metric::HopRtt, 1), &|_, _| Some(0.000_4));
    add(key(Metric::HopEcho, 1), &|n, _| Some(0.000_4 + 0.03 * (n % 4) as f64));
    add(key(Metric::HopRtt, 2), &|n, delay_s| (n % 3 == 0).then_some(delay_s));
    run.path = Some(Path {
        hops: [(1, "192.168.1.1"), (2, "2001:db8:1234:5678:9abc:def0:1234:5678")].map(hop).into(),
        server_hop: Some(3),
        ..Path::default()
    });
    run
}

/// The first link is Wi-Fi.
fn by_wifi(mut run: Run) -> Run {
    let state = [
        (SeriesKey::of(Metric::WifiSignal), -61.0),
        (SeriesKey::directed(Metric::WifiBitrate, Direction::Up), 433.3e6),
        (SeriesKey::directed(Metric::WifiBitrate, Direction::Down), 390e6),
        (SeriesKey::of(Metric::WifiRetries), 0.12),
    ];
    for (key, value) in state {
        let mut series = Series::new(key);
        (0..20).for_each(|n| {
            let at = Time::from_nanos(n * 1_000_000_000);
            series.push(Observation { at, value: Value::Observed(value) });
        });
        run.series.push(series);
    }
    run
}

/// The server probed its hops: the download waits behind the second one.
fn probed_by_the_server(mut run: Run) -> Run {
    let down = run.phases.iter().find(|phase| phase.kind == PhaseKind::Down).expect("a download").clone();
    for (number, metric, delay_s) in [
        (1, Metric::HopReturnRtt, 0.001),
        (1, Metric::HopReturnFlowRtt, 0.001),
        (2, Metric::HopReturnRtt, 0.04),
        (2, Metric::HopReturnFlowRtt, 0.14),
    ] {
        let mut series = Series::new(key(metric, number));
        let start = if metric == Metric::HopReturnRtt { Time::ZERO } else { Time::from_nanos(down.start_ns) };
        (0..5).for_each(|n| {
            let at = start + Duration::from_millis(500 * n);
            series.push(Observation { at, value: Value::Observed(delay_s) });
        });
        run.series.push(series);
    }
    if let Some(path) = &mut run.path {
        path.return_path = [(1, "2001:db8:9::1"), (2, "203.0.113.9")].map(hop).into();
    }
    run
}

fn named(mut run: Run) -> Run {
    for hop in run.path.iter_mut().flat_map(|path| path.hops.last_mut()) {
        hop.name = Some("core1.isp.example".into());
        hop.autonomous_system = Some(AutonomousSystem { number: 64_496, name: "EXAMPLE Networks".into() });
    }
    run
}

#[test]
fn a_path_with_load() {
    let run = run();
    let diagnosis = diagnose(&run);
    let screen = |columns, style| path_screen(&run, &diagnosis, columns, style);
    let ascii = screen(80, ASCII);
    assert!(ascii.is_ascii(), "{ascii}");
    golden("path.txt", &format!("{}\n{ascii}\n{}", screen(80, UNICODE), screen(50, UNICODE)));
    let whole = probed_by_the_server(by_wifi(named(run.clone())));
    golden("path-names.txt", &path_screen(&whole, &diagnosis, 120, UNICODE));
    let quiet = screen(80, Style { detail: Detail::Quiet, ..UNICODE });
    assert!(quiet.lines().count() <= 3, "{quiet}");
    // Slow replies of the first router are not a queue: later hops do not share them.
    let first = ascii.lines().find(|line| line.starts_with(" 1 192")).unwrap_or_default();
    assert!(first.ends_with('.') && !first.contains('a'), "{first}");
    let page = html(&[(&whole, &diagnosis)]);
    assert!(page.contains("aria-label=\"Queueing delay by hop\"") && page.contains("level5"));
    assert!(page.contains("<th>back") && page.contains("203.0.113.9"), "{page}");
}

#[test]
fn the_live_picture() {
    const MS: fn(u64) -> Time = |ms| Time::from_nanos(ms * 1_000_000);
    let mut view = PathView::new("path to far", Duration::from_secs(1));
    let hop = |number: u8, name: Option<&str>| PathHop {
        number,
        name: name.map(Into::into),
        sent: 20,
        lost: if name.is_some() { u32::from(number) - 1 } else { 20 },
    };
    view.path(vec![
        hop(1, Some("192.168.1.1")),
        hop(2, None),
        hop(3, Some("2001:db8::3")),
        hop(4, Some("far")),
    ]);
    view.phase_started(PhaseKind::Idle, MS(0));
    view.phase_started(PhaseKind::Up, MS(8_000));
    for second in 0..20 {
        let at = MS(second * 1_000 + 100);
        let queue_s = if second < 8 { 0.0 } else { 0.3 };
        for (number, delay_s) in [(1, 0.000_4), (3, 0.012 + queue_s), (4, 0.020 + queue_s)] {
            let observation = Observation { at, value: Value::Observed(delay_s) };
            view.observe(&key(Metric::HopRtt, number), observation);
        }
    }
    view.note("a note");
    let wide = view.render(MS(20_000), (100, 24), UNICODE);
    let small = view.render(MS(20_000), (60, 7), ASCII);
    assert_eq!(small.lines().count(), 7, "{small}");
    assert!(small.contains("and 2 more"), "{small}");
    let trimmed = |text: &str| text.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>();
    golden("path-live.txt", &format!("{}\n{}", trimmed(&wide), trimmed(&small)));
}
