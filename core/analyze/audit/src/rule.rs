//! The places, one function each.
mod beyond;
mod card;
mod host;
mod link;
mod queue;
mod wifi;

use crate::facts::{Facts, Interface};
use crate::place::{Level, Place, Spot, Worst};
use crate::rates::{Asked, Rates};
use crate::seen::Seen;
use crate::sum::Sum;
use alloc::vec::Vec;
use core::cmp::Ordering;
use fathom_units::{Bytes, Duration, ETHERNET_FULL_FRAME, Rate};

/// A delay that nobody notices: a game's.
const FELT: Duration = Duration::from_millis(20);

/// Ethernet's largest frame as the kernel counts it, without its checksum.
const FULL_PACKET: Bytes = ETHERNET_FULL_FRAME;

/// The largest super-packet. Source: `GSO_LEGACY_MAX_SIZE`; more has to be switched on (BIG TCP).
const SUPER_PACKET: Bytes = Bytes(65_536);

/// What every place is judged by.
struct Context<'a> {
    facts: &'a Facts,
    rates: Rates<'a>,
    seen: Option<&'a Seen>,
}

/// Finds every place, worst first: by level, then by how much faster packets can come than they go, then by delay.
///
/// `seen` is what was seen while the host was loaded; without it no place has an observation.
pub fn audit(facts: &Facts, asked: &Asked, seen: Option<&Seen>) -> Vec<Place> {
    let context = Context { facts, rates: Rates::new(facts, asked, seen), seen };
    let mut places: Vec<Place> = facts.up().flat_map(|interface| of_interface(&context, interface)).collect();
    places.extend(host::places(&context));
    places.extend(link::stacked(&context));
    places.extend(beyond::places(&context));
    places.sort_by(rank);
    places
}

fn of_interface(context: &Context<'_>, interface: &Interface) -> Vec<Place> {
    let mut places = queue::places(context, interface);
    places.extend(card::places(context, interface));
    places.extend(wifi::places(context, interface));
    places.extend(link::places(context, interface));
    // What leaves as one piece is no matter of what arrives.
    for place in places.iter_mut().filter(|place| place.spot != Spot::Offloads) {
        place.mismatch = context.rates.mismatch(interface);
    }
    places
}

fn rank(a: &Place, b: &Place) -> Ordering {
    let mismatch = |place: &Place| place.mismatch.unwrap_or(0.0);
    let by_level = b.level.cmp(&a.level);
    by_level
        .then(mismatch(b).total_cmp(&mismatch(a)))
        .then(b.delay().cmp(&a.delay()))
        .then(a.spot.cmp(&b.spot))
        .then(a.object.cmp(&b.object))
}

impl Context<'_> {
    fn rate(&self, interface: &Interface) -> Option<Rate> {
        self.rates.of(interface).map(|(rate, _)| rate)
    }
    /// So many packets of an interface, with and without super-packets.
    fn packets(&self, interface: &Interface, count: u64) -> Option<Worst> {
        let rate = self.rate(interface)?;
        let supers = interface.has_gso != Some(false);
        Some(Worst {
            sum: Sum::packets(count, packet(interface), rate),
            super_packets: supers.then(|| Sum::packets(count, SUPER_PACKET, rate)),
        })
    }
    /// So many packets of the driver, which meets super-packets only if the card cuts them.
    fn in_driver(&self, interface: &Interface, count: u64) -> Option<Worst> {
        let worst = self.packets(interface, count)?;
        let meets = interface.has_tso.unwrap_or(interface.kind == crate::facts::Kind::Virtio);
        Some(Worst { super_packets: worst.super_packets.filter(|_| meets), ..worst })
    }
    fn bytes(&self, interface: &Interface, bytes: u64) -> Option<Worst> {
        Some(Worst { sum: Sum::bytes(Bytes(bytes), self.rate(interface)?), super_packets: None })
    }
    /// The level of a queue that nothing manages.
    fn level(&self, interface: &Interface, worst: Option<&Worst>) -> Level {
        let Some(worst) = worst else { return Level::Unknown };
        let is_felt = worst.sum.delay() > FELT;
        let is_bottleneck = self.rates.is_bottleneck(interface);
        match (is_felt, is_bottleneck) {
            (false, _) => Level::Quiet,
            (true, false) => Level::Dark,
            (true, true) => Level::Bad,
        }
    }
}

/// A full packet, with an Ethernet header where the interface has one.
fn packet(interface: &Interface) -> Bytes {
    use crate::facts::Kind;
    let header = if matches!(interface.kind, Kind::Tun | Kind::WireGuard | Kind::Ppp) { 0 } else { 14 };
    Bytes(interface.mtu.saturating_add(header))
}
