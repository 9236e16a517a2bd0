//! Work at fixed times for queues that have no clock: what has become due is made up for at the next call.
use fathom_units::{Duration, Time};

/// Due every `period`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timer {
    next: Time,
    period: Duration,
}

impl Timer {
    /// Due first at `first`.
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
    /// The time that [`Timer::is_due`] was true for.
    pub(crate) fn last(&self) -> Time {
        self.next.saturating_sub(self.period)
    }
    /// Leaves out what is due by `now`, for work that would change nothing, so that a long pause costs no time.
    pub(crate) fn skip(&mut self, now: Time) {
        if self.next <= now {
            let periods = (now - self.next).as_nanos() / self.period.as_nanos() + 1;
            self.next += self.period * periods;
        }
    }
}
