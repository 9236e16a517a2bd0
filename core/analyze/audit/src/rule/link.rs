//! Queue points 16 to 19, 21 and 22: tunnels, PPP, stacked interfaces, modems, virtual machines.
use super::{Context, FULL_PACKET, seconds};
use crate::audited::{AuditedQueue, Severity};
use crate::facts::Interface;
use crate::quote::quoted;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{HostQueue, InterfaceGroup, InterfaceKind, Remedy};
use fathom_units::Direction;

/// Packets that WireGuard queues for encryption. Source: `MAX_QUEUED_PACKETS`,
/// drivers/net/wireguard/messages.h.
const WIREGUARD_QUEUE: u64 = 1_024;

/// Packets that WireGuard stages per peer before that. Source: `MAX_STAGED_PACKETS`, same file.
const WIREGUARD_PEER_QUEUE: u64 = 128;

/// Packets that usbnet queues, by USB speed in Mbit/s. Source: `usbnet_update_max_qlen`: 60 x 1518
/// bytes at high speed, five times as much at super speed, otherwise 4 packets.
const fn usb_queue(speed_mbit: u64) -> u64 {
    match speed_mbit {
        5_000.. => 300,
        480.. => 60,
        _ => 4,
    }
}

pub(super) fn queues(context: &Context<'_>, interface: &Interface) -> Option<AuditedQueue> {
    match interface.kind {
        InterfaceKind::Tun => Some(tunnel(context, interface)),
        InterfaceKind::Tap => Some(tap(context, interface)),
        InterfaceKind::Wireguard => {
            let (limit_packets, peer_limit_packets) = (WIREGUARD_QUEUE, WIREGUARD_PEER_QUEUE);
            let queue = HostQueue::Wireguard { limit_packets, peer_limit_packets };
            Some(context.queue(interface, queue).worst(context.packets(interface, limit_packets)))
        }
        InterfaceKind::Ppp => {
            let limit_packets = interface.tx_queue_len;
            let worst = context.packets(interface, limit_packets);
            Some(context.queue(interface, HostQueue::Ppp { limit_packets }).worst(worst))
        }
        InterfaceKind::Usb => Some(modem(context, interface)),
        InterfaceKind::Virtio => {
            Some(context.queue(interface, HostQueue::VirtualMachine { limit_packets: None }))
        }
        _ => None,
    }
}

fn tunnel(context: &Context<'_>, interface: &Interface) -> AuditedQueue {
    let limit_packets = interface.tx_queue_len;
    let worst = context.packets(interface, limit_packets);
    let severity = context.severity(interface, worst.as_ref());
    let queue = context.queue(interface, HostQueue::Tunnel { limit_packets }).worst(worst).severity(severity);
    let name = quoted(&interface.name);
    let set = |length: u64| format!("ip link set dev {name} txqueuelen {length}");
    if severity == Severity::None { queue } else { queue.command(set(50), set(limit_packets)) }
}

fn tap(context: &Context<'_>, interface: &Interface) -> AuditedQueue {
    let limit_packets = interface.tx_queue_len;
    let queue = context
        .queue(interface, HostQueue::VirtualMachine { limit_packets: Some(limit_packets) })
        .worst(context.packets(interface, limit_packets));
    if !interface.qdiscs.iter().any(|qdisc| qdisc.kind.starts_with("pfifo")) {
        return queue;
    }
    let name = quoted(&interface.name);
    queue.command(
        format!("tc qdisc replace dev {name} root fq_codel"),
        format!("tc qdisc del dev {name} root"),
    )
}

fn modem(context: &Context<'_>, interface: &Interface) -> AuditedQueue {
    let limit_packets = usb_queue(interface.usb_speed_mbit.unwrap_or(480));
    let worst = context.in_driver(interface, limit_packets);
    // The modem's firmware has its own queue, which cannot be read.
    let severity = context.severity(interface, worst.as_ref()).max(Severity::Unknown);
    let (packet_bytes, bundle_bytes) = (FULL_PACKET.0, interface.ncm_tx_max);
    context
        .queue(interface, HostQueue::Modem { limit_packets, packet_bytes, bundle_bytes })
        .worst(worst)
        .timer(interface.ncm_timer_us.map(seconds))
        .severity(severity)
        .remedy(Remedy::shape_at_unknown_rate(Some(Direction::Up)))
}

/// Interfaces that forward packets at once, by type.
pub(super) fn stacked(context: &Context<'_>) -> Option<AuditedQueue> {
    let mut kinds: BTreeMap<InterfaceKind, Vec<String>> = BTreeMap::new();
    let is_stacked = |i: &&Interface| !i.has_queue() && i.kind != InterfaceKind::Wireguard;
    for interface in context.facts.up().filter(is_stacked) {
        kinds.entry(interface.kind).or_default().push(interface.name.clone());
    }
    let interfaces: Vec<InterfaceGroup> =
        kinds.into_iter().map(|(kind, names)| InterfaceGroup { kind, names }).collect();
    (!interfaces.is_empty()).then(|| AuditedQueue::new(HostQueue::Stacked { interfaces }, None))
}
