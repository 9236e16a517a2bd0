//! Queue disciplines, as lines of `replies/qdisc`: interface, kind, then `key=value`.
use crate::Tree;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_units::{Bytes, Rate};

/// One queue discipline.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Qdisc {
    pub(crate) interface: String,
    pub(crate) kind: String,
    /// Major number, 0 if the kernel made it by itself.
    pub(crate) handle: u32,
    /// Major number of what it hangs on; none at the root.
    pub(crate) parent: Option<u32>,
    /// Minor number of the class that it hangs on.
    pub(crate) class: Option<u32>,
    pub(crate) limit_packets: Option<u64>,
    pub(crate) limit_bytes: Option<u64>,
    /// Of those that shape.
    pub(crate) rate: Option<Rate>,
    pub(crate) backlog: Bytes,
    pub(crate) drops: u64,
    pub(crate) has_children: bool,
}

impl Qdisc {
    pub(crate) const fn is_root(&self) -> bool {
        self.parent.is_none()
    }
}

/// All of a tree.
pub(crate) fn qdiscs(tree: &Tree) -> Vec<Qdisc> {
    let text = tree.text("replies/qdisc").unwrap_or_default();
    let mut all: Vec<Qdisc> = text.lines().filter_map(qdisc).collect();
    let parents: Vec<(String, u32)> =
        all.iter().filter_map(|q| Some((q.interface.clone(), q.parent?))).collect();
    for one in &mut all {
        // Leaves that the kernel made have number 0 too, as the root that it made.
        let is_numbered = one.handle != 0 || one.is_root();
        let is_parent = |(name, major): &(String, u32)| *name == one.interface && *major == one.handle;
        one.has_children = is_numbered && parents.iter().any(is_parent);
    }
    all
}

fn qdisc(line: &str) -> Option<Qdisc> {
    let mut words = line.split_whitespace();
    let (interface, kind) = (words.next()?.to_string(), words.next()?.to_string());
    let mut found = Qdisc { interface, kind, ..Qdisc::default() };
    for (key, value) in words.filter_map(|word| word.split_once('=')) {
        let number = || value.parse::<u64>().ok();
        match key {
            "handle" => found.handle = u32::from_str_radix(value, 16).unwrap_or(0),
            "parent" => found.parent = u32::from_str_radix(value, 16).ok(),
            "class" => found.class = u32::from_str_radix(value, 16).ok(),
            "limit_packets" => found.limit_packets = number(),
            "limit_bytes" => found.limit_bytes = number(),
            "rate_bits_per_second" => {
                found.rate = number().filter(|n| *n > 0).map(Rate::from_bits_per_second)
            }
            "backlog_bytes" => found.backlog = Bytes(number().unwrap_or(0)),
            "drops" => found.drops = number().unwrap_or(0),
            _ => {}
        }
    }
    Some(found)
}
