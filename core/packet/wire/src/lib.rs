//! Views of IPv4, IPv6, TCP, UDP and ICMP packets, and splitting and joining of super-packets.
//!
//! Only `new_checked` can fail: it checks every length that a getter relies on. Fields are in
//! network order in packets and in host order in Rust.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

pub mod checksum;
mod error;
mod flow;
pub mod icmp;
mod ip;
mod ipv4;
mod ipv6;
mod superpacket;
mod tcp;
mod tcp_option;
mod udp;
mod vnet;

pub use error::WireError;
pub use flow::{Flow, address_hash, flow_of};
pub use ip::{CE, IpPacket};
pub use ipv4::Ipv4Packet;
pub use ipv6::Ipv6Packet;
pub use superpacket::{MAX_HEADER_BYTES, Rewrite, Run, SuperPacket};
pub use tcp::{TcpSegment, flag};
pub use tcp_option::{TcpOption, TcpOptions};
pub use udp::UdpDatagram;
pub use vnet::VnetHeader;

/// Protocol numbers of the header after IP. Source: IANA protocol numbers.
pub mod protocol {
    /// ICMP for IPv4.
    pub const ICMP: u8 = 1;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// ICMP for IPv6.
    pub const ICMPV6: u8 = 58;
}
