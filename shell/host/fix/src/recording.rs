//! Records the shaper's counters during a test as series of its run.
use fathom_run::Series;
use fathom_shaper::Look;
use fathom_tc::{Stats, series_of};
use fathom_units::{Direction, PerDirection, Time};

/// Scope of the shaper's series.
const SCOPE: &str = "shaper";

/// Counters of both shapers in order of time.
#[derive(Default)]
pub(crate) struct Recording(PerDirection<Vec<(Time, Stats)>>);

impl Recording {
    pub(crate) fn note(&mut self, at: Time, look: &Look) {
        let shapers = PerDirection { up: &look.up, down: &look.down };
        for (direction, stats) in shapers {
            self.0[direction].extend(stats.iter().map(|stats| (at, stats.clone())));
        }
    }
    /// Series of backlog, drops and marks.
    pub(crate) fn series(&self) -> Vec<Series> {
        Direction::BOTH
            .into_iter()
            .flat_map(|direction| series_of(SCOPE, direction, &self.0[direction]))
            .collect()
    }
}
