//! Facts about a host, parsed from its files.
mod host;
mod interface;
mod qdisc;

pub use host::Host;
pub(crate) use host::{Wifi, softnet, tcp_queues, unsent};
pub use interface::Interface;
pub(crate) use interface::{ByteLimits, Reply};
pub(crate) use qdisc::{Qdisc, qdiscs};

use crate::Tree;
use alloc::vec::Vec;

/// The readable facts about a host.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Facts {
    /// Interfaces by name, including those that are down.
    pub interfaces: Vec<Interface>,
    /// Everything else.
    pub host: Host,
}

impl Facts {
    /// Parses `tree`. Missing or malformed values become `None`; there are no errors.
    pub fn of(tree: &Tree) -> Facts {
        let host = Host::of(tree);
        let all = qdiscs(tree);
        let interface = |name: &&str| Interface::of(tree, name, &host, &all);
        Facts { interfaces: tree.entries("sys/class/net").iter().map(interface).collect(), host }
    }
    /// Interfaces that carry packets.
    pub(crate) fn up(&self) -> impl Iterator<Item = &Interface> {
        self.interfaces.iter().filter(|interface| interface.is_up)
    }
    pub(crate) fn on_default_route(&self) -> Option<&Interface> {
        self.up().find(|interface| interface.has_default_route)
    }
}
