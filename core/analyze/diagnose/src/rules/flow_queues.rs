//! Whether each flow has a queue: then packets of the load wait, and probes do not.
use crate::delivery::{capacity, is_shared};
use crate::sample::{of_flows, pair};
use crate::view::{Rise, View};
use alloc::vec::Vec;
use fathom_run::{Metric, Series};
use fathom_stats::{Sample, median, percentile};
use fathom_units::{Direction, FULL_IP_PACKET};

/// A flow's round trip includes the transmission of two packets that are acknowledged together, and
/// of one that was on the link before. In bits of IP packets.
pub(super) const TRANSMITTED_BITS: f64 = 3.0 * PACKET_BITS;
/// A packet of full size, in bits of IP.
pub(super) const PACKET_BITS: f64 = 8.0 * FULL_IP_PACKET.get() as f64;
/// The flows must wait longer than the probes by this, in seconds: a host needs some time for each
/// packet of a load.
const MIN_EXCESS_S: f64 = 0.003;
/// Least ratio of the flows' tenth percentile to the probes' median, and of the flows' median to
/// nearly the longest wait of the probes. In one queue, both are about 1 or less, also if the load
/// comes in bursts, which few probes meet.
const MIN_LOW_RATIO: f64 = 1.5;
const MIN_MEDIAN_RATIO: f64 = 1.1;
/// On a link where a packet takes this long, in seconds, a probe often waits for a packet of each
/// flow, at times almost as long as their packets do. So there, lower percentiles are compared: the
/// flows' tenth with the 25th of the probes, and both medians.
const SLOW_PACKET_S: f64 = 0.004;
const MIN_SLOW_RATIO: f64 = 1.5;
/// Least ratio of the flows' median to the probes' 90th percentile there.
const MIN_SLOW_RATIO_TO_P90: f64 = 0.9;

/// The median time for which packets of the load waited in the second half of its phase, in
/// seconds, if it was clearly longer than that of the probes.
pub(super) fn delay_of_flows(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<f64> {
    let base_s = rise.idle.p50.value;
    let middle_ns = middle_ns(rise);
    let mut waits: Vec<f64> = waits(view, direction, rise)?.flatten().collect();
    let probes = view.latency_in(rise.phase).filter(|o| o.at.as_nanos() >= middle_ns);
    let probes = Sample::new(probes.map(|o| pair(o.value)));
    let added = |p: f64| Some((probes.percentile(p)?.value - base_s).max(0.0));
    let (low_s, median_s) = (percentile(&mut waits, 0.1)?, percentile(&mut waits, 0.5)?);
    let [p25_s, p50_s, p90_s, p98_s] = [added(0.25)?, added(0.5)?, added(0.9)?, added(0.98)?];
    let is_apart =
        low_s >= MIN_LOW_RATIO * p50_s + MIN_EXCESS_S && median_s >= MIN_MEDIAN_RATIO * p98_s + MIN_EXCESS_S;
    let is_slow = PACKET_BITS / capacity(view, direction, rise)?.ip_bits_per_second() >= SLOW_PACKET_S;
    let is_apart_if_slow = || {
        low_s >= MIN_SLOW_RATIO * p25_s + MIN_EXCESS_S
            && median_s >= MIN_SLOW_RATIO * p50_s + MIN_EXCESS_S
            && median_s >= MIN_SLOW_RATIO_TO_P90 * p90_s
    };
    (is_apart || is_slow && is_apart_if_slow()).then_some(median_s)
}

/// Least rate of the link as IP packets where each flow has a queue: its packets waited throughout,
/// so the link was busy even if no probe waited. `None` if others were seen to have a share of it.
pub(super) fn least_rate(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<f64> {
    let rate = capacity(view, direction, rise)?.ip_bits_per_second();
    (!rise.has_other_traffic && !is_shared(view, direction, rate)).then_some(rate)
}

/// The shortest of the median times for which packets of a flow waited in the second half of its
/// phase, in seconds.
pub(super) fn shortest_delay(view: &View<'_>, direction: Direction, rise: &Rise<'_>) -> Option<f64> {
    waits(view, direction, rise)?.filter_map(median).min_by(f64::total_cmp)
}

const fn middle_ns(rise: &Rise<'_>) -> u64 {
    rise.phase.start_ns.midpoint(rise.phase.end_ns)
}

/// Times for which packets of each flow waited in the second half of its phase, in seconds.
fn waits<'a>(
    view: &'a View<'_>,
    direction: Direction,
    rise: &'a Rise<'_>,
) -> Option<impl Iterator<Item = impl Iterator<Item = f64> + 'a> + 'a> {
    let rate = capacity(view, direction, rise)?.ip_bits_per_second();
    let expected_s = rise.idle.p50.value + TRANSMITTED_BITS / rate.max(1.0);
    let middle_ns = middle_ns(rise);
    let of_flow = move |series: &'a Series| {
        let late = series.within(rise.phase).filter(move |o| o.at.as_nanos() >= middle_ns);
        late.filter_map(move |o| Some(o.value.observed()? - expected_s))
    };
    Some(of_flows(view.run, Metric::FlowRtt, direction).map(of_flow))
}
