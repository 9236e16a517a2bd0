//! Findings in a watch period.
use fathom_diagnose::{Diagnosis, Health, diagnose};
use fathom_run::{
    Conclusion, Fact, FindingKind, History, Instrument, Metric, Observation, Phase, PhaseEnd, PhaseKind,
    QueueEmptied, Reason, Run, SCHEMA_VERSION, Series, SeriesKey, UtcOffset, Value,
};
use fathom_units::{Direction, Rng, Time};

const DAY_S: u64 = 86_400;
const STEP_S: u64 = 20;

/// Days from Monday 2026-01-05 00:00 UTC with a target delay of `truth` at each second.
fn period(days: u64, truth: impl Fn(u64, &mut Rng) -> Option<f64>) -> Run {
    let mut rng = Rng::new(7);
    let mut series = Series::new(SeriesKey::of(Metric::IcmpRtt));
    for second in (0..days * DAY_S).step_by(STEP_S as usize) {
        let value = truth(second, &mut rng);
        let value = value.map_or(Value::Censored { at_least: 5.0 }, Value::Observed);
        series.push(Observation { at: Time::from_nanos(second * 1_000_000_000), value });
    }
    let phase = Phase {
        kind: PhaseKind::Watch,
        start_ns: 0,
        end_ns: days * DAY_S * 1_000_000_000,
        end: PhaseEnd::TimeLimit,
        load: None,
    };
    Run {
        schema_version: SCHEMA_VERSION,
        tool_version: "0".into(),
        command: "watch".into(),
        started: "2026-01-05T00:00:00Z".into(),
        title: "home".into(),
        host: fathom_run::Host::default(),
        facts: Default::default(),
        phases: vec![phase],
        series: vec![series],
        instrument: Instrument { kernel_timestamp_ratio: 1.0, ..Instrument::default() },
        partial: None,
        capture: None,
        path: None,
        history: Some(History { target: "home".into(), ..History::default() }),
        bursts: Vec::new(),
        switch: None,
        host_traffic: Vec::new(),
        notes: Vec::new(),
    }
}

/// 15 ms with an exponential tail.
fn quiet(rng: &mut Rng) -> f64 {
    0.015 + rng.exponential(1_000) as f64 * 1e-6
}

const fn hour(second: u64) -> u64 {
    second / 3_600 % 24
}

fn kinds(d: &Diagnosis) -> Vec<FindingKind> {
    d.findings.iter().map(|finding| finding.kind()).collect()
}

#[test]
fn a_quiet_week_is_healthy() {
    let d = diagnose(&period(7, |_, rng| Some(quiet(rng))));
    assert_eq!((d.health, d.latency_source), (Health::Healthy, Some(Metric::IcmpRtt)));
    assert_eq!(kinds(&d), [FindingKind::LatencyVariation]);
    let Conclusion::LatencyVariation(variation) = &d.findings[0].conclusion else { panic!() };
    assert!((0.015..0.0152).contains(&variation.base_p5_s) && variation.p95_s < 0.020, "{variation:?}");
    assert_eq!(d.phases[0].kind, PhaseKind::Watch);
    assert_eq!(d.phases[0].latency.unwrap().count, (7 * DAY_S / STEP_S) as usize);
}

/// In local time, which is an hour later than UTC.
#[test]
fn slow_evenings_of_a_month_are_found() {
    let mut run =
        period(30, |s, rng| Some(quiet(rng) + if (18..22).contains(&hour(s)) { 0.08 } else { 0.0 }));
    let history = run.history.as_mut().unwrap();
    history.utc_offsets.push(UtcOffset { since_s: 0, offset_s: 3_600 });
    let d = diagnose(&run);
    let Conclusion::RecurringDelay(delay) = &d.findings[0].conclusion else { panic!("{:?}", d.findings) };
    assert_eq!((delay.hours.from_hour, delay.hours.to_hour, delay.of.target.as_str()), (19, 23, "home"));
    assert!((0.077..0.083).contains(&delay.excess_s), "{delay:?}");
    // The latest evening, in nanoseconds of the run.
    let last = d.findings[0].spans[0];
    let start_s = 29 * DAY_S + 18 * 3_600;
    assert_eq!((last.start_ns / 1_000_000_000, last.end_ns / 1_000_000_000), (start_s, start_s + 4 * 3_600));
    // A log of another tool does not say what local time was.
    run.facts.insert(Fact::Tool, "ping".into());
    assert_eq!(kinds(&diagnose(&run)), [FindingKind::LatencyVariation]);
}

/// Latency that is high most of the time does not show whose load it is.
#[test]
fn elevated_latency_alone_is_inconclusive() {
    let d = diagnose(&period(1, |s, rng| Some(quiet(rng) + if s % 600 < 300 { 0.4 } else { 0.0 })));
    assert_eq!(d.health, Health::Inconclusive);
    let Some(Reason::UnknownLoad { increase_p90_s, .. }) = d.reason else { panic!("{:?}", d.reason) };
    assert!((0.39..0.42).contains(&increase_p90_s), "{increase_p90_s}");
}

/// The household's own uploads fill a buffer, as the recorded traffic shows.
#[test]
fn own_uploads_that_fill_a_buffer_are_bloat() {
    let uploads = |s: u64| s % 6_000 < 1_200;
    let mut run = period(20, |s, rng| Some(quiet(rng) + if uploads(s) { 1.1 } else { 0.0 }));
    for (direction, rate) in [(Direction::Up, 19e6), (Direction::Down, 1e5)] {
        let mut series = Series::new(SeriesKey::directed(Metric::Goodput, direction));
        for second in (0..20 * DAY_S).step_by(60) {
            let rate = if direction == Direction::Down || uploads(second) { rate } else { 2e5 };
            series.push(Observation {
                at: Time::from_nanos(second * 1_000_000_000),
                value: Value::Observed(rate),
            });
        }
        run.series.push(series);
    }
    let d = diagnose(&run);
    assert_eq!(
        (d.health, d.findings[0].kind()),
        (Health::Bloated, FindingKind::OwnLoad),
        "{:#?}",
        d.findings
    );
    assert_eq!(d.findings[0].direction, Some(Direction::Up));
}

#[test]
fn loss_is_found_and_no_response_is_inconclusive() {
    let d = diagnose(&period(1, |_, rng| (!rng.chance(0.05)).then(|| quiet(rng))));
    assert_eq!(
        (d.health, kinds(&d)),
        (Health::Healthy, vec![FindingKind::LatencyVariation, FindingKind::ProbeLoss])
    );
    let silent = diagnose(&period(1, |_, _| None));
    assert_eq!((silent.health, silent.reason), (Health::Inconclusive, Some(Reason::NoAnswers)));
}

/// A file can claim any length and number of series. Memory is limited to what the analysis needs:
/// 200 series of 292 years would take 3.5 million columns of hours and ten minutes each.
#[test]
fn a_period_of_292_years_with_many_series_is_bounded() {
    let mut run = period(1, |_, rng| Some(quiet(rng)));
    run.phases[0].end_ns = 1 << 63;
    let one = run.series[0].clone();
    for number in 0..200 {
        let mut more = one.clone();
        more.key.scope = Some(number.to_string());
        run.series.push(more);
    }
    let d = diagnose(&run);
    assert_eq!((d.health, d.findings[0].kind()), (Health::Healthy, FindingKind::LatencyVariation));
}

/// The round trips of four pings of a real line: 4857, 3854, 2851, 1844 ms, a second apart.
#[test]
fn four_falling_pings_are_a_queue_that_emptied() {
    let falling = |s: u64| match s / STEP_S {
        100 => 4.857,
        101 => 3.854,
        102 => 2.851,
        103 => 1.844,
        _ => 0.05,
    };
    let at_a_second = |mut run: Run, step_s: f64| {
        for series in &mut run.series {
            (0..).zip(&mut series.at_ns).for_each(|(n, at)| *at = (f64::from(n) * step_s * 1e9) as u64);
        }
        run.phases[0].end_ns = DAY_S * 1_000_000_000;
        run
    };
    let d = diagnose(&at_a_second(period(1, |s, _| Some(falling(s))), 1.0));
    let found: Vec<&Conclusion> = d.findings.iter().map(|one| &one.conclusion).collect();
    let [Conclusion::LatencyVariation(_), Conclusion::QueueEmptied(emptied)] = found[..] else {
        panic!("{found:?}")
    };
    let expected = QueueEmptied { count: 1, answered_packets: 4, at_s: 100.0, first_s: 4.857, last_s: 1.844 };
    assert_eq!(*emptied, expected);
    // The same delays with two seconds between them did not arrive together.
    let spread = diagnose(&at_a_second(period(1, |s, _| Some(falling(s))), 2.0));
    assert_eq!(kinds(&spread), [FindingKind::LatencyVariation]);
    // Three are too few.
    let three = |s: u64| if s / STEP_S == 103 { 0.05 } else { falling(s) };
    let short = diagnose(&at_a_second(period(1, |s, _| Some(three(s))), 1.0));
    assert_eq!(kinds(&short), [FindingKind::LatencyVariation]);
}
