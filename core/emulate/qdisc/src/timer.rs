//! Periodic work in queues that have no clock: each call catches up on what has become due.
use fathom_units::{Duration, Time};

/// A timer that is due every `period`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    next: Time,
    period: Duration,
}

impl Timer {
    /// Creates a timer that is first due at `first`.
    pub(crate) const fn new(first: Time, period: Duration) -> Self {
        Timer { next: first, period }
    }
    /// True once for each time that is due by `now`.
    pub(crate) fn is_due(&mut self, now: Time) -> bool {
        let due = self.next <= now;
        if due {
            self.next += self.period;
        }
        due
    }
    /// The time for which [`Timer::is_due`] last returned true.
    pub(crate) fn last(&self) -> Time {
        self.next.saturating_sub(self.period)
    }
    /// Skips the times due by `now` if the work would change nothing.
    pub(crate) fn skip(&mut self, now: Time) {
        if self.next <= now {
            let periods = (now - self.next).as_nanos() / self.period.as_nanos() + 1;
            self.next += self.period * periods;
        }
    }
}
