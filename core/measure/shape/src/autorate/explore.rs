//! Speed at which the rate is raised while the shaper's backlog shows demand.
//!
//! The speeds were found by trying some hundred sets of the constants here and in `direction.rs` on
//! simulated hours of four kinds of lines (`bench/autorate`), and then rounded. They are a
//! trade-off: twice the slow speed increases the throughput of a line like LTE by one or two
//! percentage points, and the time with excess delay by half a point.
use super::flow::seconds;
use super::learned::Hour;
use fathom_units::Time;

/// Far below the last delivered rate, as a share of the rate per second: doubles it in 0.3 s.
/// Within the feedback delay of 0.2 s it exceeds the capacity by at most 60 %; the rate delivered
/// then is the right one.
const FAST: f64 = 2.4;
/// Close to the last delivered rate: adds 3 ms of queue within the feedback delay.
const SLOW: f64 = 0.17;
/// The slow speed grows by this share per second, because the capacity may have increased.
const FORGETTING: f64 = 0.45;
/// Range that counts as close to the last delivered rate.
const ABOUT_MIN: f64 = 0.94;
const ABOUT_MAX: f64 = 1.05;
/// Multiple of the slow speed beyond that range, where the last cut was wrong or is outdated.
const BEYOND: f64 = 2.5;
/// Beyond that range, but below this multiple of the hour's usual minimum, the fast speed applies.
const USUAL: f64 = 1.5;

/// Capacity of the line at the last cut.
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

/// Share of the rate to add per second, given the last capacity and the statistics of the hour.
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
