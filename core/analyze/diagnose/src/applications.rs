//! What users of applications wait for, by phase.
use crate::{ApplicationMeasure, ApplicationStatistics, PhaseMeasure};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use fathom_run::{Metric, Observation, Phase, PhaseKind, Run, Series, Value};
use fathom_stats::{Bounded, Sample};
use fathom_units::Direction;

/// Every measure of every application of the run, in the order of their names.
pub(crate) fn statistics(run: &Run) -> Vec<ApplicationStatistics> {
    let is_of_one =
        |series: &&Series| ApplicationMeasure::ALL.iter().any(|m| m.metric() == series.key.metric);
    let scopes = run.series.iter().filter(is_of_one).filter_map(|series| series.key.scope.as_deref());
    let names: BTreeSet<&str> = scopes.collect();
    let of = |(name, measure): (&&str, ApplicationMeasure)| {
        let in_phase = |phase| Some(PhaseMeasure { phase, measured: measure.within(run, name, phase)? });
        let phases: Vec<PhaseMeasure> = kinds(run).into_iter().filter_map(in_phase).collect();
        (!phases.is_empty()).then(|| ApplicationStatistics { application: (*name).into(), measure, phases })
    };
    let all = names.iter().flat_map(|name| ApplicationMeasure::ALL.map(|measure| (name, measure)));
    all.filter_map(of).collect()
}

/// The kinds of phases, in the order of the first of each.
fn kinds(run: &Run) -> Vec<PhaseKind> {
    let mut kinds: Vec<PhaseKind> = Vec::new();
    for phase in &run.phases {
        if !kinds.contains(&phase.kind) {
            kinds.push(phase.kind);
        }
    }
    kinds
}

impl ApplicationMeasure {
    fn within(self, run: &Run, name: &str, kind: PhaseKind) -> Option<Bounded> {
        let observed =
            |metric, direction: Option<Direction>| observations(run, (metric, name), direction, kind);
        let sample = |values: Vec<Observation>| {
            Sample::new(values.into_iter().map(|o| match o.value {
                Value::Observed(value) => (value, false),
                Value::Censored { at_least } => (at_least, true),
            }))
        };
        let percentile = |share| sample(observed(self.metric(), None)).percentile(share);
        let exact = |value| Bounded { value, at_least: false };
        let mean = |direction| sample(observed(self.metric(), direction)).mean_of_observed();
        let median = |direction| sample(observed(self.metric(), Some(direction))).percentile(0.5);
        match self {
            ApplicationMeasure::PageLoadP50 => percentile(0.5),
            ApplicationMeasure::PageLoadP95 => percentile(0.95),
            ApplicationMeasure::VideoRate => mean(None).map(exact),
            ApplicationMeasure::CallMos => {
                let both = Direction::BOTH.into_iter().filter_map(median);
                both.min_by(|a, b| a.value.total_cmp(&b.value))
            }
            ApplicationMeasure::DeadlineMisses => {
                let both = Direction::BOTH.into_iter().filter_map(|way| mean(Some(way)));
                both.max_by(f64::total_cmp).map(exact)
            }
            ApplicationMeasure::VideoStalls | ApplicationMeasure::VideoStalled => {
                let paused = stalls(run, name, kind);
                if paused.is_empty() && observed(Metric::VideoRate, None).is_empty() {
                    return None;
                }
                Some(exact(match self {
                    ApplicationMeasure::VideoStalls => paused.len() as f64,
                    _ => paused.iter().fold(0.0, |sum, lasted| sum + lasted),
                }))
            }
        }
    }
}

fn series<'r>(run: &'r Run, metric: Metric, name: &'r str) -> impl Iterator<Item = &'r Series> {
    run.series.iter().filter(move |s| s.key.metric == metric && s.key.scope.as_deref() == Some(name))
}

fn phases(run: &Run, kind: PhaseKind) -> impl Iterator<Item = &Phase> {
    run.phases.iter().filter(move |phase| phase.kind == kind)
}

/// Of all flows of an application, in all phases of a kind.
fn observations(
    run: &Run,
    (metric, name): (Metric, &str),
    direction: Option<Direction>,
    kind: PhaseKind,
) -> Vec<Observation> {
    let fits = |s: &&Series| direction.is_none() || s.key.direction == direction;
    let all = series(run, metric, name).filter(fits);
    all.flat_map(|s| phases(run, kind).flat_map(move |phase| s.within(phase))).collect()
}

/// The parts of stalls within phases of a kind, in seconds.
fn stalls(run: &Run, name: &str, kind: PhaseKind) -> Vec<f64> {
    let ends = |o: Observation| {
        let (Value::Observed(lasted) | Value::Censored { at_least: lasted }) = o.value;
        (o.at.as_secs_f64(), o.at.as_secs_f64() + lasted)
    };
    let part = |(begin, end): (f64, f64), phase: &Phase| {
        end.min(phase.end_ns as f64 / 1e9) - begin.max(phase.start_ns as f64 / 1e9)
    };
    let all = series(run, Metric::VideoStall, name).flat_map(Series::iter).map(ends);
    all.flat_map(|stall| phases(run, kind).map(move |phase| part(stall, phase)))
        .filter(|s| *s > 0.0)
        .collect()
}
