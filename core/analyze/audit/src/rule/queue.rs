//! Queue points 6, 7, 8 and 20: queue disciplines, their limits, txqueuelen, ifb.
use super::{Context, packet};
use crate::audited::{AuditedQueue, Severity, Worst};
use crate::facts::{Interface, Qdisc};
use crate::quote::quoted;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::{HostQueue, InterfaceKind, QdiscClass, Remedy};

/// Default packet limit of fq_codel. Source: `fq_codel_init`, 10 * 1024.
const FQ_CODEL_LIMIT: u64 = 10_240;

/// A longer AQM limit is reported, because unresponsive traffic can fill it.
const LONG_LIMIT_S: f64 = 1.0;

/// Queue disciplines that keep the delay near a target.
const AQM: [&str; 10] =
    ["fq_codel", "cake", "cake_mq", "codel", "fq_pie", "pie", "dualpi2", "sfb", "red", "choke"];
/// Queue disciplines that isolate flows without limiting the delay of each.
const FAIR: [&str; 2] = ["fq", "sfq"];

fn class(qdisc: &str) -> QdiscClass {
    match qdisc {
        aqm if AQM.contains(&aqm) => QdiscClass::Aqm,
        fair if FAIR.contains(&fair) => QdiscClass::FairQueueing,
        _ => QdiscClass::Fifo,
    }
}

enum Attached<'a> {
    /// No packets can queue.
    None,
    /// One of several identical ones, and their number.
    Read(&'a Qdisc, u64),
    /// Not read; the kernel's default.
    Default(String),
}

pub(super) fn queues(context: &Context<'_>, interface: &Interface) -> Vec<AuditedQueue> {
    let mut queues = Vec::new();
    let attached = attached(context, interface);
    for one in &attached {
        queues.extend(discipline(context, interface, one));
        queues.extend(limit(context, interface, one));
    }
    queues.extend(tx_queue_len(context, interface, &attached));
    queues
}

/// Queue disciplines are identical if these match.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Alike<'a> {
    kind: &'a str,
    limit_packets: Option<u64>,
    limit_bytes: Option<u64>,
}

/// The leaf queue disciplines; identical ones once with their number.
fn attached<'a>(context: &Context<'_>, interface: &'a Interface) -> Vec<Attached<'a>> {
    if interface.qdiscs.is_empty() {
        return by_default(context, interface);
    }
    let mut kinds: BTreeMap<Alike<'_>, (&Qdisc, u64)> = BTreeMap::new();
    for leaf in
        interface.qdiscs.iter().filter(|q| !q.has_children && q.kind != "ingress" && q.kind != "clsact")
    {
        let key =
            Alike { kind: &leaf.kind, limit_packets: leaf.limit_packets, limit_bytes: leaf.limit_bytes };
        kinds.entry(key).or_insert((leaf, 0)).1 += 1;
    }
    let read = |(leaf, count): (&'a Qdisc, u64)| match leaf.kind.as_str() {
        "noqueue" => Attached::None,
        _ => Attached::Read(leaf, count),
    };
    kinds.into_values().map(read).collect()
}

fn by_default<'a>(context: &Context<'_>, interface: &Interface) -> Vec<Attached<'a>> {
    if !has_tx_queue_len(interface) {
        return Vec::from([Attached::None]);
    }
    let kind = context.facts.host.default_qdisc.clone().unwrap_or_else(|| "pfifo_fast".to_string());
    Vec::from([Attached::Default(kind)])
}

impl Attached<'_> {
    fn kind(&self) -> &str {
        match self {
            Attached::None => "noqueue",
            Attached::Read(qdisc, _) => &qdisc.kind,
            Attached::Default(kind) => kind,
        }
    }
    /// Number of queues; by default one for each transmit queue of the card.
    fn count(&self, interface: &Interface) -> u64 {
        match self {
            Attached::Read(_, count) => *count,
            _ => interface.tx_queues,
        }
    }
    fn read(&self) -> Option<&Qdisc> {
        if let Attached::Read(qdisc, _) = self { Some(qdisc) } else { None }
    }
    fn packets(&self, interface: &Interface) -> u64 {
        self.read().and_then(|qdisc| qdisc.limit_packets).unwrap_or(interface.tx_queue_len)
    }
    fn bytes(&self) -> Option<u64> {
        self.read()?.limit_bytes
    }
}

fn discipline(context: &Context<'_>, interface: &Interface, one: &Attached<'_>) -> Option<AuditedQueue> {
    if matches!(one, Attached::None) {
        return None;
    }
    let (class, queue_count) = (class(one.kind()), one.count(interface));
    // The limit of an AQM or of fair queueing is a separate queue point, not the delay of a flow.
    let (limit_packets, limit_bytes) = match (class, one.bytes()) {
        (QdiscClass::Aqm | QdiscClass::FairQueueing, _) => (None, None),
        (QdiscClass::Fifo, Some(bytes)) => (None, Some(bytes)),
        (QdiscClass::Fifo, None) => (Some(one.packets(interface)), None),
    };
    let worst = limit_bytes
        .and_then(|bytes| context.bytes(interface, bytes))
        .or_else(|| context.packets(interface, limit_packets?))
        .map(|worst| worst.times(queue_count));
    let severity = match class {
        QdiscClass::Fifo if interface.kind != InterfaceKind::Ifb => {
            context.severity(interface, worst.as_ref())
        }
        _ => Severity::None,
    };
    let queue = HostQueue::Qdisc {
        qdisc: one.kind().into(),
        class,
        queue_count,
        is_assumed: matches!(one, Attached::Default(_)),
        limit_packets,
        limit_bytes,
    };
    let queue = context.queue(interface, queue).worst(worst).severity(severity);
    let queue = if class == QdiscClass::FairQueueing {
        queue
    } else {
        queue.observed(context.observed(interface).and_then(|observed| observed.backlog))
    };
    Some(if severity == Severity::None { queue } else { queue.remedy(replacement(context, interface, one)) })
}

fn run(command: String, undo: String) -> Remedy {
    Remedy::Run { command, undo, caution: None }
}

/// Replaces the queue discipline by fq_codel; for multiple transmit queues, with a new root.
fn replacement(context: &Context<'_>, interface: &Interface, one: &Attached<'_>) -> Remedy {
    let name = quoted(&interface.name);
    let root = interface.qdiscs.iter().find(|qdisc| qdisc.is_root());
    let default = context.facts.host.default_qdisc.as_deref().unwrap_or("pfifo_fast");
    let is_multi = root.map_or(interface.tx_queues > 1, |root| root.kind == "mq");
    if is_multi {
        return with_new_default(&name, root, default);
    }
    if let Some(tbf) = root.filter(|root| root.kind == "tbf" && !root.has_children) {
        return in_tbf(&name, tbf);
    }
    if root.is_some_and(|root| root.has_children || root.rate.is_some()) {
        return in_leaf(interface, one);
    }
    let fix = format!("tc qdisc replace dev {name} root fq_codel");
    match one {
        Attached::Read(qdisc, _) if qdisc.kind != default => {
            run(fix, format!("tc qdisc replace dev {name} root {}", as_set(qdisc)))
        }
        _ => run(fix, format!("tc qdisc del dev {name} root")),
    }
}

/// A new root of the same kind creates its leaves by the current default. It needs another handle,
/// because `tc` leaves a root with the same handle unchanged.
fn with_new_default(name: &str, root: Option<&Qdisc>, default: &str) -> Remedy {
    let sysctl = |kind: &str| format!("sysctl -w net.core.default_qdisc={}", quoted(kind));
    let number = root.map_or(0, |root| root.handle);
    let other = if number == 0xfa { 0xfb } else { 0xfa };
    let put = |handle: u32| format!("tc qdisc replace dev {name} root handle {handle:x}: mq");
    let back = if number == 0 { format!("tc qdisc del dev {name} root") } else { put(number) };
    run(format!("{} && {}", sysctl("fq_codel"), put(other)), format!("{} && {back}", sysctl(default)))
}

/// Replaces the leaf of a class, if there is only one.
fn in_leaf(interface: &Interface, one: &Attached<'_>) -> Remedy {
    if let Attached::Read(leaf, 1) = one
        && let (Some(parent), Some(class)) = (leaf.parent, leaf.class)
    {
        let name = quoted(&interface.name);
        let put = |queue: &str| format!("tc qdisc replace dev {name} parent {parent:x}:{class:x} {queue}");
        return run(put("fq_codel"), put(&as_set(leaf)));
    }
    Remedy::ReplaceLeafQdiscs { interface: interface.name.clone(), qdisc: one.kind().into() }
}

/// The inner queue of tbf is a bfifo with its limit.
fn in_tbf(name: &str, tbf: &Qdisc) -> Remedy {
    let put = |queue: &str| format!("tc qdisc replace dev {name} parent {:x}:1 {queue}", tbf.handle);
    let own = tbf.limit_bytes.map_or_else(|| "bfifo".to_string(), |bytes| format!("bfifo limit {bytes}b"));
    run(put("fq_codel"), put(&own))
}

/// Kind and limit in the syntax of tc.
fn as_set(qdisc: &Qdisc) -> String {
    let limit = match (qdisc.limit_packets, qdisc.limit_bytes) {
        (Some(packets), _) => format!(" limit {packets}"),
        (None, Some(bytes)) => format!(" limit {bytes}b"),
        _ => String::new(),
    };
    format!("{}{limit}", quoted(&qdisc.kind))
}

/// Worst case of an AQM queue with unresponsive traffic.
fn limit(context: &Context<'_>, interface: &Interface, one: &Attached<'_>) -> Option<AuditedQueue> {
    if class(one.kind()) != QdiscClass::Aqm {
        return None;
    }
    let rate = context.rate(interface)?;
    let read = one.read().map(|qdisc| (qdisc.limit_packets, qdisc.limit_bytes));
    let (worst, limit_packets, limit_bytes) = match read {
        Some((Some(packets), _)) => (Worst::packets(packets, packet(interface), rate), Some(packets), None),
        Some((None, Some(bytes))) => (Worst::bytes(bytes, rate), None, Some(bytes)),
        _ if one.kind() == "fq_codel" => {
            (Worst::packets(FQ_CODEL_LIMIT, packet(interface), rate), Some(FQ_CODEL_LIMIT), None)
        }
        _ => return None,
    };
    let queue = HostQueue::QdiscLimit { qdisc: one.kind().into(), limit_packets, limit_bytes };
    let queue = context.queue(interface, queue).worst(Some(worst));
    if queue.point.delay_s() <= LONG_LIMIT_S {
        return Some(queue);
    }
    let queue = queue.severity(Severity::Dark);
    let is_root = matches!(one, Attached::Read(qdisc, 1) if qdisc.is_root());
    if !is_root || one.kind() != "fq_codel" {
        return Some(queue);
    }
    let name = quoted(&interface.name);
    let put = |limit: u64| format!("tc qdisc replace dev {name} root fq_codel limit {limit}");
    // A default queue discipline returns when its replacement is deleted.
    let is_own = matches!(one, Attached::Read(Qdisc { handle: 0, .. }, _));
    let undo = if is_own { format!("tc qdisc del dev {name} root") } else { put(one.packets(interface)) };
    Some(queue.command(put(1000), undo))
}

/// Whether queue disciplines use the interface's `txqueuelen`. Wi-Fi uses mac80211 queues instead,
/// and with length 0 the kernel attaches no queue (`attach_one_default_qdisc`).
fn has_tx_queue_len(interface: &Interface) -> bool {
    interface.tx_queue_len > 0 && !interface.is_queueless() && interface.kind != InterfaceKind::Wifi
}

fn tx_queue_len(
    context: &Context<'_>,
    interface: &Interface,
    attached: &[Attached<'_>],
) -> Option<AuditedQueue> {
    let is_used = attached.iter().any(|one| one.kind().starts_with("pfifo"));
    let limit_packets = interface.tx_queue_len;
    has_tx_queue_len(interface).then(|| {
        context.queue(
            interface,
            match interface.kind {
                InterfaceKind::Ifb => HostQueue::Ifb { limit_packets, is_used },
                _ => HostQueue::TxQueueLen { limit_packets, is_used },
            },
        )
    })
}
