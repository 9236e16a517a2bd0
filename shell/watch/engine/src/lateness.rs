//! Scheduling delay of this program, as a series: a busy host must not look like a bloated link.
use crate::report::{Reporter, SeriesSlot};
use fathom_os::clock::wall_now;
use fathom_units::{Duration, Time};
use fathom_watch_samples::Outcome;

const REPORT_EVERY: Duration = Duration::from_secs(1);

/// Records the largest lateness per second.
#[derive(Debug)]
pub(crate) struct LatenessMonitor {
    slot: SeriesSlot,
    reported: Time,
    largest: Option<Duration>,
}

impl LatenessMonitor {
    pub(crate) const fn new(slot: SeriesSlot) -> Self {
        LatenessMonitor { slot, reported: Time::ZERO, largest: None }
    }
    /// Records a wake-up that was late by `late`.
    pub(crate) fn woke_late(&mut self, late: Duration) {
        self.largest = Some(self.largest.unwrap_or_default().max(late));
    }
    /// Reports the largest lateness of the last second, if any.
    pub(crate) fn report(&mut self, now: Time, reporter: &mut Reporter) {
        if now.saturating_since(self.reported) < REPORT_EVERY {
            return;
        }
        self.reported = now;
        if let Some(late) = self.largest.take() {
            reporter.sample(self.slot, wall_now(), Outcome::Answered(late));
        }
    }
}
