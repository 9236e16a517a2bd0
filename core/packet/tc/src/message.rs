//! Messages: `struct nlmsghdr`, then a fixed part, then attributes.
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
    /// Of an answer: the request's own bytes are left out.
    pub(crate) const CAPPED: u16 = 0x100;
    /// Of an answer: words follow.
    pub(crate) const ACK_ATTRIBUTES: u16 = 0x200;
    /// `NLM_F_ROOT | NLM_F_MATCH`.
    pub(crate) const DUMP: u16 = 0x300;
    pub(crate) const REPLACE: u16 = 0x100;
    pub(crate) const EXCLUSIVE: u16 = 0x200;
    pub(crate) const CREATE: u16 = 0x400;
}

/// What a request that makes something does where there is one already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verb {
    /// It is refused.
    Add,
    /// It is changed; where there is none, refused.
    Change,
    /// It is replaced in one step.
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
    /// As `tc` spells it.
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
    /// Its type (`RTM_...`).
    pub kind: u16,
    /// `NLM_F_...`.
    pub flags: u16,
    /// Which request it answers.
    pub sequence: u32,
    /// Fixed part and attributes.
    pub body: &'a [u8],
}

/// The messages of a datagram, up to the first that is not whole.
pub fn messages(datagram: &[u8]) -> impl Iterator<Item = Message<'_>> {
    let mut rest = datagram;
    core::iter::from_fn(move || {
        let length = usize::try_from(u32_at(rest, 0)?).ok()?;
        let body = rest.get(HEADER_BYTES..length)?;
        let message =
            Message { kind: u16_at(rest, 4)?, flags: u16_at(rest, 6)?, sequence: u32_at(rest, 8)?, body };
        // A length near the end of the number range stands for no memory that exists, so it cannot overflow here.
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(message)
    })
}

/// `struct tcmsg`: where a queue discipline, a class or a filter is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Header {
    /// Number of the interface.
    pub interface: u32,
    /// Its own name.
    pub handle: u32,
    /// What it is attached to.
    pub parent: u32,
    /// Of a filter: priority in the upper half, protocol in the order of the network in the lower. Of a class: its leaf. Of a queue
    /// discipline: how many refer to it.
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

/// A whole request; port 0 is the kernel.
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
    /// Queue disciplines, of all interfaces; those that the kernel hides (built-in leaves) stay hidden.
    Qdiscs,
    /// Classes of one interface.
    Classes {
        /// Its number.
        interface: u32,
    },
    /// Filters of one queue discipline or class.
    Filters {
        /// Number of the interface.
        interface: u32,
        /// What they are attached to.
        parent: u32,
    },
}

/// The request for a list.
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
