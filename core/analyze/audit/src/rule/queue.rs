//! Queue disciplines, their limits, txqueuelen, ifb: places 6, 7, 8, 20.
use super::Context;
use crate::facts::{Interface, Kind, Qdisc};
use crate::place::{Level, Place, Spot, Worst};
use crate::quote::quoted;
use crate::sum::Sum;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration};

/// Packets that fq_codel holds unless told otherwise. Source: `fq_codel_init`, 10 * 1024.
const FQ_CODEL_LIMIT: u64 = 10_240;

/// From here on, the limit of a managed queue is worth a word: it is what a flood meets.
const LONG_LIMIT: Duration = Duration::from_secs(1);

/// They keep their delay near a target.
const MANAGED: [&str; 10] =
    ["fq_codel", "cake", "cake_mq", "codel", "fq_pie", "pie", "dualpi2", "sfb", "red", "choke"];
/// They keep flows apart, and hold no delay.
const FAIR: [&str; 2] = ["fq", "sfq"];

/// What hangs on an interface.
enum Attached<'a> {
    /// Nothing queues.
    None,
    /// Alike ones, by kind.
    Read(&'a Qdisc, u64),
    /// Not read: the one that the kernel gives by default.
    Default(String),
}

pub(super) fn places(context: &Context<'_>, interface: &Interface) -> Vec<Place> {
    let mut places = Vec::new();
    let attached = attached(context, interface);
    for one in &attached {
        places.extend(discipline(context, interface, one));
        places.extend(limit(context, interface, one));
    }
    places.extend(tx_queue_len(interface, &attached));
    places
}

/// Kind and limits: what makes two alike.
type Like<'a> = (&'a str, Option<u64>, Option<u64>);

/// The leaves, each kind once with its number.
fn attached<'a>(context: &Context<'_>, interface: &'a Interface) -> Vec<Attached<'a>> {
    if interface.qdiscs.is_empty() {
        return by_default(context, interface);
    }
    let mut kinds: BTreeMap<Like<'_>, (&Qdisc, u64)> = BTreeMap::new();
    for leaf in
        interface.qdiscs.iter().filter(|q| !q.has_children && q.kind != "ingress" && q.kind != "clsact")
    {
        let key = (leaf.kind.as_str(), leaf.limit_packets, leaf.limit_bytes);
        kinds.entry(key).or_insert((leaf, 0)).1 += 1;
    }
    let read = |(leaf, count): (&'a Qdisc, u64)| match leaf.kind.as_str() {
        "noqueue" => Attached::None,
        _ => Attached::Read(leaf, count),
    };
    kinds.into_values().map(read).collect()
}

fn by_default<'a>(context: &Context<'_>, interface: &Interface) -> Vec<Attached<'a>> {
    // mac80211 has its own queues behind it; without a length the kernel gives none (`attach_one_default_qdisc`).
    if interface.kind.is_without_queue() || interface.kind == Kind::Wifi || interface.tx_queue_len == 0 {
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
    /// In words: `pfifo_fast`, `8 times fq_codel`, `by default pfifo_fast`.
    fn words(&self) -> String {
        match self {
            Attached::Read(qdisc, count) if *count > 1 => format!("{count} times {}", qdisc.kind),
            Attached::Default(kind) => format!("{kind} (the host's default; not read)"),
            other => other.kind().to_string(),
        }
    }
    /// A queue for each transmit queue of the card.
    fn count(&self, interface: &Interface) -> u64 {
        match self {
            Attached::Read(_, count) => *count,
            _ => interface.tx_queues,
        }
    }
    /// Packets that each holds.
    fn packets(&self, interface: &Interface) -> u64 {
        let told = if let Attached::Read(qdisc, _) = self { qdisc.limit_packets } else { None };
        told.unwrap_or(interface.tx_queue_len)
    }
    fn bytes(&self) -> Option<u64> {
        if let Attached::Read(qdisc, _) = self { qdisc.limit_bytes } else { None }
    }
}

fn discipline(context: &Context<'_>, interface: &Interface, one: &Attached<'_>) -> Option<Place> {
    let place = |words: String| Place::new(Spot::Qdisc, Some(&interface.name), words);
    let kind = one.kind();
    if matches!(one, Attached::None) {
        return None;
    }
    if MANAGED.contains(&kind) {
        let watched = seen(context, interface, place(one.words()));
        return Some(watched.why("it keeps the delay of each flow near a few milliseconds"));
    }
    if FAIR.contains(&kind) {
        return Some(place(one.words()).why("flows do not wait for each other; each may still be long"));
    }
    let (worst, what) = fifo(context, interface, one);
    let level =
        if interface.kind == Kind::Ifb { Level::Quiet } else { context.level(interface, worst.as_ref()) };
    let found = seen(context, interface, place(what).holds(worst)).level(level).why(why(level));
    let (fix, undo) = replacement(context, interface, one);
    Some(if level == Level::Quiet { found } else { found.fix(fix, undo) })
}

fn seen(context: &Context<'_>, interface: &Interface, place: Place) -> Place {
    let backlog = context.seen.and_then(|seen| seen.interface(&interface.name)).and_then(|seen| seen.backlog);
    place.seen(backlog)
}

/// A first-in first-out queue: counted in bytes where it has such a limit.
fn fifo(context: &Context<'_>, interface: &Interface, one: &Attached<'_>) -> (Option<Worst>, String) {
    let count = one.count(interface);
    if let Some(bytes) = one.bytes() {
        let what = format!("{} of {}", one.words(), fathom_text::bytes(bytes as f64));
        return (context.bytes(interface, bytes).map(|worst| worst.times(count)), what);
    }
    let packets = one.packets(interface);
    let band = if one.kind() == "pfifo_fast" { " in each of three bands" } else { "" };
    let what = format!("{}, {packets} packets{band}", one.words());
    (context.packets(interface, packets).map(|worst| worst.times(count)), what)
}

fn why(level: Level) -> &'static str {
    match level {
        Level::Bad => "one queue for all: a large upload fills it, and everything else waits behind that",
        Level::Dark => "it fills when this link becomes the slowest of the path",
        Level::Unknown => "how long depends on the rate, which no file tells: --rate NAME=RATE",
        Level::Quiet => "too short to be felt at this rate",
    }
}

/// fq_codel instead; under a root of the kernel's own making, by the default and a new root.
fn replacement(context: &Context<'_>, interface: &Interface, one: &Attached<'_>) -> (String, String) {
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
        return in_leaf(&name, one);
    }
    let fix = format!("tc qdisc replace dev {name} root fq_codel");
    match one {
        Attached::Read(qdisc, _) if qdisc.kind != default => (fix, restore(&name, qdisc)),
        _ => (fix, format!("tc qdisc del dev {name} root")),
    }
}

/// A new root of the same kind takes leaves by the default of that moment; one of the same number would be left as it is.
fn with_new_default(name: &str, root: Option<&Qdisc>, default: &str) -> (String, String) {
    let sysctl = |kind: &str| format!("sysctl -w net.core.default_qdisc={}", quoted(kind));
    let number = root.map_or(0, |root| root.handle);
    let other = if number == 0xfa { 0xfb } else { 0xfa };
    let put = |handle: u32| format!("tc qdisc replace dev {name} root handle {handle:x}: mq");
    let back = if number == 0 { format!("tc qdisc del dev {name} root") } else { put(number) };
    (format!("{} && {}", sysctl("fq_codel"), put(other)), format!("{} && {back}", sysctl(default)))
}

/// The leaf of a class, where there is one alone; of many, words.
fn in_leaf(name: &str, one: &Attached<'_>) -> (String, String) {
    if let Attached::Read(leaf, 1) = one
        && let (Some(parent), Some(class)) = (leaf.parent, leaf.class)
    {
        let put = |queue: &str| format!("tc qdisc replace dev {name} parent {parent:x}:{class:x} {queue}");
        return (put("fq_codel"), put(&as_set(leaf)));
    }
    let what = format!("put fq_codel into the leaves instead of {}", one.kind());
    (what, format!("note them before: tc -d qdisc show dev {name}"))
}

/// tbf's own queue is a bfifo of its limit.
fn in_tbf(name: &str, tbf: &Qdisc) -> (String, String) {
    let put = |queue: &str| format!("tc qdisc replace dev {name} parent {:x}:1 {queue}", tbf.handle);
    let own = tbf.limit_bytes.map_or_else(|| "bfifo".to_string(), |bytes| format!("bfifo limit {bytes}b"));
    (put("fq_codel"), put(&own))
}

fn restore(name: &str, qdisc: &Qdisc) -> String {
    format!("tc qdisc replace dev {name} root {}", as_set(qdisc))
}

/// Kind and limit as tc takes them.
fn as_set(qdisc: &Qdisc) -> String {
    let limit = match (qdisc.limit_packets, qdisc.limit_bytes) {
        (Some(packets), _) => format!(" limit {packets}"),
        (None, Some(bytes)) => format!(" limit {bytes}b"),
        _ => String::new(),
    };
    format!("{}{limit}", quoted(&qdisc.kind))
}

/// What a managed queue holds when a flood does not heed its signals.
fn limit(context: &Context<'_>, interface: &Interface, one: &Attached<'_>) -> Option<Place> {
    if !MANAGED.contains(&one.kind()) {
        return None;
    }
    let rate = context.rate(interface)?;
    let (sum, what) = match (one, one.bytes()) {
        (Attached::Read(qdisc, _), Some(bytes)) if qdisc.limit_packets.is_none() => (
            Sum::bytes(Bytes(bytes), rate),
            format!("{} of {}", one.kind(), fathom_text::bytes(bytes as f64)),
        ),
        (Attached::Read(Qdisc { limit_packets: Some(packets), .. }, _), _) => (
            Sum::packets(*packets, super::packet(interface), rate),
            format!("{} of {packets} packets", one.kind()),
        ),
        _ if one.kind() == "fq_codel" => {
            let what = format!("fq_codel's own {FQ_CODEL_LIMIT} packets");
            (Sum::packets(FQ_CODEL_LIMIT, super::packet(interface), rate), what)
        }
        _ => return None,
    };
    let is_long = sum.delay() > LONG_LIMIT;
    let place = Place::new(Spot::QdiscLimit, Some(&interface.name), what)
        .holds(Some(Worst { sum, super_packets: None }))
        .why("TCP heeds its signals long before; only a flood fills it");
    let name = quoted(&interface.name);
    let is_root = matches!(one, Attached::Read(qdisc, 1) if qdisc.is_root());
    let packets = one.packets(interface);
    if !is_long {
        return Some(place);
    }
    let put = |limit: u64| format!("tc qdisc replace dev {name} root fq_codel limit {limit}");
    // One that the kernel made by itself comes back when its follower goes.
    let is_own = matches!(one, Attached::Read(Qdisc { handle: 0, .. }, _));
    let back = if is_own { format!("tc qdisc del dev {name} root") } else { put(packets) };
    let dark = place.level(Level::Dark);
    Some(if is_root && one.kind() == "fq_codel" { dark.fix(put(1000), back) } else { dark })
}

fn tx_queue_len(interface: &Interface, attached: &[Attached<'_>]) -> Option<Place> {
    if interface.tx_queue_len == 0 || interface.kind.is_without_queue() || interface.kind == Kind::Wifi {
        return None;
    }
    let is_used = attached.iter().any(|one| one.kind().starts_with("pfifo"));
    let why =
        if is_used { "the length of the queue above" } else { "the queue discipline has its own limit" };
    let spot = if interface.kind == Kind::Ifb { Spot::Ifb } else { Spot::TxQueueLen };
    Some(Place::new(spot, Some(&interface.name), format!("{} packets", interface.tx_queue_len)).why(why))
}
