//! The shaper: virtual clocks for the next transmission. Deficit mode needs no burst parameter.
use core::cmp::{max, min};
use fathom_units::{Bytes, Duration, Rate, Time};

/// Minimum rate: at less, a packet takes up to a minute. Source: `sch_cake`.
const MIN_BYTES_PER_SECOND: u64 = 64;
/// Fractional bits of a nanosecond: the truncation error is below 10^-7 at 1 Tbit/s.
const FRACTION_BITS: u32 = 32;

/// A time in 2^-32 ns, so that transmission times add up without rounding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) struct Moment(u128);

impl Moment {
    pub(super) fn at(time: Time) -> Self {
        Moment(u128::from(time.as_nanos()) << FRACTION_BITS)
    }
    /// The first whole nanosecond at or after this moment.
    fn ceil(self) -> Time {
        let nanos = (self.0 + ((1 << FRACTION_BITS) - 1)) >> FRACTION_BITS;
        Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// Time per byte in 2^-32 ns; zero disables the shaper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pace(u64);

impl Pace {
    pub(super) fn of(rate: Option<Rate>) -> Self {
        let Some(rate) = rate else { return Pace(0) };
        let bits = max(rate.as_bits_per_second(), MIN_BYTES_PER_SECOND * 8);
        let fine = (8_000_000_000_u128 << FRACTION_BITS) / u128::from(bits);
        // Below 2^56 at the minimum rate.
        Pace(u64::try_from(fine).unwrap_or(u64::MAX))
    }
    pub(super) fn shapes(self) -> bool {
        self.0 > 0
    }
    /// The time of `bytes`, in 2^-32 ns.
    fn fine(self, bytes: u64) -> u128 {
        u128::from(self.0) * u128::from(bytes)
    }
    pub(super) fn time(self, bytes: Bytes) -> Duration {
        let nanos = self.fine(bytes.get()) >> FRACTION_BITS;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// The shaper of all tins together.
#[derive(Debug)]
pub(super) struct Shaper {
    pace: Pace,
    next: Moment,
    /// Runs at two thirds of the rate and is not charged for drops. So a flood on ingress, whose
    /// drops are charged, cannot stop the link.
    failsafe: Moment,
}

impl Shaper {
    pub(super) fn new(pace: Pace) -> Self {
        Shaper { pace, next: Moment::default(), failsafe: Moment::default() }
    }
    pub(super) fn shapes(&self) -> bool {
        self.pace.shapes()
    }
    /// Changes the rate from now on. Time without a shaper is not made up for.
    pub(super) fn set_pace(&mut self, pace: Pace, now: Time) {
        if !self.shapes() {
            self.wake(now);
        }
        self.pace = pace;
    }
    /// Called when a packet arrives at an empty queue: unused time expires.
    pub(super) fn wake(&mut self, now: Time) {
        let now = Moment::at(now);
        if self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }
    pub(super) fn ready_at(&self) -> Time {
        min(self.next, self.failsafe).ceil()
    }
    pub(super) fn charge_sent(&mut self, bytes: u64) {
        let fine = self.pace.fine(bytes);
        self.next.0 += fine;
        self.failsafe.0 += fine + fine / 2;
    }
    pub(super) fn charge_dropped(&mut self, bytes: u64) {
        self.next.0 += self.pace.fine(bytes);
    }
}

/// A tin's virtual clock. It delays nothing: a tin that is ahead of time loses its priority.
#[derive(Debug)]
pub(super) struct TinClock {
    pace: Pace,
    next: Moment,
}

impl TinClock {
    pub(super) fn new(pace: Pace) -> Self {
        TinClock { pace, next: Moment::default() }
    }
    pub(super) fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
    }
    pub(super) fn next(&self) -> Moment {
        self.next
    }
    pub(super) fn wake(&mut self, now: Time) {
        self.next = max(self.next, Moment::at(now));
    }
    /// Limits the lead to the packet just sent, so that the tin soon regains its priority.
    pub(super) fn charge(&mut self, bytes: u64, now: Time) {
        let (fine, now) = (self.pace.fine(bytes), Moment::at(now));
        let latest = Moment(now.0 + fine);
        if self.next < now {
            self.next.0 += fine;
        } else {
            self.next = max(self.next, latest);
        }
    }
}
