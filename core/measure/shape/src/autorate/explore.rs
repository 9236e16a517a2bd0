//! How fast the rate is raised while our own backlog shows demand.
//!
//! The speeds were found by trying some hundred sets of the constants here and in `direction.rs` on simulated hours of four kinds of
//! lines (`bench/autorate`), and are rounded. They are a trade: twice the slow speed carries a point or two more on a line
//! like LTE, and is late for half a point more of the time.
use super::flow::seconds;
use super::learned::Hour;
use fathom_units::Time;

/// Far below what was delivered last, as a share of the rate a second: doubles in 0.3 s. In the 0.2 s of
/// the feedback the line is overshot by 60 % at most; what it delivers then is the right rate.
const FAST: f64 = 2.4;
/// About what was delivered last, at once after the cut: 3 ms more of queue in the time of the feedback.
const SLOW: f64 = 0.17;
/// By so much of the slow speed it grows each second, as the line may have grown too.
const FORGETTING: f64 = 0.45;
/// About what was delivered last: from this share of it up to that.
const ABOUT_MIN: f64 = 0.94;
const ABOUT_MAX: f64 = 1.05;
/// Beyond it the last cut was wrong or the line is another: so many times the slow speed.
const BEYOND: f64 = 2.5;
/// And beyond it, but below so much of what the hour carries in four fifths of the cases, it is fast.
const USUAL: f64 = 1.5;

/// What the line carried last when it was asked for more.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Ceiling {
    capacity: f64,
    at: Time,
}

impl Ceiling {
    pub(crate) const fn new(capacity: f64, at: Time) -> Self {
        Ceiling { capacity, at }
    }
}

/// Share of the rate to add a second, given the last ceiling and what is known of the hour.
pub(crate) fn speed(last: Option<Ceiling>, known: Option<&Hour>, rate: f64, now: Time) -> f64 {
    let Some(last) = last else { return FAST };
    let place = rate / last.capacity;
    let slow = (SLOW * (1.0 + seconds(last.at, now) * FORGETTING)).min(FAST);
    let is_usual = known.is_some_and(|known| rate < known.low * USUAL);
    if place < ABOUT_MIN {
        FAST
    } else if place < ABOUT_MAX {
        slow
    } else if is_usual {
        FAST
    } else {
        (slow * BEYOND).min(FAST)
    }
}
