//! Facts that are in no file, queried from this kernel and stored as files of a tree: qdiscs and
//! network cards.
use crate::exchange;
use fathom_audit::Tree;
use fathom_os::dump::Part;
use fathom_os::ethtool;
use fathom_tc::{Detail, Dump, Handle, HtbClass, Kind, Link, Object, Qdisc};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;

/// Adds the replies for every interface of the tree, and all qdiscs. Returns false if the tree has
/// other interfaces than the network namespace of this thread; without any, `/sys` is not there.
///
/// # Errors
/// If the kernel does not list its qdiscs.
pub fn add_all(tree: &mut Tree) -> io::Result<bool> {
    let names = tree.iter().filter_map(|(path, _)| path.strip_prefix("sys/class/net/")?.split('/').next());
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.dedup();
    for name in &names {
        let reply = ethtool::card(name).map(words).unwrap_or_default();
        if !reply.is_empty() {
            tree.insert(format!("replies/ethtool/{name}"), reply.into_bytes());
        }
    }
    add_qdiscs(tree)?;
    let known = links()?;
    let is_same = known.len() == names.len() && known.values().all(|name| names.contains(name));
    Ok(names.is_empty() || is_same)
}

/// Names of the interfaces of this namespace, by index.
fn links() -> io::Result<BTreeMap<u32, String>> {
    let mut names: BTreeMap<u32, String> = BTreeMap::new();
    list(Dump::Links, |message| {
        if let Some(link) = Link::read(message) {
            names.insert(link.index, link.name);
        }
    })?;
    Ok(names)
}

fn words(card: ethtool::Card) -> String {
    let switch = |on: Option<bool>| on.map(u32::from);
    let pairs = [
        ("ring_tx", card.ring_tx),
        ("ring_tx_max", card.ring_tx_max),
        ("tx_usecs", card.tx_usecs),
        ("tso", switch(card.tso)),
        ("gso", switch(card.gso)),
        ("gro", switch(card.gro)),
        ("hw_tc_offload", switch(card.hw_tc_offload)),
    ];
    pairs.iter().filter_map(|(name, value)| Some(format!("{name} {}\n", (*value)?))).collect()
}

/// Adds the qdiscs with their current counters.
///
/// # Errors
/// If the kernel does not list them.
pub fn add_qdiscs(tree: &mut Tree) -> io::Result<()> {
    let names = links()?;
    let mut objects = Vec::new();
    list(Dump::Qdiscs, |message| objects.extend(Object::read(message)))?;
    let mut text = String::new();
    for object in &objects {
        let read = Qdisc::read(object).zip(names.get(&object.header.interface));
        if let Some((qdisc, name)) = read {
            text += &line(name, &qdisc, object);
        }
    }
    tree.insert("replies/qdisc", text.into_bytes());
    Ok(())
}

fn list(what: Dump, mut take: impl FnMut(&fathom_tc::Message<'_>)) -> io::Result<()> {
    let replies = exchange::list(Part::Route, &fathom_tc::dump(what, 1))?;
    replies.iter().for_each(|part| take(&part.message()));
    Ok(())
}

/// A line of `replies/qdisc`.
fn line(name: &str, qdisc: &Qdisc, object: &Object) -> String {
    let mut line = format!("{name} {} handle={:x}", qdisc.kind.name(), qdisc.handle.major());
    if qdisc.parent != Handle::ROOT {
        let _ = write!(line, " parent={:x} class={:x}", qdisc.parent.major(), qdisc.parent.minor());
    }
    let mut value = |key: &str, number: Option<u64>| {
        if let Some(number) = number {
            let _ = write!(line, " {key}={number}");
        }
    };
    let (packets, bytes) = limits(&qdisc.kind, object);
    value("limit_packets", packets);
    value("limit_bytes", bytes);
    value("rate_bits_per_second", rate(&qdisc.kind, object));
    let stats = object.stats();
    value("backlog_bytes", stats.as_ref().map(|s| s.backlog_bytes.into()));
    value("backlog_packets", stats.as_ref().map(|s| s.queued_packets.into()));
    value("drops", stats.as_ref().map(|s| s.drops.into()));
    line + "\n"
}

/// Limits in packets and in bytes.
fn limits(kind: &Kind, object: &Object) -> (Option<u64>, Option<u64>) {
    match kind {
        Kind::FqCodel(fq_codel) => (fq_codel.limit.map(u64::from), None),
        Kind::Pfifo(packets) => (packets.map(u64::from), None),
        Kind::Bfifo(bytes) => (None, bytes.map(u64::from)),
        Kind::Tbf(tbf) => (None, Some(tbf.limit.into())),
        Kind::Cake(_) | Kind::CakeMq(_) => match object.stats().map(|stats| stats.detail) {
            Some(Detail::Cake(cake)) => (None, Some(cake.memory_limit_bytes.into())),
            _ => (None, None),
        },
        _ => (None, None),
    }
}

/// The rate of a shaper in bit/s. For HTB, the largest rate of the classes below the root.
fn rate(kind: &Kind, object: &Object) -> Option<u64> {
    match kind {
        Kind::Tbf(tbf) => Some(tbf.rate.rate().as_bits_per_second()),
        Kind::Cake(cake) | Kind::CakeMq(cake) => cake.rate.map(fathom_units::Rate::as_bits_per_second),
        Kind::Htb(_) => {
            let mut most = None;
            let classes = Dump::Classes { interface: object.header.interface };
            let _ = list(classes, |message| {
                let class = Object::read(message).and_then(|class| HtbClass::read(&class));
                most = most.max(class.map(|class| class.ceil.rate().as_bits_per_second()));
            });
            most
        }
        _ => None,
    }
}
