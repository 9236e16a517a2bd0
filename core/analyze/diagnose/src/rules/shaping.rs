//! Whether a shaper would keep the queue of a direction short, and at which rate.
//!
//! A shaper with a queue per flow cannot remove all delay. On the uplink, the shaper is in front of
//! the link, so a packet of a sparse flow waits for at most one other packet. On the downlink, the
//! shaper is behind the link. Senders keep at least a minimum window per flow in flight, and what
//! exceeds the bandwidth-delay product waits in front of the link.
use crate::delivery::{Capacity, capacity};
use crate::outage::outages;
use crate::rules::flow_queues::{PACKET_BITS, delay_of_flows, least_rate};
use crate::rules::{local_traffic, rate};
use crate::view::{Rise, View};
use alloc::vec::Vec;
use fathom_capacity::{cubic_recovery_s, reno_recovery_s};
use fathom_run::{Remedy, ShaperLimit, threshold};
use fathom_units::Direction;

/// Median wait of a packet on a busy uplink behind a shaper, in full packets: half of the packet
/// that is being sent, at the rate of the shaper, and sometimes those of flows that had paused.
const UP_WAIT_PACKETS: f64 = 0.8;
/// The same on a downlink, where packets also wait for the shaper.
const DOWN_WAIT_PACKETS: f64 = 1.1;
/// Minimum windows of congestion control, in packets: the slow start threshold after a loss (RFC
/// 5681, section 3.1), and the minimum window of BBR (draft-ietf-ccwg-bbr, `MinPipeCwnd`).
const MIN_WINDOW: f64 = 2.0;
const MIN_WINDOW_BBR: f64 = 4.0;
/// Mean of the recommended rates, relative to that of the link.
const SHAPER_RATE_RATIO: f64 =
    f64::midpoint(threshold::SHAPER_RATE_RATIO[0], threshold::SHAPER_RATE_RATIO[1]);
/// Time after which BBR measures its minimum round-trip time again, in seconds
/// (draft-ietf-ccwg-bbr, `MinRTTFilterLen`).
const MIN_RTT_FILTER_S: f64 = 10.0;
/// Initial window in packets (RFC 6928, section 2).
const INITIAL_WINDOW: f64 = 10.0;
/// A shaper helps a line that is still bloated behind it if it lowers delay to this share.
const MUCH_LESS: f64 = 0.2;
/// Below this share of the mean rate, a shaper costs more throughput than a household accepts.
const MIN_RATE_RATIO: f64 = 0.75;

/// What to do about the queues of a bloated phase, whose delay is in the direction `place` if that
/// is known. If a direction was loaded alone, the phase with both does not count for it. None where
/// others fill a queue, because the rate of the link is unknown then, and where packets only waited
/// for the end of an outage.
pub(super) fn remedies(view: &View<'_>, rise: &Rise<'_>, place: Option<Direction>) -> Vec<Remedy> {
    let had_outage = || !outages(view, rise).is_empty();
    if rise.has_other_traffic || (rise.p50() < threshold::BLOATED_P50_S && had_outage()) {
        return Vec::new();
    }
    let is_here = |direction: &Direction| {
        place.is_none_or(|place| place == *direction)
            && view.rise_of(*direction).is_some_and(|r| r.phase.kind == rise.phase.kind)
    };
    let loaded = rise.phase.kind.loads().iter().copied().filter(is_here);
    loaded.filter_map(|direction| remedy(view, rise, direction)).collect()
}

fn remedy(view: &View<'_>, rise: &Rise<'_>, direction: Direction) -> Option<Remedy> {
    let capacity = capacity(view, direction, rise)?;
    // Datagrams have no windows; other loads do, but how many flows they have is unknown.
    let flows =
        rise.phase.load.as_ref().map_or(0, |load| if view.has_datagrams() { 0 } else { load.flows_down });
    if let Some(cause) = limit(rise, direction, &capacity, flows) {
        return Some(Remedy::DoNotShape { direction, cause });
    }
    // If the load did not fill the link all the time, or not alone, its rate is not that of the
    // link. Where each flow has a queue, the load fills the link even if probes do not wait.
    let has_flow_queues = || delay_of_flows(view, direction, rise).and(least_rate(view, direction, rise));
    let is_rarely_full =
        capacity.is_lower_bound && (rise.p50() < threshold::BLOATED_P50_S || has_flow_queues().is_none());
    // The rate may fall again.
    let had_outage = || !outages(view, rise).is_empty();
    if is_rarely_full || local_traffic::is_load_shared(view) || had_outage() {
        return Some(Remedy::shape_at_unknown_rate(Some(direction)));
    }
    let rate_bits_per_second = capacity.lowest_ip_bits_per_second();
    let round_trip_s = rise.idle.p50.value;
    let adapted_after_s = adaptation_s(rise, direction, rate_bits_per_second, view.has_datagrams());
    let shape = Remedy::shape(Some(direction), rate_bits_per_second);
    Some(shape.with_round_trip(round_trip_s).with_adaptation(adapted_after_s))
}

/// Time in seconds that flows over this path take to adapt to a shaper.
///
/// - A flow on the downlink doubles its rate each round trip until it exceeds the shaper, and
///   notices a round trip later. The excess waits in front of the link, and drains by the
///   difference between the rates of the link and the shaper.
/// - If the initial windows of all flows exceed the bandwidth-delay product, no flow of BBR sees
///   the empty path. Each keeps too much in flight until it measures its minimum round-trip time
///   again.
/// - A flow that lost a packet needs a time that grows with its window to reach the rate again.
fn adaptation_s(
    rise: &Rise<'_>,
    direction: Direction,
    rate_bits_per_second: f64,
    has_datagrams: bool,
) -> f64 {
    let Some(load) = rise.phase.load.as_ref().filter(|_| !has_datagrams) else { return 0.0 };
    let round_trip_s = rise.idle.p50.value;
    let flows = if direction == Direction::Up { load.flows_up } else { load.flows_down };
    let window = rate_bits_per_second * round_trip_s / PACKET_BITS / f64::from(flows.max(1));
    let is_bbr = load.congestion_control.starts_with("bbr");
    let start_s = match direction {
        Direction::Up => 0.0,
        Direction::Down if is_bbr && window < INITIAL_WINDOW => MIN_RTT_FILTER_S,
        Direction::Down => {
            let doublings = libm::log2((window / INITIAL_WINDOW).max(1.0));
            (doublings + 1.0 / (1.0 - SHAPER_RATE_RATIO)) * round_trip_s
        }
    };
    let recovery_s = match load.congestion_control.as_str() {
        "reno" => reno_recovery_s(window, round_trip_s),
        _ if is_bbr => 0.0,
        _ => cubic_recovery_s(window, round_trip_s),
    };
    recovery_s.max(start_s)
}

fn limit(rise: &Rise<'_>, direction: Direction, capacity: &Capacity, flows_down: u32) -> Option<ShaperLimit> {
    let rate_bits_per_second = capacity.ip_bits_per_second();
    let packet_s = PACKET_BITS / rate_bits_per_second;
    match direction {
        Direction::Up => {
            let left_s = UP_WAIT_PACKETS * packet_s / SHAPER_RATE_RATIO;
            // Where the rate is known only roughly, it may vary, and the wait with it.
            let is_much_less = left_s <= MUCH_LESS * rise.p50() && !capacity.is_lower_bound;
            let is_helpful = left_s < threshold::BLOATED_P50_S || is_much_less;
            (!is_helpful).then_some(ShaperLimit::SlowLink { rate_bits_per_second, packet_s })
        }
        Direction::Down => {
            let load = rise.phase.load.as_ref()?;
            let window = if load.congestion_control.starts_with("bbr") { MIN_WINDOW_BBR } else { MIN_WINDOW };
            let windows_s = f64::from(flows_down) * window * packet_s;
            let waits_s = DOWN_WAIT_PACKETS * packet_s;
            let left_s = (windows_s - rise.idle.p50.value).max(0.0) + waits_s;
            match () {
                () if left_s < threshold::BLOATED_P50_S => None,
                () if waits_s >= threshold::BLOATED_P50_S => {
                    Some(ShaperLimit::SlowLink { rate_bits_per_second, packet_s })
                }
                () => {
                    Some(ShaperLimit::ManyFlows { flow_count: flows_down, rate_bits_per_second, windows_s })
                }
            }
        }
    }
    .or_else(|| varying(capacity))
}

fn varying(capacity: &Capacity) -> Option<ShaperLimit> {
    let mean_bits_per_second = capacity.ip_bits_per_second();
    let low_ratio = capacity.spread.map_or(1.0, |spread| spread.p10 / spread.mean.max(1.0));
    let low = capacity.lowest_ip_bits_per_second().min(low_ratio * mean_bits_per_second);
    // A rate that changed more than once will go on changing.
    let goes_on = capacity.spans.len() > 2 && rate::is_reported(capacity);
    (goes_on || low < MIN_RATE_RATIO * mean_bits_per_second)
        .then_some(ShaperLimit::VaryingRate { low_bits_per_second: low, mean_bits_per_second })
}
