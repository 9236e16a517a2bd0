//! Tracks the timestamps (RFC 7323) of one end.
use crate::hull::Hull;

/// Rates of TCP timestamp clocks in use, Hz: 4.4BSD's slow timer (2), Windows (10, 100), Linux by
/// HZ and today (100, 250, 300, 1000), Linux's `tcp_usec_ts` (10^6). 1 Hz is the slowest, and 500
/// Hz is within the range of RFC 7323 section 5.4.
pub(crate) const KNOWN_HERTZ: [f64; 9] = [1.0, 2.0, 10.0, 100.0, 250.0, 300.0, 500.0, 1000.0, 1e6];
/// A TSval off by more seconds than this is a restart of the counter, not a delay.
const RESTART_S: f64 = 2000.0;
/// An unknown clock that goes back by more than a second of the fastest rate has restarted.
const BACK_TICKS: i64 = 1_000_000;
/// The rate is estimated after 10 ms and again each time the span has doubled.
const FIRST_LOOK_NS: i64 = 10_000_000;

/// Unwrapped ticks of one end's clock, with the least delayed arrivals.
#[derive(Clone, Debug)]
pub(crate) struct Ticks {
    first_at: i64,
    last_at: i64,
    last_value: u32,
    /// Ticks since the first.
    ticks: i64,
    max_ticks: i64,
    max_at: i64,
    count: u64,
    /// Current estimate of a tick's duration, for delays until the end of the capture.
    tick_ns: f64,
    is_known: bool,
    next_look: i64,
    hull: Hull,
    /// Frame number of the first TSval after a restart; later ones are ignored.
    restarted: Option<u64>,
}

impl Ticks {
    pub(crate) fn new(at: i64, value: u32) -> Self {
        let mut hull = Hull::default();
        hull.push((0.0, at as f64));
        Ticks {
            first_at: at,
            last_at: at,
            last_value: value,
            ticks: 0,
            max_ticks: 0,
            max_at: at,
            count: 1,
            tick_ns: 1e6,
            is_known: false,
            next_look: FIRST_LOOK_NS,
            hull,
            restarted: None,
        }
    }
    pub(crate) fn hull(&self) -> &[(f64, f64)] {
        self.hull.vertices()
    }
    pub(crate) fn first_ns(&self) -> f64 {
        self.first_at as f64
    }
    /// Time from the first packet to the first one with the latest TSval.
    pub(crate) fn span_ns(&self) -> f64 {
        (self.max_at - self.first_at) as f64
    }
    pub(crate) fn span_ticks(&self) -> f64 {
        self.max_ticks as f64
    }
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
    pub(crate) fn restarted(&self) -> Option<u64> {
        self.restarted
    }
    /// Duration of a tick for delays until [`crate::clock::fit`].
    pub(crate) fn tick_ns(&self) -> f64 {
        self.tick_ns
    }
    /// Records a packet that arrived at `at`; returns its delay relative to an arbitrary zero.
    #[inline]
    pub(crate) fn observe(&mut self, at: i64, value: u32, frame: u64) -> Option<f64> {
        if value != self.last_value {
            self.advance(at, value, frame)?;
        } else if self.restarted.is_some() {
            return None;
        }
        self.last_at = at;
        self.count += 1;
        Some(at as f64 - self.ticks as f64 * self.tick_ns)
    }
    /// Delay of a packet that was recorded before, as returned by [`Ticks::observe`].
    #[inline]
    pub(crate) fn delay(&self, at: i64, value: u32) -> Option<f64> {
        let step = i64::from(value.wrapping_sub(self.last_value) as i32);
        let is_near = self.restarted.is_none() && step.abs() < 1 << 30;
        is_near.then(|| at as f64 - (self.ticks + step) as f64 * self.tick_ns)
    }
    fn advance(&mut self, at: i64, value: u32, frame: u64) -> Option<()> {
        let step = self.step(at, value);
        let shortest = if self.is_known { self.tick_ns } else { 1e3 };
        let beyond_ns = (step as f64 * shortest - (at - self.last_at) as f64).abs();
        if beyond_ns > RESTART_S * 1e9 || (!self.is_known && step < -BACK_TICKS) {
            self.restarted.get_or_insert(frame);
        }
        if self.restarted.is_some() {
            return None;
        }
        self.last_value = value;
        self.ticks += step;
        if self.ticks > self.max_ticks {
            (self.max_ticks, self.max_at) = (self.ticks, at);
            self.hull.push((self.ticks as f64, at as f64));
            if at - self.first_at >= self.next_look {
                self.look(at);
            }
        }
        Some(())
    }
    /// Ticks since the last packet. After a long pause the counter may have wrapped several times.
    fn step(&self, at: i64, value: u32) -> i64 {
        let step = i64::from(value.wrapping_sub(self.last_value) as i32);
        let passed = (at - self.last_at) as f64;
        if !self.is_known || passed < f64::from(1 << 30) * self.tick_ns {
            return step;
        }
        let expected = passed / self.tick_ns;
        let rounds = libm::round((expected - step as f64) / 4_294_967_296.0).max(0.0);
        step + ((rounds as i64) << 32)
    }
    #[cold]
    fn look(&mut self, at: i64) {
        if self.max_ticks < 4 {
            return;
        }
        let span = (at - self.first_at) as f64;
        self.next_look = (at - self.first_at).saturating_mul(2);
        self.tick_ns = 1e9 / nearest(1e9 * self.max_ticks as f64 / span);
        self.is_known = true;
    }
}

/// The known rate with the closest ratio.
fn nearest(hertz: f64) -> f64 {
    let distance = |known: f64| libm::fabs(libm::log(known / hertz));
    KNOWN_HERTZ.into_iter().min_by(|a, b| distance(*a).total_cmp(&distance(*b))).unwrap_or(hertz)
}
