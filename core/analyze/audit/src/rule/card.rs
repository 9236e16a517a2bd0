//! Queue points 9 to 12: byte queue limits, rings, super-packets and interrupt coalescing.
use super::{Context, SUPER_PACKET, is_noticeable, seconds};
use crate::audited::{AuditedQueue, Severity, Worst};
use crate::facts::{ByteLimits, Interface};
use crate::quote::quoted;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{Caution, HostQueue, Remedy};
use fathom_units::{Bytes, Direction, Duration};

/// A driver with byte queue limits has set a limit after this many bytes.
const COUNTED_BY_NOW: Bytes = Bytes(1_000_000);

/// The shortest ring that keeps a card of up to 1 Gbit/s busy.
const SHORT_RING: u64 = 64;

pub(super) fn queues(context: &Context<'_>, interface: &Interface) -> Vec<AuditedQueue> {
    if !interface.has_ring() {
        return Vec::new();
    }
    let counts = |limits: &ByteLimits| limits.limit > Bytes(0) || interface.sent < COUNTED_BY_NOW;
    let limits = interface.byte_limits.filter(counts);
    let mut queues = Vec::from([match limits {
        Some(limits) => byte_limits(context, interface, limits),
        None => no_byte_limits(context, interface),
    }]);
    queues.extend(ring(context, interface, limits.is_some()));
    queues.extend(offloads(context, interface));
    queues
}

fn byte_limits(context: &Context<'_>, interface: &Interface, limits: ByteLimits) -> AuditedQueue {
    let worst = context.bytes(interface, limits.limit.0);
    let severity = context.severity(interface, worst.as_ref());
    let inflight = context.observed(interface).and_then(|observed| observed.inflight);
    let queue = HostQueue::ByteQueueLimits { limit_bytes: limits.limit.0, max_bytes: limits.limit_max.0 };
    let queue = context.queue(interface, queue).worst(worst).observed(inflight);
    // Without a rate the delay is unknown, but the driver keeps the queue as short as possible.
    if matches!(severity, Severity::None | Severity::Unknown) {
        return queue;
    }
    let bytes = context.rate(interface).map_or(0, |rate| rate.bytes_in(Duration::from_millis(2)).0);
    let file = format!("/sys/class/net/{}/queues/tx-0/byte_queue_limits/limit_max", interface.name);
    let set = |value: u64| format!("echo {value} > {}", quoted(&file));
    queue.severity(severity).command(set(bytes), set(limits.limit_max.0 / interface.tx_queues))
}

fn rings(context: &Context<'_>, interface: &Interface, ring: u64) -> Option<Worst> {
    context.in_driver(interface, ring).map(|worst| worst.times(interface.tx_queues))
}

fn no_byte_limits(context: &Context<'_>, interface: &Interface) -> AuditedQueue {
    let queue = context.queue(
        interface,
        HostQueue::NoByteQueueLimits {
            driver: interface.driver.clone(),
            limit_packets: interface.ring,
            queue_count: interface.tx_queues,
        },
    );
    let Some(ring) = interface.ring else { return queue.severity(Severity::Unknown) };
    let worst = rings(context, interface, ring);
    let severity = context.severity(interface, worst.as_ref());
    let queue = queue.worst(worst).severity(severity);
    if severity == Severity::None {
        return queue;
    }
    queue.remedy(if ring <= SHORT_RING {
        // Behind a shaper the ring never fills.
        Remedy::shape_at_unknown_rate(Some(Direction::Up))
    } else {
        let set = |length: u64| format!("ethtool -G {} tx {length}", quoted(&interface.name));
        Remedy::Run { command: set(SHORT_RING), undo: set(ring), caution: Some(Caution::LinkGoesDown) }
    })
}

fn ring(context: &Context<'_>, interface: &Interface, is_limited: bool) -> Option<AuditedQueue> {
    let ring = interface.ring?;
    let queue = HostQueue::Ring { limit_packets: ring, max_packets: interface.ring_max, is_limited };
    let worst = if is_limited { None } else { rings(context, interface, ring) };
    Some(context.queue(interface, queue).worst(worst))
}

/// A super-packet is sent at once and occupies the next link for its whole length.
fn offloads(context: &Context<'_>, interface: &Interface) -> Option<AuditedQueue> {
    let (has_tso, has_gro) = (interface.has_tso?, interface.has_gro.unwrap_or(false));
    let next_link = context.rates.line().or_else(|| context.rate(interface));
    let worst = next_link.filter(|_| has_tso || has_gro).map(|rate| Worst::bytes(SUPER_PACKET.0, rate));
    let is_long = worst.as_ref().is_some_and(|worst| is_noticeable(&worst.full));
    let queue = context
        .queue(interface, HostQueue::Offloads { has_tso, has_gro })
        .worst(worst)
        .timer(Some(seconds(interface.tx_usecs.unwrap_or(0))));
    if !is_long {
        return Some(queue);
    }
    // Features that are already off stay off after the undo.
    let features = [("tso", has_tso), ("gso", interface.has_gso == Some(true)), ("gro", has_gro)];
    let switch = |state: &str| {
        let words =
            features.iter().filter(|(_, is_on)| *is_on).map(|(feature, _)| format!(" {feature} {state}"));
        format!("ethtool -K {}{}", quoted(&interface.name), words.collect::<String>())
    };
    Some(queue.severity(Severity::Dark).command(switch("off"), switch("on")))
}
