//! The ranges of the distribution. Quantities are log-uniform within them.
use fathom_units::Rng;

/// Lowest and highest value.
pub(super) type Range = [f64; 2];

/// Rate of the main link, bit/s.
pub(super) const RATE: Range = [100e3, 2.5e9];
/// Ratio of the faster to the slower direction of an asymmetric line.
pub(super) const ASYMMETRY: Range = [1.5, 20.0];
/// Base round-trip time, s.
pub(super) const BASE_RTT: Range = [0.001, 0.7];
/// Buffer of the main link, in seconds at its rate.
pub(super) const BUFFER: Range = [0.002, 100.0];
/// The same on a line drawn as healthy.
pub(super) const HEALTHY_BUFFER: Range = [0.002, 0.04];
/// Random loss on the main link, where there is any.
pub(super) const LOSS: Range = [1e-4, 0.03];
/// Share of packets that are held back, where there are any, and for how long in s.
pub(super) const REORDER: Range = [1e-3, 0.03];
pub(super) const REORDER_DELAY: Range = [0.001, 0.02];
/// Flows of the load in each direction.
pub(super) const FLOWS: Range = [1.0, 200.0];
/// Rate of the other links, relative to the main link.
pub(super) const OTHER_LINK: Range = [1.2, 20.0];
/// Buffers of the other links, s at their rates.
pub(super) const OTHER_BUFFER: Range = [0.002, 0.5];
/// Depth of a token bucket, s at its rate: of a shaper, and of a policer.
pub(super) const BUCKET: Range = [0.01, 2.0];
pub(super) const POLICER_BURST: Range = [0.005, 0.2];
/// Rate of PowerBoost relative to the sustained rate, and its duration under load in s.
pub(super) const BOOST: Range = [2.0, 5.0];
pub(super) const BOOST_S: Range = [1.0, 10.0];
/// Time from one outage to the next, and how long one lasts, s.
pub(super) const OUTAGE_PERIOD_S: Range = [12.0, 40.0];
pub(super) const OUTAGE_S: Range = [0.3, 5.0];
/// When the only handover of a run begins, s.
pub(super) const HANDOVER_AT_S: Range = [5.0, 60.0];
/// Rate after a handover relative to the rate before, and the gap between them in s.
pub(super) const HANDOVER: Range = [0.2, 1.0];
pub(super) const HANDOVER_GAP_S: Range = [0.05, 0.5];
/// Highest rate of a mobile link relative to its lowest.
pub(super) const CELLULAR: Range = [1.5, 10.0];

/// A phase with load lasts at most as long as in `fathom test`, in s; on fast lines at most as long
/// as the shortest one there.
pub(super) const LOAD_S: Range = [6.0, 30.0];
/// Full packets that a direction may carry in a phase. Faster lines are loaded for a
/// shorter time, so that a thousand paths take minutes.
pub(super) const MAX_PACKETS: f64 = 1e6;
/// Lowest mean rate of a flow, bit/s: with less, retransmission timeouts are all that is left.
pub(super) const RATE_PER_FLOW: f64 = 20e3;

pub(super) fn log_uniform(rng: &mut Rng, [low, high]: Range) -> f64 {
    low * (high / low).powf(rng.next_f64())
}

pub(super) fn uniform(rng: &mut Rng, [low, high]: Range) -> f64 {
    low + (high - low) * rng.next_f64()
}

/// One of `choices`, each with its weight.
pub(super) fn weighted<T: Copy>(rng: &mut Rng, choices: &[(u64, T)]) -> T {
    let mut rest = rng.below(choices.iter().map(|(weight, _)| weight).sum());
    for (weight, choice) in choices {
        match rest.checked_sub(*weight) {
            Some(more) => rest = more,
            None => return *choice,
        }
    }
    choices[choices.len() - 1].1
}
