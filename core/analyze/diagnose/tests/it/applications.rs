//! What users of applications wait for, by phase.
use fathom_diagnose::{ApplicationMeasure, diagnose};
use fathom_run::{Metric, Observation, PhaseKind, Run, Series, SeriesKey, Value};
use fathom_units::{Direction, Time};

type Values<'a> = &'a [(u64, Value)];
type Measured = (String, ApplicationMeasure, Vec<(PhaseKind, f64, bool)>);

/// Phases: idle until 10 s, down until 20 s, idle again until 30 s.
fn with(all: &[(Metric, Direction, &str, Values<'_>)]) -> Run {
    let mut run = crate::line::BLOATED.run();
    run.series.clear();
    run.phases.truncate(2);
    let again = run.phases[0].clone();
    run.phases.push(again);
    for (phase, end_s) in run.phases.iter_mut().zip([10, 20, 30]) {
        (phase.start_ns, phase.end_ns) = ((end_s - 10) * 1_000_000_000, end_s * 1_000_000_000);
    }
    for (metric, direction, scope, values) in all {
        let key = SeriesKey { scope: Some((*scope).into()), ..SeriesKey::directed(*metric, *direction) };
        let mut series = Series::new(key);
        for (at_s, value) in *values {
            series.push(Observation { at: Time::from_nanos(at_s * 1_000_000_000), value: *value });
        }
        run.series.push(series);
    }
    run
}

fn values(run: &Run) -> Vec<Measured> {
    let all = diagnose(run).applications.into_iter();
    let of = |of: &fathom_diagnose::PhaseMeasure| (of.phase, of.measured.value, of.measured.at_least);
    all.map(|one| (one.application, one.measure, one.phases.iter().map(of).collect())).collect()
}

#[test]
fn both_idle_phases_and_all_users_count_together() {
    use PhaseKind::{Down, Idle};
    let seen = Value::Observed;
    let run = with(&[
        (Metric::PageLoad, Direction::Down, "shop", &[(1, seen(3.0)), (12, seen(9.0)), (21, seen(1.0))]),
        (
            Metric::PageLoad,
            Direction::Down,
            "shop",
            &[(19, Value::Censored { at_least: 11.0 }), (22, seen(2.0))],
        ),
        // The worse direction.
        (Metric::CallMos, Direction::Up, "call", &[(1, seen(4.4)), (11, seen(2.0))]),
        (Metric::CallMos, Direction::Down, "call", &[(1, seen(4.0)), (11, seen(3.0))]),
        (Metric::DeadlineMisses, Direction::Up, "game", &[(1, seen(0.0)), (2, seen(0.5))]),
    ]);
    let expected = [
        ("call", ApplicationMeasure::CallMos, vec![(Idle, 4.0, false), (Down, 2.0, false)]),
        ("game", ApplicationMeasure::DeadlineMisses, vec![(Idle, 0.25, false)]),
        ("shop", ApplicationMeasure::PageLoadP50, vec![(Idle, 2.0, false), (Down, 9.0, false)]),
        ("shop", ApplicationMeasure::PageLoadP95, vec![(Idle, 3.0, false), (Down, 11.0, true)]),
    ];
    assert_eq!(values(&run), expected.map(|(name, measure, phases)| (name.to_string(), measure, phases)));
}

#[test]
fn a_stall_counts_in_each_phase_that_it_reaches() {
    use PhaseKind::{Down, Idle};
    let seen = Value::Observed;
    let run = with(&[
        (Metric::VideoRate, Direction::Down, "tv", &[(1, seen(2e6)), (3, seen(4e6))]),
        // From 8 s to 13 s, and from 25 s to the end.
        (
            Metric::VideoStall,
            Direction::Down,
            "tv",
            &[(8, seen(5.0)), (25, Value::Censored { at_least: 99.0 })],
        ),
    ]);
    let expected = [
        (ApplicationMeasure::VideoRate, vec![(Idle, 3e6, false)]),
        (ApplicationMeasure::VideoStalls, vec![(Idle, 2.0, false), (Down, 1.0, false)]),
        (ApplicationMeasure::VideoStalled, vec![(Idle, 7.0, false), (Down, 3.0, false)]),
    ];
    assert_eq!(values(&run), expected.map(|(measure, phases)| ("tv".to_string(), measure, phases)));
    // Without a stall, the number is 0.
    let quiet = with(&[(Metric::VideoRate, Direction::Down, "tv", &[(1, seen(2e6))])]);
    assert_eq!(values(&quiet)[2].2, [(Idle, 0.0, false)]);
}
