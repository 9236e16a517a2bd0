//! The shaper: clocks that say when the next packet may go, in deficit mode, so that there is no burst to set.
use core::cmp::{max, min};
use fathom_units::{Bytes, Duration, Rate, Time};

/// Slower would take a minute for a packet, and longer to recover from a mistake. Source: `sch_cake`.
const MIN_BYTES_PER_SECOND: u64 = 64;
/// Parts of a nanosecond, so that what is cut off is below 10^-7 at 1 Tbit/s.
const FRACTION_BITS: u32 = 32;

/// A moment in 2^-32 ns, so that the times of packets add up without rounding.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) struct Moment(u128);

impl Moment {
    pub(super) fn at(time: Time) -> Self {
        Moment(u128::from(time.as_nanos()) << FRACTION_BITS)
    }
    /// The first nanosecond that is not before it.
    fn ceil(self) -> Time {
        let nanos = (self.0 + ((1 << FRACTION_BITS) - 1)) >> FRACTION_BITS;
        Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// Time for a byte, in 2^-32 ns; zero if nothing is shaped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Pace(u64);

impl Pace {
    pub(super) fn of(rate: Option<Rate>) -> Self {
        let Some(rate) = rate else { return Pace(0) };
        let bits = max(rate.as_bits_per_second(), MIN_BYTES_PER_SECOND * 8);
        let fine = (8_000_000_000_u128 << FRACTION_BITS) / u128::from(bits);
        // At the least rate it is below 2^56.
        Pace(u64::try_from(fine).unwrap_or(u64::MAX))
    }
    pub(super) fn shapes(self) -> bool {
        self.0 > 0
    }
    /// In 2^-32 ns.
    fn fine(self, bytes: u64) -> u128 {
        u128::from(self.0) * u128::from(bytes)
    }
    pub(super) fn time(self, bytes: Bytes) -> Duration {
        let nanos = self.fine(bytes.get()) >> FRACTION_BITS;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

/// The shaper of everything.
#[derive(Debug)]
pub(super) struct Shaper {
    pace: Pace,
    next: Moment,
    /// Runs at two thirds of the rate and is not charged for drops, so that a flood that is dropped, and charged, on
    /// ingress cannot stop the line.
    failsafe: Moment,
}

impl Shaper {
    pub(super) fn new(pace: Pace) -> Self {
        Shaper { pace, next: Moment::default(), failsafe: Moment::default() }
    }
    pub(super) fn shapes(&self) -> bool {
        self.pace.shapes()
    }
    /// From here on at `pace`. Without a shaper the clocks stood still, and that time is not made up for.
    pub(super) fn set_pace(&mut self, pace: Pace, now: Time) {
        if !self.shapes() {
            self.wake(now);
        }
        self.pace = pace;
    }
    /// A packet comes to an empty queue: unused time is lost.
    pub(super) fn wake(&mut self, now: Time) {
        let now = Moment::at(now);
        if self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }
    /// When the next packet may go.
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

/// A tin's clock, which holds nothing back: a tin that is ahead of it has used its rate, and loses its priority.
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
    /// A tin is never further ahead than the packet it sent last, so that it is back soon.
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
