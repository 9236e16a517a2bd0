//! A policer drops what exceeds a rate and delays nothing: many losses, a constant rate, no queue.
//!
//! Flach et al. (SIGCOMM 2016) find policers in the same way, flow by flow.
use crate::delivery::Delivery;
use crate::latency::{longest, shortest};
use crate::rules::flow_queues::TRANSMITTED_BITS;
use crate::sample::of_flows;
use crate::view::{Rise, View};
use fathom_run::{Metric, Series};
use fathom_stats::median;
use fathom_units::{Direction, FULL_TCP_PAYLOAD};

/// Least share of the load's packets that were retransmitted. Links lose fewer; where they do not,
/// the rate of TCP varies.
const MIN_RETRANSMITTED: f64 = 0.1;
/// Largest range of what was delivered, less a constant rate, in seconds at that rate. A bucket
/// holds what it gets, so deviations do not add up.
const MAX_DEVIATION_S: f64 = 0.05;
/// Probes wait at most this long, in seconds.
const MAX_WAIT_S: f64 = 0.001;
/// Payload of a full TCP segment, in bits.
const SEGMENT_BITS: f64 = 8.0 * FULL_TCP_PAYLOAD.get() as f64;

/// The payload rate of a policer in bit/s, if there is one.
pub(super) fn rate(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<f64> {
    let delivery = Delivery::new(view, direction, rise)?;
    let steady = delivery.without_start();
    let bits_per_second = delivery.bits(steady) / steady.seconds().max(1e-3);
    let retransmitted = retransmissions(view, direction, rise) * SEGMENT_BITS;
    let is_lossy = retransmitted >= MIN_RETRANSMITTED * delivery.bits(delivery.known());
    let is_constant = delivery.deviation(steady) <= MAX_DEVIATION_S * bits_per_second;
    // Others may fill a queue also before the load.
    let base_s = shortest(view.source?)?;
    let waited = |latency_s: f64, most_s: f64| latency_s - base_s <= most_s;
    let most_s = MAX_WAIT_S + TRANSMITTED_BITS / bits_per_second.max(1.0);
    let flows = of_flows(view.run, Metric::FlowRtt, direction).flat_map(|s| s.within(rise.phase));
    let (_, longest_s) = longest(view.latency_in(rise.phase))?;
    let is_empty =
        waited(longest_s, MAX_WAIT_S) && waited(median(flows.filter_map(|o| o.value.observed()))?, most_s);
    (is_lossy && is_constant && is_empty).then_some(bits_per_second)
}

/// Number of retransmitted segments of the load.
fn retransmissions(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> f64 {
    let last = |s: &Series| s.within(rise.phase).filter_map(|o| o.value.observed()).last();
    of_flows(view.run, Metric::FlowRetransmits, direction).filter_map(last).sum()
}
