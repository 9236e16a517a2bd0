//! Time spans of a run.
use fathom_run::Phase;
use fathom_units::Time;

/// A time span in ns of the run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Interval {
    pub(crate) start_ns: u64,
    pub(crate) end_ns: u64,
}

impl Interval {
    pub(crate) const fn of(phase: &Phase) -> Self {
        Interval { start_ns: phase.start_ns, end_ns: phase.end_ns }
    }
    /// The time that starts at `start` and lasts for `seconds`.
    pub(crate) fn after(start: Time, seconds: f64) -> Self {
        let start_ns = start.as_nanos();
        Interval { start_ns, end_ns: start_ns.saturating_add((seconds * 1e9) as u64) }
    }
    pub(crate) const fn length_ns(self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
    pub(crate) fn seconds(self) -> f64 {
        self.length_ns() as f64 / 1e9
    }
    pub(crate) fn overlap(self, other: Interval) -> Interval {
        let start_ns = self.start_ns.max(other.start_ns);
        Interval { start_ns, end_ns: self.end_ns.min(other.end_ns).max(start_ns) }
    }
}
