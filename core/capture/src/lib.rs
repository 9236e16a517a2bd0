//! Capture files (pcap, pcapng) and the packets in them: any link type, tunnels, cut short as they may be.
//!
//! Nothing here fails because a packet was cut: what is there is read, and what is missing is told. The lengths that count are those
//! that the IP header gives, not what was stored.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod address;
mod packet;

pub use address::Address;
pub use packet::{IcmpHeader, Packet, Stamps, TcpHeader, Transport, UdpHeader};
