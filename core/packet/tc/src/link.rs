//! Network interfaces.
use crate::attribute::{find, find_u32, text, u16_at, u32_at, u64_at};
use crate::message::{Message, types};
use alloc::borrow::ToOwned;
use alloc::string::String;

/// `struct ifinfomsg`.
pub(crate) const HEADER_BYTES: usize = 16;
/// `IFF_UP`.
pub(crate) const UP: u32 = 1;
/// `IFF_RUNNING`: up, with a carrier.
const RUNNING: u32 = 0x40;

/// Attributes. Source: linux/if_link.h (`IFLA_...`).
pub(crate) mod ifla {
    pub(crate) const NAME: u16 = 3;
    pub(crate) const MTU: u16 = 4;
    pub(crate) const QDISC: u16 = 6;
    pub(crate) const QUEUE_PACKETS: u16 = 13;
    pub(crate) const INFO: u16 = 18;
    pub(crate) const INFO_KIND: u16 = 1;
    pub(crate) const STATS64: u16 = 23;
    pub(crate) const TRANSMIT_QUEUES: u16 = 31;
    pub(crate) const GSO_MAX_BYTES: u16 = 41;
}

/// An interface as reported by the kernel.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Link {
    /// Interface index.
    pub index: u32,
    /// Name.
    pub name: String,
    /// Kind of virtual interface (`veth`, `ifb`, `vlan`), if it is one.
    pub kind: Option<String>,
    /// Link-layer type. Source: linux/if_arp.h; 1 is Ethernet, 512 PPP, 0xfffe none.
    pub link_layer: u16,
    /// True if it is enabled.
    pub up: bool,
    /// True if it also has a carrier.
    pub running: bool,
    /// MTU in bytes.
    pub mtu: u32,
    /// `txqueuelen`.
    pub queue_packets: u32,
    /// Number of hardware transmit queues.
    pub transmit_queues: u32,
    /// Maximum size of super-packets, in bytes.
    pub gso_max_bytes: u32,
    /// Kind of its queue discipline.
    pub qdisc: String,
    /// Bytes received.
    pub received_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Packets received.
    pub received_packets: u64,
    /// Packets sent.
    pub sent_packets: u64,
}

impl Link {
    /// Reads a list entry; `None` if the message is about something else.
    #[must_use]
    pub fn read(message: &Message<'_>) -> Option<Link> {
        if message.kind != types::NEW_LINK {
            return None;
        }
        let body = message.body;
        let (flags, all) = (u32_at(body, 8)?, body.get(HEADER_BYTES..)?);
        let words = |number| find(all, number).and_then(text).map(ToOwned::to_owned);
        let number = |kind| find_u32(all, kind).unwrap_or_default();
        // struct rtnl_link_stats64: packets received and sent, bytes received and sent.
        let stats = find(all, ifla::STATS64).unwrap_or_default();
        let counter = |word: usize| u64_at(stats, word * 8).unwrap_or_default();
        Some(Link {
            index: u32_at(body, 4)?,
            name: words(ifla::NAME)?,
            kind: find(find(all, ifla::INFO).unwrap_or_default(), ifla::INFO_KIND)
                .and_then(text)
                .map(ToOwned::to_owned),
            link_layer: u16_at(body, 2)?,
            up: flags & UP != 0,
            running: flags & RUNNING != 0,
            mtu: number(ifla::MTU),
            queue_packets: number(ifla::QUEUE_PACKETS),
            transmit_queues: number(ifla::TRANSMIT_QUEUES),
            gso_max_bytes: number(ifla::GSO_MAX_BYTES),
            qdisc: words(ifla::QDISC).unwrap_or_default(),
            received_packets: counter(0),
            sent_packets: counter(1),
            received_bytes: counter(2),
            sent_bytes: counter(3),
        })
    }
}
