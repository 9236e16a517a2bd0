//! Byte queue limits, rings, super-packets and coalescing: places 9 to 12.
use super::{Context, SUPER_PACKET};
use crate::facts::{ByteLimits, Interface};
use crate::place::{Level, Place, Spot, Worst};
use crate::quote::quoted;
use crate::sum::Sum;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_text::bytes;
use fathom_units::{Bytes, Duration};

/// A driver that counts has a limit after so many bytes; one that does not has none.
const COUNTED_BY_NOW: Bytes = Bytes(1_000_000);

/// The shortest ring that still keeps a card of up to 1 Gbit/s busy.
const SHORT_RING: u64 = 64;

pub(super) fn places(context: &Context<'_>, interface: &Interface) -> Vec<Place> {
    if !interface.kind.has_ring() {
        return Vec::new();
    }
    let counts = |limits: &ByteLimits| limits.limit > Bytes(0) || interface.sent < COUNTED_BY_NOW;
    let limits = interface.byte_limits.filter(counts);
    let mut places = match limits {
        Some(limits) => Vec::from([byte_limits(context, interface, limits)]),
        None => Vec::from([no_byte_limits(context, interface)]),
    };
    places.extend(ring(context, interface, limits.is_some()));
    places.extend(offloads(context, interface));
    places
}

fn byte_limits(context: &Context<'_>, interface: &Interface, limits: ByteLimits) -> Place {
    let what = format!("{} now, {} at most", bytes(limits.limit.0 as f64), bytes(limits.limit_max.0 as f64));
    let worst = context.bytes(interface, limits.limit.0);
    let level = context.level(interface, worst.as_ref());
    let inflight =
        context.seen.and_then(|seen| seen.interface(&interface.name)).and_then(|seen| seen.inflight);
    let place = Place::new(Spot::ByteQueueLimits, Some(&interface.name), what).holds(worst).seen(inflight);
    let short = || {
        let bytes = context.rate(interface).map_or(0, |rate| rate.bytes_in(Duration::from_millis(2)).0);
        let file = format!("/sys/class/net/{}/queues/tx-0/byte_queue_limits/limit_max", interface.name);
        let set = |value: u64| format!("echo {value} > {}", quoted(&file));
        (set(bytes), set(limits.limit_max.0 / interface.tx_queues))
    };
    match level {
        // Without a rate there is no time; but the driver keeps it as short as the card allows.
        Level::Quiet | Level::Unknown => place.why("the driver holds no more than the card needs"),
        _ => {
            let (fix, undo) = short();
            place.level(level).why("the limit ran away: a few packets are enough").fix(fix, undo)
        }
    }
}

fn no_byte_limits(context: &Context<'_>, interface: &Interface) -> Place {
    let driver = interface.driver.as_deref().unwrap_or("its driver");
    let place = |what| Place::new(Spot::NoByteQueueLimits, Some(&interface.name), what);
    let Some(ring) = interface.ring else {
        let what = format!("{driver} does not count bytes, and its ring cannot be read");
        return place(what)
            .level(Level::Unknown)
            .why("the ring may hold hundreds of packets: measure it under load");
    };
    let worst = context.in_driver(interface, ring).map(|worst| worst.times(interface.tx_queues));
    let level = context.level(interface, worst.as_ref());
    let found =
        place(format!("{driver} fills {}", rings(interface.tx_queues, ring))).holds(worst).level(level);
    if level == Level::Quiet {
        return found.why("too short to be felt at this rate");
    }
    let why = "no queue discipline reaches what is in the ring already";
    shorter_ring(interface, ring, found.why(why))
}

fn rings(count: u64, packets: u64) -> String {
    if count == 1 {
        format!("its ring of {packets} packets")
    } else {
        format!("its {count} rings of {packets} packets")
    }
}

fn shorter_ring(interface: &Interface, ring: u64, place: Place) -> Place {
    if ring <= SHORT_RING {
        return place.fix("shape a little below the link's rate, so that the ring never fills", "");
    }
    let set = |length: u64| format!("ethtool -G {} tx {length}", quoted(&interface.name));
    place.fix(format!("{} # the link goes down for a moment", set(SHORT_RING)), set(ring))
}

fn ring(context: &Context<'_>, interface: &Interface, has_limits: bool) -> Option<Place> {
    let ring = interface.ring?;
    let most = interface.ring_max.map_or_else(|| "?".to_string(), |most| most.to_string());
    let place = Place::new(Spot::Ring, Some(&interface.name), format!("{ring} packets of at most {most}"));
    Some(if has_limits {
        place.why("byte queue limits keep it short")
    } else {
        let worst = context.in_driver(interface, ring).map(|worst| worst.times(interface.tx_queues));
        place.holds(worst).why("told of above: nothing keeps it short")
    })
}

/// A super-packet leaves at once, and holds up the next hop for its whole length.
fn offloads(context: &Context<'_>, interface: &Interface) -> Option<Place> {
    let (supers, gro) = (interface.has_tso?, interface.has_gro.unwrap_or(false));
    let on = |is_on| if is_on { "on" } else { "off" };
    let timer = Duration::from_micros(interface.tx_usecs.unwrap_or(0).min(1_000_000_000));
    let what = format!("TSO {}, GRO {}, {} us of coalescing", on(supers), on(gro), timer.as_nanos() / 1_000);
    let next_hop = context.rates.line().or_else(|| context.rate(interface));
    let worst = next_hop
        .filter(|_| supers || gro)
        .map(|rate| Worst { sum: Sum::bytes(SUPER_PACKET, rate), super_packets: None });
    let is_long = worst.as_ref().is_some_and(|worst| worst.sum.delay() > super::FELT);
    let place = Place::new(Spot::Offloads, Some(&interface.name), what).holds(worst);
    let place = Place { timer: Some(timer), ..place };
    let name = quoted(&interface.name);
    // What is off stays off when it is taken back.
    let features = [("tso", supers), ("gso", interface.has_gso == Some(true)), ("gro", gro)];
    let switch = |state: &str| {
        let words =
            features.iter().filter(|(_, is_on)| *is_on).map(|(feature, _)| format!(" {feature} {state}"));
        format!("ethtool -K {name}{}", words.collect::<String>())
    };
    Some(if is_long {
        place
            .level(Level::Dark)
            .why("one super-packet of 64 KiB holds up the line so long; CAKE splits them by itself")
            .fix(switch("off"), switch("on"))
    } else {
        place.why("a super-packet takes no time worth mentioning at this rate")
    })
}
