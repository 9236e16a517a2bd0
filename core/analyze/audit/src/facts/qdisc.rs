//! Parses queue disciplines from lines of `replies/qdisc`: interface, kind, then `key=value`.
use crate::Tree;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_units::{Bytes, Rate};

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Qdisc {
    pub(crate) interface: String,
    pub(crate) kind: String,
    /// Major number; 0 if the kernel created it by default.
    pub(crate) handle: u32,
    /// Major number of the parent; `None` at the root.
    pub(crate) parent: Option<u32>,
    /// Minor number of the parent class.
    pub(crate) class: Option<u32>,
    pub(crate) limit_packets: Option<u64>,
    pub(crate) limit_bytes: Option<u64>,
    /// Rate of a shaper.
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

pub(crate) fn qdiscs(tree: &Tree) -> Vec<Qdisc> {
    let text = tree.text("replies/qdisc").unwrap_or_default();
    let mut all: Vec<Qdisc> = text.lines().filter_map(qdisc).collect();
    let parents: Vec<(String, u32)> =
        all.iter().filter_map(|q| Some((q.interface.clone(), q.parent?))).collect();
    for one in &mut all {
        // Number 0 is ambiguous: default leaves have it as well as the default root.
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
