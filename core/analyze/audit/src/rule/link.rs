//! Tunnels, PPP, stacked interfaces, modems, guests: places 16 to 19, 21, 22.
use super::{Context, FULL_PACKET};
use crate::facts::{Interface, Kind};
use crate::place::{Level, Place, Spot};
use crate::quote::quoted;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_text::bytes;
use fathom_units::Duration;

/// Packets that WireGuard queues for encryption. Source: `MAX_QUEUED_PACKETS`, drivers/net/wireguard/messages.h.
const WIREGUARD_QUEUE: u64 = 1_024;

/// Packets of usbnet, by USB's speed in Mbit/s. Source: `usbnet_update_max_qlen`: 60 x 1518 bytes on high speed, five
/// times that on super speed, else 4.
const fn usb_queue(speed_mbit: u64) -> u64 {
    match speed_mbit {
        5_000.. => 300,
        480.. => 60,
        _ => 4,
    }
}

pub(super) fn places(context: &Context<'_>, interface: &Interface) -> Vec<Place> {
    let one = match interface.kind {
        Kind::Tun => tunnel(context, interface),
        Kind::Tap => tap(context, interface),
        Kind::WireGuard => wireguard(context, interface),
        Kind::Ppp => ppp(context, interface),
        Kind::Usb => modem(context, interface),
        Kind::Virtio => guest(interface),
        _ => return Vec::new(),
    };
    Vec::from([one])
}

fn tunnel(context: &Context<'_>, interface: &Interface) -> Place {
    let worst = context.packets(interface, interface.tx_queue_len);
    let level = context.level(interface, worst.as_ref());
    let place = Place::new(
        Spot::Tunnel,
        Some(&interface.name),
        format!("{} packets to a program", interface.tx_queue_len),
    )
    .holds(worst)
    .level(level)
    .why("it fills where the program is slower than the line; else the queue is on the interface below");
    let name = quoted(&interface.name);
    let set = |length: u64| format!("ip link set dev {name} txqueuelen {length}");
    if level == Level::Quiet { place } else { place.fix(set(50), set(interface.tx_queue_len)) }
}

fn tap(context: &Context<'_>, interface: &Interface) -> Place {
    let what = format!("{} packets to a virtual machine or a program", interface.tx_queue_len);
    let place = Place::new(Spot::Guest, Some(&interface.name), what)
        .holds(context.packets(interface, interface.tx_queue_len))
        .why("the guest's ring and its own queues come on top: run the audit in the guest too");
    let is_fifo = interface.qdiscs.iter().any(|qdisc| qdisc.kind.starts_with("pfifo"));
    let name = quoted(&interface.name);
    let (fix, undo) =
        (format!("tc qdisc replace dev {name} root fq_codel"), format!("tc qdisc del dev {name} root"));
    if is_fifo { place.fix(fix, undo) } else { place }
}

fn wireguard(context: &Context<'_>, interface: &Interface) -> Place {
    Place::new(Spot::WireGuard, Some(&interface.name), format!("{WIREGUARD_QUEUE} packets for encryption, 128 a peer before"))
        .holds(context.packets(interface, WIREGUARD_QUEUE))
        .why("it fills only where encryption is slower than the line; shape the interface below, with 60 bytes of overhead (IPv6: 80)")
}

fn ppp(context: &Context<'_>, interface: &Interface) -> Place {
    Place::new(
        Spot::Pppoe,
        Some(&interface.name),
        format!("{} packets, none where PPPoE sends at once", interface.tx_queue_len),
    )
    .holds(context.packets(interface, interface.tx_queue_len))
    .why("attach a shaper here, not below; PPPoE adds 8 bytes")
}

fn modem(context: &Context<'_>, interface: &Interface) -> Place {
    let packets = usb_queue(interface.usb_speed_mbit.unwrap_or(480));
    let coalesced =
        interface.ncm_tx_max.map_or_else(String::new, |most| format!(", bundles of {}", bytes(most as f64)));
    let what = format!(
        "{packets} packets of {} bytes in usbnet{coalesced}; its firmware cannot be read",
        FULL_PACKET.0
    );
    let worst = context.in_driver(interface, packets);
    let level = context.level(interface, worst.as_ref()).max(Level::Unknown);
    let timer = interface.ncm_timer_us.map(|us| Duration::from_micros(us.min(1_000_000_000)));
    let place = Place { timer, ..Place::new(Spot::Modem, Some(&interface.name), what) };
    place
        .holds(worst)
        .level(level)
        .why("mobile modems hold megabytes: seconds, minutes were seen. Measure it: fathom test")
        .fix("shape below the rate of the radio", "")
}

fn guest(interface: &Interface) -> Place {
    Place::new(
        Spot::Guest,
        Some(&interface.name),
        "a guest's card: the host below has a tap, a queue discipline and a card of its own",
    )
    .why("what is found here comes on top of what is there: run the audit on the host below too")
}

/// Those that hand packets on at once, in one line.
pub(super) fn stacked(context: &Context<'_>) -> Option<Place> {
    let mut kinds: BTreeMap<Kind, Vec<&str>> = BTreeMap::new();
    let without = context.facts.up().filter(|i| !i.has_queue() && i.kind != Kind::WireGuard);
    for interface in without {
        kinds.entry(interface.kind).or_default().push(&interface.name);
    }
    if kinds.is_empty() {
        return None;
    }
    let words = |(kind, names): (&Kind, &Vec<&str>)| match names[..] {
        [one] => format!("{} {one}", kind.name()),
        [first, .., last] => format!("{} {} ({first} to {last})", names.len(), kind.name()),
        [] => String::new(),
    };
    let what = kinds.iter().map(words).collect::<Vec<_>>().join(", ");
    Some(
        Place::new(Spot::Stacked, None, what)
            .why("no queue of their own: packets go on at once to the interface below"),
    )
}
