//! The lab version of a simulated line: its rates during a run, as traces.
use super::schedule::{self, LENGTH};
use crate::law::Rates;
use crate::line::{Kind, Line};
use fathom_scenario::{Plan, parse_with_files};
use fathom_units::PerDirection;
use std::fmt::Write;

/// Seed of the line: that of the simulated weeks.
const SEED: u64 = 2;
/// Time of day at the start of a run, in s: eight in the evening.
const EVENING: f64 = 20.0 * 3_600.0;
/// Setup time at the line's initial rate, in s.
pub(super) const LEAD: f64 = 5.0;
/// Interval between rate changes of the line, in s.
const STEP: f64 = 0.1;

/// The line of a run.
pub(super) struct Track {
    pub(super) name: &'static str,
    pub(super) rates: PerDirection<Rates>,
    pub(super) plan: Plan,
    /// Capacity at each step in bit/s.
    capacity: Vec<PerDirection<f64>>,
}

/// Share of the line's down rate that the lab uses, so that two CPUs can carry it.
const fn share(kind: Kind) -> f64 {
    match kind {
        Kind::Starlink => 0.2,
        Kind::Docsis => 0.4,
        Kind::Lte | Kind::Dsl => 1.0,
    }
}

impl Track {
    pub(super) fn new(kind: Kind) -> Track {
        let facts = kind.facts();
        let down = |of: f64| of * share(kind);
        let Rates { min, base, max } = facts.rates.down;
        let rates = PerDirection {
            up: facts.rates.up,
            down: Rates { min: down(min), base: down(base), max: down(max) },
        };
        let capacity = capacities(kind);
        let limits = PerDirection { up: facts.limits.up, down: down(facts.limits.down) };
        let text = scenario(facts.base, limits);
        let traces = PerDirection { up: trace(&capacity, |at| at.up), down: trace(&capacity, |at| at.down) };
        let file = |name: &str| Ok(if name == UP { traces.up.clone() } else { traces.down.clone() });
        let plan = parse_with_files(&text, "lab.toml", &file).unwrap_or_else(|error| panic!("{error}"));
        Track { name: facts.name, rates, plan, capacity }
    }
    /// Capacity at a time of the run in bit/s.
    pub(super) fn capacity(&self, at: f64) -> PerDirection<f64> {
        self.capacity.get((at / STEP) as usize).copied().unwrap_or_default()
    }
}

fn capacities(kind: Kind) -> Vec<PerDirection<f64>> {
    let mut line = Line::new(kind, SEED);
    let mut step = |at: f64| {
        let now = EVENING + at;
        let here = line.at(now);
        let capacity = PerDirection { up: here.up.capacity(), down: here.down.capacity() };
        // Loads use all capacity.
        let loaded = schedule::loaded(at);
        let carried = |rate: f64, is_loaded| if is_loaded { rate / 8.0 * STEP } else { 0.0 };
        line.carried(
            now,
            PerDirection { up: carried(capacity.up, loaded.up), down: carried(capacity.down, loaded.down) },
        );
        PerDirection { up: capacity.up, down: capacity.down * share(kind) }
    };
    (0..(LENGTH / STEP) as usize).map(|number| step((number as f64 + 0.5) * STEP)).collect()
}

const UP: &str = "up.trace";

/// The trace from the lab's start: first the setup time at the initial rate.
fn trace(capacity: &[PerDirection<f64>], of: impl Fn(&PerDirection<f64>) -> f64) -> String {
    let mut text = String::new();
    for (number, at) in capacity.iter().enumerate() {
        let ms = if number == 0 { 0.0 } else { (LEAD + number as f64 * STEP) * 1e3 };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{ms:.0}ms {:.0}bit", of(at));
    }
    text
}

fn scenario(base: f64, limits: PerDirection<f64>) -> String {
    let way = |trace: &str, limit: f64| {
        let delay_us = base / 2.0 * 1e6;
        format!(
            "{{ trace = \"{trace}\", delay = \"{delay_us:.0}us\", queue = \"fifo limit {limit:.0}b\", overhead = \"0b\" }}"
        )
    };
    format!(
        "name = \"lab\"\nabout = \"a line that varies\"\nsource = \"drawn\"\n[[hop]]\nname = \"access\"\nup = {}\ndown = {}\n{}",
        way(UP, limits.up),
        way("down.trace", limits.down),
        schedule::workloads()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_units::Duration;

    #[test]
    fn the_lab_carries_what_is_scored() {
        for kind in [Kind::Lte, Kind::Starlink, Kind::Docsis] {
            let track = Track::new(kind);
            assert_eq!(fathom_lab::workload::refusal(&track.plan.workloads), None);
            let hop = &track.plan.line.hops[0];
            assert!(hop.up.delay + hop.down.delay <= Duration::from_millis(45), "{kind:?}");
            // Never more than two CPUs can carry, and always within the limits of the laws.
            for at in (0..900).map(|step| track.capacity(f64::from(step) / 10.0 + 0.05)) {
                assert!((0.0..=50e6).contains(&at.down) && (0.0..=25e6).contains(&at.up), "{kind:?}: {at:?}");
            }
        }
    }
}
