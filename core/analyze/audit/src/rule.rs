//! Rules that find the queue points, one function each.
mod beyond;
mod card;
mod host;
mod link;
mod queue;
mod wifi;

use crate::audited::{AuditedQueue, Severity, Worst};
use crate::facts::{Facts, Interface};
use crate::observed::{Observed, ObservedInterface};
use crate::rates::{KnownRates, Rates};
use alloc::vec::Vec;
use core::cmp::Ordering;
use fathom_run::{HostAudit, HostQueue, InterfaceKind, ObservedSpan, QueueKind, WorstCase, threshold};
use fathom_units::{Bytes, ETHERNET_FULL_FRAME, Rate};

/// Largest Ethernet frame as the kernel counts it, without its checksum.
const FULL_PACKET: Bytes = ETHERNET_FULL_FRAME;

/// Largest super-packet. Source: `GSO_LEGACY_MAX_SIZE`; larger ones have to be enabled (BIG TCP).
const SUPER_PACKET: Bytes = Bytes(65_536);

/// Longest plausible timer in microseconds; drivers can report nonsense.
const MAX_TIMER_US: u64 = 1_000_000_000;

fn seconds(micros: u64) -> f64 {
    micros.min(MAX_TIMER_US) as f64 / 1e6
}

fn is_noticeable(worst: &WorstCase) -> bool {
    worst.delay_s > threshold::MODEST_S
}

/// Result of an audit.
#[derive(Clone, PartialEq, Debug)]
pub struct Audit {
    /// The host and its interfaces.
    pub host: HostAudit,
    /// Queue points, the worst first.
    pub queues: Vec<AuditedQueue>,
}

struct Context<'a> {
    facts: &'a Facts,
    rates: Rates<'a>,
    observed: Option<&'a Observed>,
}

/// Finds all queue points, ordered by severity, then by the ratio of arrival to departure rate,
/// then by delay.
///
/// `observed` contains the observation under load, if there was one.
pub fn audit(facts: &Facts, known: &KnownRates, observed: Option<&Observed>) -> Audit {
    let context = Context { facts, rates: Rates::new(facts, known, observed), observed };
    let mut queues: Vec<AuditedQueue> =
        facts.up().flat_map(|interface| of_interface(&context, interface)).collect();
    queues.extend(host::queues(&context));
    queues.extend(link::stacked(&context));
    queues.extend(beyond::queues(&context));
    queues.sort_by(rank);
    let host = HostAudit {
        host: facts.host.name.clone(),
        kernel: facts.host.kernel.clone(),
        interfaces: context.rates.interfaces(),
        observed: observed.map(|observed| ObservedSpan {
            span_s: observed.span.as_secs_f64(),
            sample_count: observed.samples,
        }),
    };
    Audit { host, queues }
}

fn of_interface(context: &Context<'_>, interface: &Interface) -> Vec<AuditedQueue> {
    let mut queues = queue::queues(context, interface);
    queues.extend(card::queues(context, interface));
    queues.extend(wifi::queues(context, interface));
    queues.extend(link::queues(context, interface));
    // The delay of a super-packet does not depend on the arrival rate.
    for queue in queues.iter_mut().filter(|queue| queue.point.queue.kind() != QueueKind::Offloads) {
        queue.point.arrival_ratio = context.rates.arrival_ratio(interface);
    }
    queues
}

fn rank(a: &AuditedQueue, b: &AuditedQueue) -> Ordering {
    let ratio = |queue: &AuditedQueue| queue.point.arrival_ratio.unwrap_or(0.0);
    let by_severity = b.severity.cmp(&a.severity);
    by_severity
        .then(ratio(b).total_cmp(&ratio(a)))
        .then(b.point.delay_s().total_cmp(&a.point.delay_s()))
        .then(a.point.queue.kind().cmp(&b.point.queue.kind()))
        .then(a.point.interface.cmp(&b.point.interface))
}

impl Context<'_> {
    fn queue(&self, interface: &Interface, queue: HostQueue) -> AuditedQueue {
        AuditedQueue::new(queue, Some(&interface.name))
    }
    fn rate(&self, interface: &Interface) -> Option<Rate> {
        self.rates.of(interface).map(|(rate, _)| rate)
    }
    fn observed(&self, interface: &Interface) -> Option<&ObservedInterface> {
        self.observed?.interface(&interface.name)
    }
    /// Worst case of `count` packets of an interface, with and without super-packets.
    fn packets(&self, interface: &Interface, count: u64) -> Option<Worst> {
        let rate = self.rate(interface)?;
        let super_packets =
            (interface.has_gso != Some(false)).then(|| WorstCase::new(Some(count), SUPER_PACKET, rate));
        Some(Worst { super_packets, ..Worst::packets(count, packet(interface), rate) })
    }
    /// Like `packets`, but with super-packets only if the card segments them.
    fn in_driver(&self, interface: &Interface, count: u64) -> Option<Worst> {
        let worst = self.packets(interface, count)?;
        let has_super_packets = interface.has_tso.unwrap_or(interface.kind == InterfaceKind::Virtio);
        Some(Worst { super_packets: worst.super_packets.filter(|_| has_super_packets), ..worst })
    }
    fn bytes(&self, interface: &Interface, bytes: u64) -> Option<Worst> {
        Some(Worst::bytes(bytes, self.rate(interface)?))
    }
    /// Severity of a queue without AQM.
    fn severity(&self, interface: &Interface, worst: Option<&Worst>) -> Severity {
        match worst {
            None => Severity::Unknown,
            Some(worst) if !is_noticeable(&worst.full) => Severity::None,
            Some(_) if self.rates.is_bottleneck(interface) => Severity::Bad,
            Some(_) => Severity::Dark,
        }
    }
}

/// A full-size packet, with Ethernet header if the interface uses one.
fn packet(interface: &Interface) -> Bytes {
    let is_without_header =
        matches!(interface.kind, InterfaceKind::Tun | InterfaceKind::Wireguard | InterfaceKind::Ppp);
    Bytes(interface.mtu.saturating_add(if is_without_header { 0 } else { 14 }))
}
