//! Netlink messages: `struct nlmsghdr`, a fixed part, then attributes.
use crate::attribute::{Writer, u16_at, u32_at};
use alloc::vec::Vec;

/// `struct nlmsghdr`.
pub(crate) const HEADER_BYTES: usize = 16;
/// `struct tcmsg`.
pub(crate) const TC_HEADER_BYTES: usize = 20;

/// Message types. Source: linux/netlink.h, linux/rtnetlink.h.
pub(crate) mod types {
    pub(crate) const ERROR: u16 = 2;
    pub(crate) const DONE: u16 = 3;
    pub(crate) const NEW_LINK: u16 = 16;
    pub(crate) const DELETE_LINK: u16 = 17;
    pub(crate) const GET_LINK: u16 = 18;
    pub(crate) const NEW_QDISC: u16 = 36;
    pub(crate) const DELETE_QDISC: u16 = 37;
    pub(crate) const GET_QDISC: u16 = 38;
    pub(crate) const NEW_CLASS: u16 = 40;
    pub(crate) const GET_CLASS: u16 = 42;
    pub(crate) const NEW_FILTER: u16 = 44;
    pub(crate) const DELETE_FILTER: u16 = 45;
    pub(crate) const GET_FILTER: u16 = 46;
}

/// Flags. Source: linux/netlink.h.
pub(crate) mod flags {
    pub(crate) const REQUEST: u16 = 1;
    pub(crate) const ACK: u16 = 4;
    pub(crate) const DUMP_INTERRUPTED: u16 = 0x10;
    /// In an answer: without the request's payload.
    pub(crate) const CAPPED: u16 = 0x100;
    /// In an answer: with attributes, such as an error message.
    pub(crate) const ACK_ATTRIBUTES: u16 = 0x200;
    /// `NLM_F_ROOT | NLM_F_MATCH`.
    pub(crate) const DUMP: u16 = 0x300;
    pub(crate) const REPLACE: u16 = 0x100;
    pub(crate) const EXCLUSIVE: u16 = 0x200;
    pub(crate) const CREATE: u16 = 0x400;
}

/// What a request does if the object exists, or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verb {
    /// Fails if it exists.
    Add,
    /// Changes it; fails if it does not exist.
    Change,
    /// Creates it or replaces it atomically.
    Replace,
}

impl Verb {
    pub(crate) const fn flags(self) -> u16 {
        match self {
            Verb::Add => flags::CREATE | flags::EXCLUSIVE,
            Verb::Change => 0,
            Verb::Replace => flags::CREATE | flags::REPLACE,
        }
    }
    /// The keyword of `tc`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Verb::Add => "add",
            Verb::Change => "change",
            Verb::Replace => "replace",
        }
    }
}

/// One message of a datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message<'a> {
    /// Message type (`RTM_...`).
    pub kind: u16,
    /// `NLM_F_...`.
    pub flags: u16,
    /// Sequence number of the answered request.
    pub sequence: u32,
    /// Fixed part and attributes.
    pub body: &'a [u8],
}

/// Parses the messages of a datagram, up to the first incomplete one.
pub fn messages(datagram: &[u8]) -> impl Iterator<Item = Message<'_>> {
    let mut rest = datagram;
    core::iter::from_fn(move || {
        let length = usize::try_from(u32_at(rest, 0)?).ok()?;
        let body = rest.get(HEADER_BYTES..length)?;
        let message =
            Message { kind: u16_at(rest, 4)?, flags: u16_at(rest, 6)?, sequence: u32_at(rest, 8)?, body };
        // Cannot overflow: such a length would exceed the memory.
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(message)
    })
}

/// `struct tcmsg`: identifies a queue discipline, class or filter.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Header {
    /// Interface index.
    pub interface: u32,
    /// Its own handle.
    pub handle: u32,
    /// Handle of its parent.
    pub parent: u32,
    /// Filter: priority (upper half) and protocol in network order. Class: leaf. Qdisc: references.
    pub info: u32,
}

impl Header {
    pub(crate) fn write(&self, to: &mut Writer) {
        // Family (unspecified) and padding.
        to.bytes(&[0; 4]).bytes(&self.interface.to_ne_bytes()).bytes(&self.handle.to_ne_bytes());
        to.bytes(&self.parent.to_ne_bytes()).bytes(&self.info.to_ne_bytes());
    }
    pub(crate) fn read(body: &[u8]) -> Option<Header> {
        let [interface, handle, parent, info] = [4, 8, 12, 16].map(|at| u32_at(body, at));
        Some(Header { interface: interface?, handle: handle?, parent: parent?, info: info? })
    }
}

/// A complete request to the kernel (port 0).
pub(crate) fn request(kind: u16, extra_flags: u16, sequence: u32, body: &Writer) -> Vec<u8> {
    let mut bytes = Writer::default();
    let length = u32::try_from(HEADER_BYTES + body.0.len()).unwrap_or(u32::MAX);
    bytes.bytes(&length.to_ne_bytes()).bytes(&kind.to_ne_bytes());
    bytes.bytes(&(flags::REQUEST | extra_flags).to_ne_bytes());
    bytes.bytes(&sequence.to_ne_bytes()).bytes(&0_u32.to_ne_bytes()).bytes(&body.0);
    bytes.0
}

/// What can be listed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dump {
    /// All interfaces.
    Links,
    /// Queue disciplines of all interfaces, except built-in leaves, which the kernel hides.
    Qdiscs,
    /// Classes of one interface.
    Classes {
        /// Interface index.
        interface: u32,
    },
    /// Filters of one queue discipline or class.
    Filters {
        /// Interface index.
        interface: u32,
        /// Handle of the parent.
        parent: u32,
    },
}

/// Builds a list request.
#[must_use]
pub fn dump(what: Dump, sequence: u32) -> Vec<u8> {
    let mut body = Writer::default();
    let (kind, interface, parent) = match what {
        Dump::Links => {
            body.bytes(&[0; 16]);
            return request(types::GET_LINK, flags::DUMP, sequence, &body);
        }
        Dump::Qdiscs => (types::GET_QDISC, 0, 0),
        Dump::Classes { interface } => (types::GET_CLASS, interface, 0),
        Dump::Filters { interface, parent } => (types::GET_FILTER, interface, parent),
    };
    Header { interface, handle: 0, parent, info: 0 }.write(&mut body);
    request(kind, flags::DUMP, sequence, &body)
}
