//! Departure times of packets: the kernel's timestamp for the first of each row, and for the others
//! the program's clock just before the call, corrected with the timestamps of a few of them.
//!
//! A timestamp per packet would cost a sixth of a ping's total cost. The first of a row needs one,
//! because its call runs with cold caches and takes tens of microseconds. The others take one or
//! two, almost always the same.
use fathom_units::{Duration, Rng, Time};

/// Number of other packets that are timestamped per second.
const STAMPED_PER_SECOND: f64 = 8.0;
/// The lag is the median of this many timestamps: a few seconds' worth, half of which may be
/// disturbed.
const REMEMBERED: usize = 15;
/// Maximum wait for a timestamp.
const PATIENCE: Duration = Duration::from_secs(1);

/// A packet whose timestamp is awaited: its target and number, and the clock's reading before the
/// call.
type Awaited = (u32, u32, Time);

/// Estimates the delay from the clock reading to the host's queue.
#[derive(Clone, Debug)]
pub(crate) struct Departures {
    rng: Rng,
    until_next: u64,
    awaited: Option<Awaited>,
    /// The first packet of a row may have a timestamp that has not been read.
    has_first: bool,
    lags: [Duration; REMEMBERED],
    seen: usize,
    lag: Duration,
}

impl Departures {
    pub(crate) fn new(seed: u64) -> Self {
        Departures {
            rng: Rng::new(seed),
            until_next: 0,
            awaited: None,
            has_first: false,
            lags: [Duration::ZERO; REMEMBERED],
            seen: 0,
            lag: Duration::ZERO,
        }
    }
    /// Typical delay between the clock reading and the departure.
    pub(crate) const fn lag(&self) -> Duration {
        self.lag
    }
    /// Notes that the first packet of a row will be timestamped.
    pub(crate) const fn begins(&mut self) {
        self.has_first = true;
    }
    /// Whether to timestamp this packet, at a rate of `per_second`. Chosen at random.
    pub(crate) fn picks(&mut self, (target, sequence, read): Awaited, per_second: f64) -> bool {
        let is_awaited = |(.., since): Awaited| read.saturating_since(since) < PATIENCE;
        if self.awaited.is_some_and(is_awaited) {
            return false;
        }
        if self.until_next > 0 {
            self.until_next -= 1;
            return false;
        }
        if self.seen >= REMEMBERED {
            // Uniform from 0 to twice the mean.
            self.until_next = self.rng.below((2.0 * per_second / STAMPED_PER_SECOND) as u64 + 1);
        }
        self.awaited = Some((target, sequence, read));
        true
    }
    /// Whether a timestamp may be available.
    pub(crate) const fn awaits(&self) -> bool {
        self.has_first || self.awaited.is_some()
    }
    /// Notes that all available timestamps were read.
    pub(crate) const fn looked(&mut self) {
        self.has_first = false;
    }
    /// Processes the timestamp of a packet, if it was picked for the lag.
    pub(crate) fn stamped(&mut self, target: u32, sequence: u32, stamp: Time) {
        let is_it = |(t, s, read): &Awaited| (*t, *s) == (target, sequence) && *read <= stamp;
        let Some((.., read)) = self.awaited.filter(is_it) else { return };
        self.awaited = None;
        if let Some(place) = self.lags.get_mut(self.seen % REMEMBERED) {
            *place = stamp.saturating_since(read);
            self.seen += 1;
        }
        let mut sorted = self.lags;
        let known = sorted.get_mut(..self.seen.min(REMEMBERED)).unwrap_or_default();
        known.sort_unstable();
        self.lag = known.get(known.len() / 2).copied().unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICRO: u64 = 1_000;

    /// Sends packets at regular times; the timestamps of picked packets say `lag(n)` microseconds.
    fn run(per_second: u64, seconds: u64, lag: impl Fn(u64) -> u64) -> (Departures, Vec<u64>) {
        let (mut departures, mut picked) = (Departures::new(1), Vec::new());
        for n in 0..per_second * seconds {
            let read = Time::from_nanos((n + 1) * 1_000_000_000 / per_second);
            if departures.picks((7, n as u32, read), per_second as f64) {
                picked.push(n);
                departures.stamped(7, n as u32, read + Duration::from_nanos(lag(n) * MICRO));
            }
        }
        (departures, picked)
    }

    #[test]
    fn some_are_stamped_however_many_there_are() {
        for per_second in [1_000, 100_000] {
            let (_, picked) = run(per_second, 100, |_| 1);
            assert!((700..900).contains(&picked.len()), "{} of {per_second} a second", picked.len());
            // A tick at 1,000 per second has 16 packets: each position in it is picked sometimes.
            let early = picked.iter().skip(REMEMBERED).filter(|n| *n % 16 == 1).count();
            assert!((20..90).contains(&early), "{early} of {}", picked.len());
        }
    }

    #[test]
    fn the_lag_is_the_usual_one() {
        // Every seventh is disturbed.
        let (departures, _) = run(1_000, 60, |n| if n % 7 == 0 { 9_000 } else { 2 });
        assert_eq!(departures.lag(), Duration::from_micros(2));
        let (changed, _) = run(1_000, 60, |n| if n < 30_000 { 2 } else { 5 });
        assert_eq!(changed.lag(), Duration::from_micros(5));
        assert_eq!(Departures::new(1).lag(), Duration::ZERO, "before the first stamp");
    }

    #[test]
    fn a_missing_timestamp_is_waited_for_one_second() {
        let mut departures = Departures::new(1);
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        assert!(departures.picks((1, 1, at(1)), 1.0));
        departures.stamped(1, 2, at(5));
        assert!(departures.awaits(), "another packet's");
        departures.stamped(1, 1, at(0));
        assert!(departures.awaits(), "from before it was sent");
        assert!(!departures.picks((1, 3, at(900)), 1.0));
        assert!(departures.picks((1, 4, at(1_100)), 1.0));
        departures.stamped(1, 1, at(1_100));
        assert!(departures.awaits(), "one of long ago");
        departures.stamped(1, 4, at(1_101));
        assert!(!departures.awaits());
        departures.begins();
        assert!(departures.awaits());
        departures.looked();
        assert!(!departures.awaits());
    }
}
