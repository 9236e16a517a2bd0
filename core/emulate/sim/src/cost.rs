//! Estimates the cost of a simulation before it runs.
use fathom_link::BottleneckParams;
use fathom_scenario::Plan;
use fathom_units::{ETHERNET_FULL_FRAME, Rate};

/// A full Ethernet frame, in bits.
const PACKET_BITS: f64 = (ETHERNET_FULL_FRAME.get() * 8) as f64;
/// Every second packet is acknowledged.
const WITH_ACKS: f64 = 1.5;
/// Assumed rate of a line without any rate limit.
const UNLIMITED: Rate = Rate::from_bits_per_second(10_000_000_000);

/// An upper bound of the packets that `plan` sends: both directions full during the whole load.
pub fn packets(plan: &Plan) -> f64 {
    let narrowest = |side: fn(&fathom_scenario::HopPlan) -> &BottleneckParams| {
        let rates = plan.line.hops.iter().filter_map(|hop| side(hop).nominal_rate());
        rates.min().unwrap_or(UNLIMITED).as_bits_per_second() as f64
    };
    let both = narrowest(|hop| &hop.up) + narrowest(|hop| &hop.down);
    both * plan.run.duration.as_secs_f64() / PACKET_BITS * WITH_ACKS
}
