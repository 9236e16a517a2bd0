//! What the clock of an end runs at, from arrivals against TSval.
//!
//! Delays only add: the true clock lies under all arrivals, and touches them where no queue was. The lower convex hull
//! holds all that can be touched; its edges are the candidates for the clock (Moon, Skelly and Towsley 1999).
use crate::ticks::KNOWN_HERTZ;
use alloc::vec::Vec;

/// A crystal is off by less than 100 ppm, and two of them by less than twice that.
pub(crate) const SKEW_RATIO: f64 = 200e-6;
/// An edge tells the clock of an end apart from others if a tick is no more than this part of it.
const EDGE_RATIO: f64 = 0.02;
/// Fewer ticks than that are no length to measure.
const MIN_TICKS: f64 = 8.0;
/// A line that fewer of the 64 parts of the capture touch may be a queue's, not the clock's.
const MIN_TOUCHED: u32 = 16;
/// Parts of the capture of which the lowest arrival is looked at.
const PARTS: f64 = 64.0;
/// Skews tried in a range.
const STEPS: f64 = 40.0;
/// Arrivals this much more than a tick above the clock still count as touching it: what a busy host needs to send.
const TOUCH_NS: f64 = 1e6;
/// The same, of a host that is seldom busy.
const CLOSE_TOUCH_NS: f64 = 0.1e6;

/// A clock against that of the capture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Clock {
    /// Ticks per second.
    pub hertz: f64,
    /// It is one of the rates in use; otherwise it is as measured.
    pub is_known_rate: bool,
    /// How much longer its second is than one of the capture's clock, as a ratio; 0 where it cannot be told.
    pub skew_ratio: f64,
    /// What the skew is known to, each way.
    pub skew_error_ratio: f64,
    /// Length of a tick by the capture's clock, ns.
    pub tick_ns: f64,
    /// When tick 0 was at the latest, ns since the capture began.
    pub zero_ns: f64,
    /// Time over which it was seen, ns.
    pub span_ns: f64,
    /// Packets with a timestamp.
    pub count: u64,
    /// In how many of 64 equal parts of that time an empty path was seen.
    pub touched: u32,
}

impl Clock {
    /// How far a delay from it may be off: a tick, and what the skew adds from one end of the capture to the other.
    pub fn error_ns(&self) -> f64 {
        self.tick_ns + self.skew_error_ratio * self.span_ns
    }
}

/// Why there is no clock.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NoClock {
    /// The end sends no timestamps.
    NoTimestamps,
    /// It was not seen for long enough: so many ticks in so many ns.
    TooShort {
        /// Ticks seen.
        ticks: f64,
        /// Time seen, ns.
        span_ns: f64,
    },
    /// The counter began anew in this frame before enough had been seen.
    Restarted {
        /// The frame.
        frame: u64,
    },
    /// Within what delays leave open there is none of the known rates, or more than one.
    Ambiguous {
        /// The least it can be, Hz.
        min_hertz: f64,
        /// The most it can be, Hz.
        max_hertz: f64,
    },
}

/// What was seen of a clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TickObservations<'a> {
    /// Lower hull of arrival (ns) against ticks.
    pub(crate) hull: &'a [(f64, f64)],
    /// Of [`lows`], likewise.
    pub(crate) lows: &'a [(f64, f64)],
    pub(crate) span_ticks: f64,
    pub(crate) span_ns: f64,
    pub(crate) count: u64,
    /// How much delays vary at most, where round trips tell.
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

/// The clock that explains the arrivals.
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

/// Between which rates the clock must be: the last packet was delayed by no more than `spread_ns` more or less than the first.
fn bounds(seen: &TickObservations<'_>) -> (f64, f64) {
    let tick = seen.span_ns / seen.span_ticks;
    // Without round trips nothing is known; half the span leaves a factor of three.
    let slack = seen.spread_ns.map_or(0.5 * seen.span_ns, |spread| spread + 2.0 * tick + TOUCH_NS);
    let least = seen.span_ticks * 1e9 / (seen.span_ns + slack) * (1.0 - SKEW_RATIO);
    let most = seen.span_ticks * 1e9 / (seen.span_ns - slack).max(1.0) * (1.0 + SKEW_RATIO);
    (least, most)
}

fn is_edge_of(edge: &Edge, hertz: f64) -> bool {
    let tolerance = SKEW_RATIO + 1.0 / edge.ticks;
    1.0 / edge.ticks < EDGE_RATIO && libm::fabs(edge.tick_ns * hertz / 1e9 - 1.0) < tolerance
}

/// The one of several rates that the longest edges have.
fn best_supported(seen: &TickObservations<'_>, candidates: &[f64]) -> Option<f64> {
    let support = |hertz: f64| -> f64 {
        edges(seen.hull).filter(|edge| is_edge_of(edge, hertz)).map(|edge| edge.ticks).sum()
    };
    let best = candidates.iter().copied().max_by(|a, b| support(*a).total_cmp(&support(*b)))?;
    (support(best) > 0.1 * seen.span_ticks).then_some(best)
}

/// A rate that nothing else has: only if one straight line supports most of what was seen.
fn measured(seen: &TickObservations<'_>) -> Option<Clock> {
    let longest = edges(seen.hull).max_by(|a, b| a.ticks.total_cmp(&b.ticks))?;
    let clock = around(seen, 1e9 / longest.tick_ns, false);
    (longest.ticks > 0.5 * seen.span_ticks && clock.touched >= MIN_TOUCHED).then_some(clock)
}

/// The clock of about `hertz`, with the skew at which it touches the arrivals most often.
///
/// A queue that grew all the time would tilt the line too, but a line through it touches only at its ends.
fn around(seen: &TickObservations<'_>, hertz: f64, is_known_rate: bool) -> Clock {
    let nominal_ns = 1e9 / hertz;
    // In so short a time no skew moves an arrival by as much as may lie between it and a clock that it touches.
    if SKEW_RATIO * seen.span_ns < TOUCH_NS {
        return with_skew(seen, hertz, is_known_rate, Skew::UNKNOWN);
    }
    let all = plateau(seen, nominal_ns, (-SKEW_RATIO, SKEW_RATIO), TOUCH_NS);
    let near = plateau(seen, nominal_ns, all.widened(), TOUCH_NS);
    let close = plateau(seen, nominal_ns, near.widened(), CLOSE_TOUCH_NS);
    // Where an empty path was seen all the time, a closer look costs few touches.
    let best = if 4 * close.touched >= 3 * near.touched { close } else { near };
    let skew = if best.touched >= MIN_TOUCHED { best.skew() } else { Skew::UNKNOWN };
    with_skew(seen, hertz, is_known_rate, skew)
}

/// How much longer a clock's second is, and what that is known to, as ratios.
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

/// The clock of `hertz` whose skew is known from elsewhere.
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

/// The skews at which a clock touches most.
struct Plateau {
    from: f64,
    to: f64,
    touched: u32,
    step: f64,
}

impl Plateau {
    /// With a step more on either side.
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

/// When tick 0 was, so that no packet arrived before it was sent.
fn zero(seen: &TickObservations<'_>, tick_ns: f64) -> f64 {
    seen.hull.iter().map(|(ticks, at)| at - ticks * tick_ns).fold(f64::INFINITY, f64::min)
}

/// How many of the lowest arrivals are within a tick of the clock.
fn touched(seen: &TickObservations<'_>, tick_ns: f64, zero_ns: f64, touch_ns: f64) -> u32 {
    let is_near = |(ticks, at): &&(f64, f64)| at - ticks * tick_ns - zero_ns <= tick_ns + touch_ns;
    seen.lows.iter().filter(is_near).count() as u32
}

/// The lowest arrival of each of [`PARTS`] parts of the time seen, of arrivals as ticks and ns in the order of time.
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
