//! Estimates the timestamp clock of an end from arrival times over TSval.
//!
//! Delays are never negative: the true clock is a line below all arrivals that touches those
//! without queueing delay. The lower convex hull contains all arrivals it can touch, and the hull's
//! edges are candidates for the clock (Moon, Skelly and Towsley 1999).
use crate::ticks::KNOWN_HERTZ;
use alloc::vec::Vec;

/// A crystal oscillator is off by less than 100 ppm, so two differ by less than twice that.
pub(crate) const SKEW_RATIO: f64 = 200e-6;
/// An edge can identify the clock's rate if a tick is at most this part of it.
const EDGE_RATIO: f64 = 0.02;
/// With fewer ticks the span is too short.
const MIN_TICKS: f64 = 8.0;
/// A line that touches fewer of the 64 parts of the capture may be caused by a queue.
const MIN_TOUCHED: u32 = 16;
/// Number of parts of the capture; the lowest arrival of each is used.
const PARTS: f64 = 64.0;
/// Number of skews tried in a range.
const STEPS: f64 = 40.0;
/// Arrivals up to a tick plus this above the clock touch it: a busy host needs that time to send.
const TOUCH_NS: f64 = 1e6;
/// The same for a host that is rarely busy.
const CLOSE_TOUCH_NS: f64 = 0.1e6;

/// A timestamp clock relative to the clock of the capture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Clock {
    /// Ticks per second.
    pub hertz: f64,
    /// The rate is one of those in use; otherwise it was measured.
    pub is_known_rate: bool,
    /// How much longer its second is than one of the capture's clock, as a ratio; 0 if unknown.
    pub skew_ratio: f64,
    /// Error of the skew in either direction.
    pub skew_error_ratio: f64,
    /// Duration of a tick by the capture's clock, ns.
    pub tick_ns: f64,
    /// Latest possible time of tick 0, ns since the start of the capture.
    pub zero_ns: f64,
    /// Observed time, ns.
    pub span_ns: f64,
    /// Number of packets with a timestamp.
    pub count: u64,
    /// Number of parts, out of 64 equal parts of that time, with an arrival without queueing delay.
    pub touched: u32,
}

impl Clock {
    /// Error of a delay measured with it: a tick, plus the accumulated error of the skew.
    pub fn error_ns(&self) -> f64 {
        self.tick_ns + self.skew_error_ratio * self.span_ns
    }
}

/// Why a clock could not be determined.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NoClock {
    /// The end sends no timestamps.
    NoTimestamps,
    /// It was not observed for long enough.
    TooShort {
        /// Number of observed ticks.
        ticks: f64,
        /// Observed time, ns.
        span_ns: f64,
    },
    /// The counter restarted before enough was observed.
    Restarted {
        /// Number of the frame with the restart.
        frame: u64,
    },
    /// None of the known rates fits within the range that the delays allow, or more than one does.
    Ambiguous {
        /// Minimum rate, Hz.
        min_hertz: f64,
        /// Maximum rate, Hz.
        max_hertz: f64,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TickObservations<'a> {
    /// Lower convex hull of arrival times (ns) over ticks.
    pub(crate) hull: &'a [(f64, f64)],
    /// The result of [`lows`], in the same units.
    pub(crate) lows: &'a [(f64, f64)],
    pub(crate) span_ticks: f64,
    pub(crate) span_ns: f64,
    pub(crate) count: u64,
    /// Maximum variation of the delay, if known from round-trip times.
    pub(crate) spread_ns: Option<f64>,
}

#[derive(Clone, Copy)]
struct Edge {
    ticks: f64,
    tick_ns: f64,
}

fn edges(hull: &[(f64, f64)]) -> impl Iterator<Item = Edge> {
    hull.windows(2).filter_map(|pair| match pair {
        [a, b] => Some(Edge { ticks: b.0 - a.0, tick_ns: (b.1 - a.1) / (b.0 - a.0) }),
        _ => None,
    })
}

pub(crate) fn fit(seen: TickObservations<'_>) -> Result<Clock, NoClock> {
    if seen.count == 0 {
        return Err(NoClock::NoTimestamps);
    }
    if seen.span_ticks < MIN_TICKS || seen.span_ns <= 0.0 {
        return Err(NoClock::TooShort { ticks: seen.span_ticks, span_ns: seen.span_ns });
    }
    let (min_hertz, max_hertz) = bounds(&seen);
    let within = KNOWN_HERTZ.into_iter().filter(|hertz| (min_hertz..=max_hertz).contains(hertz));
    let candidates: Vec<f64> = within.collect();
    let supported = || best_supported(&seen, &candidates);
    match candidates.as_slice() {
        [only] => Ok(around(&seen, *only, true)),
        [] => measured(&seen).ok_or(NoClock::Ambiguous { min_hertz, max_hertz }),
        _ => supported()
            .map(|hertz| around(&seen, hertz, true))
            .ok_or(NoClock::Ambiguous { min_hertz, max_hertz }),
    }
}

/// Range of possible rates: the delays of the first and last packet differ by at most `spread_ns`.
fn bounds(seen: &TickObservations<'_>) -> (f64, f64) {
    let tick = seen.span_ns / seen.span_ticks;
    // Unknown without round-trip times; half the span allows a factor of three.
    let slack = seen.spread_ns.map_or(0.5 * seen.span_ns, |spread| spread + 2.0 * tick + TOUCH_NS);
    let least = seen.span_ticks * 1e9 / (seen.span_ns + slack) * (1.0 - SKEW_RATIO);
    let most = seen.span_ticks * 1e9 / (seen.span_ns - slack).max(1.0) * (1.0 + SKEW_RATIO);
    (least, most)
}

fn is_edge_of(edge: &Edge, hertz: f64) -> bool {
    let tolerance = SKEW_RATIO + 1.0 / edge.ticks;
    1.0 / edge.ticks < EDGE_RATIO && libm::fabs(edge.tick_ns * hertz / 1e9 - 1.0) < tolerance
}

/// The candidate supported by the longest edges.
fn best_supported(seen: &TickObservations<'_>, candidates: &[f64]) -> Option<f64> {
    let support = |hertz: f64| -> f64 {
        edges(seen.hull).filter(|edge| is_edge_of(edge, hertz)).map(|edge| edge.ticks).sum()
    };
    let best = candidates.iter().copied().max_by(|a, b| support(*a).total_cmp(&support(*b)))?;
    (support(best) > 0.1 * seen.span_ticks).then_some(best)
}

/// An unknown rate, accepted only if one straight line supports most observations.
fn measured(seen: &TickObservations<'_>) -> Option<Clock> {
    let longest = edges(seen.hull).max_by(|a, b| a.ticks.total_cmp(&b.ticks))?;
    let clock = around(seen, 1e9 / longest.tick_ns, false);
    (longest.ticks > 0.5 * seen.span_ticks && clock.touched >= MIN_TOUCHED).then_some(clock)
}

/// The clock with a rate of about `hertz` and the skew at which it touches most arrivals.
///
/// A queue that grows all the time tilts the line too, but that line only touches at its ends.
fn around(seen: &TickObservations<'_>, hertz: f64, is_known_rate: bool) -> Clock {
    let nominal_ns = 1e9 / hertz;
    // In such a short time no skew moves an arrival by more than the tolerance.
    if SKEW_RATIO * seen.span_ns < TOUCH_NS {
        return with_skew(seen, hertz, is_known_rate, Skew::UNKNOWN);
    }
    let all = plateau(seen, nominal_ns, (-SKEW_RATIO, SKEW_RATIO), TOUCH_NS);
    let near = plateau(seen, nominal_ns, all.widened(), TOUCH_NS);
    let close = plateau(seen, nominal_ns, near.widened(), CLOSE_TOUCH_NS);
    // With arrivals without queueing delay throughout, the narrower tolerance loses few of them.
    let best = if 4 * close.touched >= 3 * near.touched { close } else { near };
    let skew = if best.touched >= MIN_TOUCHED { best.skew() } else { Skew::UNKNOWN };
    with_skew(seen, hertz, is_known_rate, skew)
}

/// Skew of a clock and its error: how much longer its second is, as a ratio.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Skew {
    pub(crate) ratio: f64,
    pub(crate) error_ratio: f64,
}

impl Skew {
    const UNKNOWN: Skew = Skew { ratio: 0.0, error_ratio: SKEW_RATIO };
}

impl Clock {
    pub(crate) fn skew(&self) -> Skew {
        Skew { ratio: self.skew_ratio, error_ratio: self.skew_error_ratio }
    }
}

/// A clock with a rate of `hertz` and a known skew.
pub(crate) fn with_skew(seen: &TickObservations<'_>, hertz: f64, is_known_rate: bool, skew: Skew) -> Clock {
    let tick_ns = 1e9 / hertz * (1.0 + skew.ratio);
    let zero_ns = zero(seen, tick_ns);
    Clock {
        hertz,
        is_known_rate,
        skew_ratio: skew.ratio,
        skew_error_ratio: skew.error_ratio,
        tick_ns,
        zero_ns,
        span_ns: seen.span_ns,
        count: seen.count,
        touched: touched(seen, tick_ns, zero_ns, TOUCH_NS),
    }
}

/// The range of skews at which a clock touches most arrivals.
struct Plateau {
    from: f64,
    to: f64,
    touched: u32,
    step: f64,
}

impl Plateau {
    /// The range with one more step on both sides.
    fn widened(&self) -> (f64, f64) {
        (self.from - self.step, self.to + self.step)
    }
    fn skew(&self) -> Skew {
        Skew { ratio: 0.5 * (self.from + self.to), error_ratio: 0.5 * (self.to - self.from) + self.step }
    }
}

fn plateau(seen: &TickObservations<'_>, nominal_ns: f64, range: (f64, f64), touch_ns: f64) -> Plateau {
    let step = (range.1 - range.0) / STEPS;
    let mut best = Plateau { from: range.0, to: range.1, touched: 0, step };
    for number in 0..=(STEPS as u32) {
        let skew = range.0 + step * f64::from(number);
        let tick_ns = nominal_ns * (1.0 + skew);
        let touched = touched(seen, tick_ns, zero(seen, tick_ns), touch_ns);
        if touched > best.touched {
            best = Plateau { from: skew, to: skew, touched, step };
        } else if touched == best.touched {
            best.to = skew;
        }
    }
    best
}

/// Time of tick 0 such that no packet arrived before it was sent.
fn zero(seen: &TickObservations<'_>, tick_ns: f64) -> f64 {
    seen.hull.iter().map(|(ticks, at)| at - ticks * tick_ns).fold(f64::INFINITY, f64::min)
}

/// Number of lowest arrivals that touch the clock.
fn touched(seen: &TickObservations<'_>, tick_ns: f64, zero_ns: f64, touch_ns: f64) -> u32 {
    let is_near = |(ticks, at): &&(f64, f64)| at - ticks * tick_ns - zero_ns <= tick_ns + touch_ns;
    seen.lows.iter().filter(is_near).count() as u32
}

/// Lowest arrival (ticks, ns) of each of [`PARTS`] parts of the time; arrivals are in time order.
pub(crate) fn lows(
    arrivals: impl Iterator<Item = (f64, f64)>,
    span_ns: f64,
    tick_ns: f64,
) -> Vec<(f64, f64)> {
    let delay = |point: &(f64, f64)| point.1 - point.0 * tick_ns;
    let mut lows: Vec<(u32, (f64, f64))> = Vec::new();
    let mut first = None;
    for point in arrivals {
        let since = point.1 - *first.get_or_insert(point.1);
        let part = (PARTS * since / span_ns.max(1.0)).clamp(0.0, PARTS - 1.0) as u32;
        match lows.last_mut().filter(|last| last.0 >= part) {
            Some(last) if delay(&point) < delay(&last.1) => last.1 = point,
            Some(_) => {}
            None => lows.push((part, point)),
        }
    }
    lows.into_iter().map(|low| low.1).collect()
}
