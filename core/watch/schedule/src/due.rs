//! Whether a test is due.
use crate::ledger::{Ledger, share_of_month};
use alloc::format;
use alloc::string::String;
use fathom_units::{Bytes, Duration, Rng, WallTime};

/// Longest time for which a test waits for a line that is not busy.
const MAX_GRACE: Duration = Duration::from_secs(3_600);
/// Payload that the first test is expected to take: that of 13 Mbit/s for a minute.
const FIRST: Bytes = Bytes(100_000_000);

/// When tests of one line are made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// Name of the test, so that two tests of one host have different moments.
    pub name: String,
    /// Random number of this host, so that the hosts of a fleet have different moments.
    pub seed: u64,
    /// One test in each interval; intervals begin at multiples of it since 1970.
    pub interval: Duration,
    /// Maximum payload per month.
    pub budget: Bytes,
    /// Tests although others use the line.
    pub while_busy: bool,
}

/// Why the test of an interval was left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeftOut {
    /// Others used the line.
    Busy,
    /// It could exceed the month's budget, or the budget of the part of the month that has passed:
    /// otherwise, all tests would be in the first days of a month.
    Budget,
}

/// What to do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Due {
    /// Nothing.
    Wait,
    /// A test with at most this much payload.
    Test(Bytes),
    /// Nothing; the test of this interval is left out.
    LeaveOut(LeftOut),
}

impl Schedule {
    /// Decides what to do at `now`. Call it at least every minute; `is_busy` says whether others
    /// use the line.
    pub fn due(&self, ledger: &mut Ledger, now: WallTime, is_busy: bool) -> Due {
        ledger.begin_month(now);
        let current = now.0 / self.interval.as_nanos().max(1);
        // After the clock was set back, the next interval has a test again.
        ledger.done = ledger.done.map(|done| done.min(current));
        if ledger.done.is_none() {
            // The first test is made at once, so that there is a result.
            ledger.done = current.checked_sub(1);
            if (self.while_busy || !is_busy) && !self.exceeds(ledger, now) {
                return Due::Test(self.budget.saturating_sub(ledger.used));
            }
        }
        // The time to wait for a line that is not busy may reach into the next interval.
        for interval in current.saturating_sub(1)..=current {
            if ledger.done.is_some_and(|done| interval <= done) {
                continue;
            }
            let age = now.0.checked_sub(self.moment(interval).0);
            let Some(age) = age else { return Due::Wait };
            if age >= self.grace().as_nanos() {
                ledger.done = Some(interval);
                // The host was off or asleep if this is not called in time.
                if is_busy && !self.while_busy && age < 2 * self.grace().as_nanos() {
                    return Due::LeaveOut(LeftOut::Busy);
                }
                continue;
            }
            if self.exceeds(ledger, now) {
                ledger.done = Some(interval);
                return Due::LeaveOut(LeftOut::Budget);
            }
            if is_busy && !self.while_busy {
                return Due::Wait;
            }
            return Due::Test(self.budget.saturating_sub(ledger.used));
        }
        Due::Wait
    }
    /// Notes that the test of the interval that was due at `begin` was made, with this payload.
    pub fn made(&self, ledger: &mut Ledger, begin: WallTime, payload: Bytes) {
        let current = begin.0 / self.interval.as_nanos().max(1);
        let is_of_current = begin >= self.moment(current);
        ledger.done = if is_of_current { Some(current) } else { current.checked_sub(1) };
        ledger.used += payload;
        // A test that failed at its start says nothing about the next one.
        if payload > Bytes::ZERO {
            ledger.last = payload;
        }
    }
    /// The moment of an interval: uniformly distributed, so that each time of day is as likely.
    pub fn moment(&self, interval: u64) -> WallTime {
        let length = self.interval.as_nanos().max(1);
        let mut rng = Rng::stream(self.seed, &format!("test {} {interval}", self.name));
        WallTime(interval.saturating_mul(length).saturating_add(rng.below(length)))
    }
    /// How long a test may wait.
    fn grace(&self) -> Duration {
        MAX_GRACE.min(Duration::from_nanos(self.interval.as_nanos() / 4))
    }
    fn exceeds(&self, ledger: &Ledger, now: WallTime) -> bool {
        let expected = if ledger.last > Bytes::ZERO { ledger.last } else { FIRST.min(self.budget) };
        let is_ahead = ledger.used.get() as f64 > self.budget.get() as f64 * share_of_month(now);
        is_ahead || ledger.used.get().saturating_add(expected.get()) > self.budget.get()
    }
}
