//! Reads capture files (pcap, pcapng) and dissects their packets: all link types, tunnels.
//!
//! Truncation is not an error: what is there is read, and the rest is marked as missing. Lengths
//! are those in the IP header, not those of the stored bytes.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod address;
mod anonymize;
mod dissect;
mod error;
mod feed;
mod format;
mod frame;
mod link_type;
mod link_use;
mod not_ip;
mod order;
mod packet;
mod pcap;
mod pcapng;
mod pcapng_clock;
mod quality;
mod write;

pub use address::Address;
pub use anonymize::Anonymizer;
pub use dissect::{dissect, dissect_fast};
pub use error::{CaptureError, CutRecord};
pub use feed::{Contents, Feed};
pub use format::Reader;
pub use frame::{Frame, MAX_STORED_BYTES, Statistics, Step};
pub use link_type::LinkType;
pub use link_use::{Audience, audience, vlan};
pub use not_ip::NotIp;
pub use packet::{IcmpHeader, Packet, Stamps, TcpHeader, Transport, UdpHeader};
pub use quality::{Quality, Steps};
pub use write::{pcap_header, pcap_record_header, write_pcap};
