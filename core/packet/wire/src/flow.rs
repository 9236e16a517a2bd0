//! Flow identification.
use crate::{IpPacket, TcpSegment, UdpDatagram, protocol};
use core::net::IpAddr;

/// Addresses, ports and protocol. Protocols without ports have ports 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Flow {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Protocol of the transport header.
    pub protocol: u8,
}

/// The flow of the packet `ip`; `bytes` is the packet.
pub fn flow_of<T: AsRef<[u8]>>(ip: &IpPacket<T>, bytes: &[u8]) -> Flow {
    let (number, at) = ip.transport().unwrap_or((0, bytes.len()));
    let (source_port, destination_port) = ports(number, bytes.get(at..).unwrap_or_default());
    Flow {
        source: ip.source(),
        destination: ip.destination(),
        source_port,
        destination_port,
        protocol: number,
    }
}

fn ports(number: u8, bytes: &[u8]) -> (u16, u16) {
    match number {
        protocol::TCP => TcpSegment::new_checked(bytes).map(|t| (t.source_port(), t.destination_port())),
        protocol::UDP => UdpDatagram::new_checked(bytes).map(|u| (u.source_port(), u.destination_port())),
        _ => return (0, 0),
    }
    .unwrap_or((0, 0))
}

impl Flow {
    /// A 64-bit hash of all fields and `salt`. Not for secrets.
    #[must_use]
    pub fn hash(&self, salt: u64) -> u64 {
        let ports = u64::from(self.source_port) << 16 | u64::from(self.destination_port);
        let words = [
            address_word(self.source),
            address_word(self.destination),
            ports | u64::from(self.protocol) << 32,
        ];
        words.iter().fold(salt, |hash, word| mix(hash ^ word))
    }
}

/// A 64-bit hash of an address and `salt`. Not for secrets.
#[must_use]
pub fn address_hash(address: IpAddr, salt: u64) -> u64 {
    mix(salt ^ mix(address_word(address)))
}

fn address_word(address: IpAddr) -> u64 {
    match address {
        IpAddr::V4(v4) => u64::from(v4.to_bits()),
        IpAddr::V6(v6) => {
            let bits = v6.to_bits();
            mix((bits >> 64) as u64) ^ bits as u64
        }
    }
}

/// The finalizer of SplitMix64: every input bit changes half of the output bits.
pub(crate) const fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
