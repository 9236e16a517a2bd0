//! What a simulation will cost, before it is run.
use fathom_link::BottleneckParams;
use fathom_scenario::Plan;
use fathom_units::{ETHERNET_FULL_FRAME, Rate};

/// A full packet on Ethernet, in bits.
const PACKET_BITS: f64 = (ETHERNET_FULL_FRAME.get() * 8) as f64;
/// Every second packet is answered by an acknowledgement.
const WITH_ACKS: f64 = 1.5;
/// A line without any rate is as fast as its ends; this is what is reckoned with.
const UNLIMITED: Rate = Rate::from_bits_per_second(10_000_000_000);

/// The most packets that `plan` can send through its line: both ways full for the whole load. Most send fewer.
pub fn packets(plan: &Plan) -> f64 {
    let narrowest = |side: fn(&fathom_scenario::HopPlan) -> &BottleneckParams| {
        let rates = plan.line.hops.iter().filter_map(|hop| side(hop).nominal_rate());
        rates.min().unwrap_or(UNLIMITED).as_bits_per_second() as f64
    };
    let both = narrowest(|hop| &hop.up) + narrowest(|hop| &hop.down);
    both * plan.run.duration.as_secs_f64() / PACKET_BITS * WITH_ACKS
}
