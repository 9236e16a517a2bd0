//! Packets of a test, and what arriving packets contain. The identification of IPv4 is the number
//! of the probe, which every ICMP error quotes.
use crate::{Class, EcnFlags, Probe};
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr};
use fathom_units::Ecn;
use fathom_wire::{Ipv4Packet, TcpSegment, checksum, flag, protocol};

/// Destination of datagrams: the first port of traceroute(8), which no service uses.
const UDP_PORT: u16 = 33_434;
const IP_BYTES: usize = 20;
const TCP_BYTES: usize = 20;
/// MSS option, as every SYN has it: 1460 bytes.
const MSS: [u8; 4] = [2, 4, 0x05, 0xb4];
/// Window of our segments: more than a reply that we read.
const WINDOW: u16 = 64_240;

/// Addresses and ports of a test. All probes have the same, so that load-balancing routers keep
/// them on one path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// This host.
    pub own: Ipv4Addr,
    /// The host that is tested.
    pub host: Ipv4Addr,
    /// Its TCP port.
    pub port: u16,
    /// Source port of SYN probes and datagrams.
    pub source: u16,
    /// Source port of the connection.
    pub connection: u16,
    /// A number that other programs do not have.
    pub token: u16,
}

/// A probe that an ICMP error quotes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quote {
    /// Number of the probe.
    pub id: u16,
    /// Its class.
    pub class: Class,
    /// Its codepoint where it expired.
    pub ecn: Ecn,
    /// Its flags there; `None` if the quotation ends before them.
    pub flags: Option<EcnFlags>,
    /// Whether it expired. Otherwise it was refused.
    pub has_expired: bool,
}

/// An arriving packet that belongs to the test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Received {
    /// An ICMP error.
    Error {
        /// Who sent it.
        by: Ipv4Addr,
        /// The probe.
        quote: Quote,
    },
    /// An echo reply.
    Echo {
        /// Who sent it.
        by: Ipv4Addr,
        /// Number of the request.
        id: u16,
        /// Codepoint of the reply.
        ecn: Ecn,
    },
    /// A segment of the host.
    Segment {
        /// The port of this host.
        to: u16,
        /// Sequence number.
        sequence: u32,
        /// Acknowledgment number.
        acknowledgement: u32,
        /// SYN, ACK, RST, FIN.
        flags: u8,
        /// ECN flags.
        ecn_flags: EcnFlags,
        /// Codepoint.
        ecn: Ecn,
        /// Bytes of data.
        data: usize,
    },
}

impl Route {
    /// Sequence number of a SYN probe.
    pub(crate) const fn syn_sequence(&self, id: u16) -> u32 {
        (self.token as u32) << 16 | id as u32
    }
    /// A probe that is no data.
    pub(crate) fn packet(&self, probe: Probe, id: u16, ttl: u8, to: Ipv4Addr) -> Vec<u8> {
        let (number, body) = match probe.class() {
            Class::Udp => (protocol::UDP, self.datagram()),
            Class::Echo => (protocol::ICMP, self.echo(id)),
            Class::Syn | Class::Data => {
                let flags = probe.syn_flags().unwrap_or_default();
                let header =
                    Header { source: self.source, sequence: self.syn_sequence(id), acknowledgement: 0 };
                (protocol::TCP, self.segment(header, flag::SYN, flags, &[]))
            }
        };
        self.ipv4(number, probe.codepoint(), (id, ttl), to, &body)
    }
    /// A segment of the connection.
    pub(crate) fn data(
        &self,
        header: Header,
        codepoint: Ecn,
        flags: (u8, EcnFlags),
        at: (u16, u8),
        data: &[u8],
    ) -> Vec<u8> {
        self.ipv4(protocol::TCP, codepoint, at, self.host, &self.segment(header, flags.0, flags.1, data))
    }

    fn ipv4(&self, number: u8, ecn: Ecn, (id, ttl): (u16, u8), to: Ipv4Addr, body: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::from([0; IP_BYTES]);
        let total = (IP_BYTES + body.len()) as u16;
        bytes[0] = 0x45;
        bytes[1] = ecn.bits();
        bytes[2..4].copy_from_slice(&total.to_be_bytes());
        bytes[4..6].copy_from_slice(&id.to_be_bytes());
        bytes[6] = 0x40;
        bytes[8] = ttl;
        bytes[9] = number;
        bytes[12..16].copy_from_slice(&self.own.octets());
        bytes[16..20].copy_from_slice(&to.octets());
        let sum = checksum::of(&bytes);
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
        bytes.extend_from_slice(body);
        bytes
    }
    fn segment(&self, header: Header, flags: u8, ecn_flags: EcnFlags, data: &[u8]) -> Vec<u8> {
        let options: &[u8] = if flags & flag::SYN != 0 { &MSS } else { &[] };
        let mut bytes = Vec::from([0; TCP_BYTES]);
        bytes[0..2].copy_from_slice(&header.source.to_be_bytes());
        bytes[2..4].copy_from_slice(&self.port.to_be_bytes());
        bytes[4..8].copy_from_slice(&header.sequence.to_be_bytes());
        bytes[8..12].copy_from_slice(&header.acknowledgement.to_be_bytes());
        bytes[12] = ((TCP_BYTES + options.len()) as u8 / 4) << 4 | ecn_flags.0 >> 2;
        bytes[13] = flags | ecn_flags.0 << 6;
        bytes[14..16].copy_from_slice(&WINDOW.to_be_bytes());
        bytes.extend_from_slice(options);
        bytes.extend_from_slice(data);
        let pseudo = self.pseudo_header(protocol::TCP, bytes.len());
        let sum = !checksum::fold(checksum::add(pseudo, &bytes));
        bytes[16..18].copy_from_slice(&sum.to_be_bytes());
        bytes
    }
    fn datagram(&self) -> Vec<u8> {
        let mut bytes = Vec::from([0; 16]);
        bytes[0..2].copy_from_slice(&self.source.to_be_bytes());
        bytes[2..4].copy_from_slice(&UDP_PORT.to_be_bytes());
        bytes[5] = 16;
        let sum = !checksum::fold(checksum::add(self.pseudo_header(protocol::UDP, bytes.len()), &bytes));
        bytes[6..8].copy_from_slice(&sum.to_be_bytes());
        bytes
    }
    fn echo(&self, id: u16) -> Vec<u8> {
        let mut bytes = Vec::from([8, 0, 0, 0, 0, 0, 0, 0]);
        bytes[4..6].copy_from_slice(&self.token.to_be_bytes());
        bytes[6..8].copy_from_slice(&id.to_be_bytes());
        // With its complement, so that the checksum is constant.
        bytes.extend_from_slice(&(!id).to_be_bytes());
        let sum = checksum::of(&bytes);
        bytes[2..4].copy_from_slice(&sum.to_be_bytes());
        bytes
    }
    fn pseudo_header(&self, number: u8, length: usize) -> u32 {
        checksum::pseudo_header(IpAddr::V4(self.own), IpAddr::V4(self.host), number, length as u32)
    }
}

/// Numbers of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    pub(crate) source: u16,
    pub(crate) sequence: u32,
    pub(crate) acknowledgement: u32,
}

/// Reads an arriving IPv4 packet. `None` if it does not belong to the test.
#[must_use]
pub fn read(route: &Route, packet: &[u8]) -> Option<Received> {
    let ip = Ipv4Packet::new_checked(packet).ok()?;
    if ip.is_later_fragment() {
        return None;
    }
    let ecn = Ecn::of_class(ip.ecn());
    match ip.protocol() {
        protocol::TCP if ip.source() == route.host => segment(route, ip.payload(), ecn),
        protocol::ICMP => icmp(route, ip.source(), ip.payload(), ecn),
        _ => None,
    }
}

fn segment(route: &Route, bytes: &[u8], ecn: Ecn) -> Option<Received> {
    let tcp = TcpSegment::new_checked(bytes).ok()?;
    let to = tcp.destination_port();
    let is_ours = tcp.source_port() == route.port && (to == route.source || to == route.connection);
    is_ours.then(|| Received::Segment {
        to,
        sequence: tcp.sequence(),
        acknowledgement: tcp.acknowledgement(),
        flags: bytes[13] & 0x3f,
        ecn_flags: EcnFlags::of(bytes[12], bytes[13]),
        ecn,
        data: bytes.len() - tcp.header_len(),
    })
}

fn icmp(route: &Route, by: Ipv4Addr, bytes: &[u8], ecn: Ecn) -> Option<Received> {
    match bytes.first()? {
        0 => {
            let is_ours = word(bytes, 4)? == route.token && word(bytes, 8)? == !word(bytes, 6)?;
            is_ours.then_some(Received::Echo { by, id: word(bytes, 6)?, ecn })
        }
        kind @ (3 | 11) => {
            let quote = quoted(route, bytes.get(8..)?, *kind == 11)?;
            Some(Received::Error { by, quote })
        }
        _ => None,
    }
}

/// Routers quote at least the header and 8 bytes (RFC 792), and may quote more (RFC 1812).
fn quoted(route: &Route, bytes: &[u8], has_expired: bool) -> Option<Quote> {
    let header = usize::from(bytes.first()? & 0x0f) * 4;
    if bytes[0] >> 4 != 4 || header < IP_BYTES || *bytes.get(16..20)? != route.host.octets() {
        return None;
    }
    let body = bytes.get(header..header + 8)?;
    let (source, destination) = (word(body, 0)?, word(body, 2)?);
    let class = match bytes[9] {
        protocol::UDP if destination == UDP_PORT && source == route.source => Class::Udp,
        protocol::TCP if destination == route.port && source == route.source => Class::Syn,
        protocol::TCP if destination == route.port && source == route.connection => Class::Data,
        _ => return None,
    };
    let flags = bytes.get(header + 12..header + 14).map(|f| EcnFlags::of(f[0], f[1]));
    let flags = if class == Class::Udp { None } else { flags };
    Some(Quote { id: word(bytes, 4)?, class, ecn: Ecn::of_class(bytes[1]), flags, has_expired })
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}
