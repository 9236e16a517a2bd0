//! TCP segments that expire at a hop, in a flow that this host sends: an upload, or, at a server, a
//! download.
//!
//! Fair queueing hides the queue of a flow from all other flows, and a router may send them another
//! way. A segment with the addresses and ports of the flow shares both. It has no data and the
//! numbers that both ends expect next, so that a stateful firewall forwards it, and the peer, if it
//! arrives there, only repeats its last acknowledgment (RFC 9293 section 3.10.7.4).
//!
//! An ICMP error quotes the segment, and so the number of the request. With IPv4 that is the
//! identification, because many routers quote no more than eight bytes after the IP header. IPv6
//! has no identification, and its routers quote whole segments (RFC 4443 section 3.3): there it is
//! the urgent pointer, which means nothing without URG (RFC 9293 section 3.8.5).
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use fathom_units::{Duration, Time};
use fathom_wire::{TcpSegment, checksum};

const TCP: u8 = 6;
/// Size of a segment: its header without options.
const SEGMENT_BYTES: u8 = 20;
/// Headers of IPv4 and IPv6, without options.
const IPV4_BYTES: usize = 20;
const IPV6_BYTES: usize = 40;
/// Types of ICMP messages "time exceeded", and length of their headers.
const EXPIRED_V4: u8 = 11;
const EXPIRED_V6: u8 = 3;
const ICMP_BYTES: usize = 8;
const ACK: u8 = 0x10;
/// A flow carries load if so many bytes were acknowledged in about a second: ten times those of the
/// probes of a test, and a tenth of a line of 1 Mbit/s.
const LEAST_MOVED: u64 = 12_000;
/// What was acknowledged counts half after this time.
const HALVED_EVERY: Duration = Duration::from_secs(1);
/// A flow that was not acknowledged for this long may have ended.
const ENDED_AFTER: Duration = Duration::from_secs(2);
/// Flows that are remembered: more than a test has.
const MOST_FLOWS: usize = 256;
/// Window that is announced, as in most segments; it has no meaning to routers.
const WINDOW: u16 = 0x7fff;

/// Port of this host, then of its peer.
pub type Ports = (u16, u16);

/// A flow from this host to the peer, as the peer's acknowledgments show it.
#[derive(Clone, Copy, Debug)]
struct Flow {
    ports: Ports,
    /// DSCP of the flow, six bits: a router may have a queue for it.
    dscp: u8,
    /// The numbers that the peer and this host expect next.
    acknowledged: u32,
    expected: u32,
    moved: u64,
    seen: Time,
}

/// Writes requests in flows, and recognizes the replies.
#[derive(Clone, Debug)]
pub struct FlowProbes {
    host: IpAddr,
    peer: IpAddr,
    /// DSCP of the flows, unless [`FlowProbes::keep`] knows better.
    dscp: u8,
    flows: Vec<Flow>,
    halved: Time,
}

impl FlowProbes {
    /// Probes in flows from `host`, an address of this host, to `peer`, with this DSCP.
    #[must_use]
    pub const fn new(host: IpAddr, peer: IpAddr, dscp: u8) -> Self {
        FlowProbes { host, peer, dscp, flows: Vec::new(), halved: Time::ZERO }
    }
    /// Takes a segment that arrived from the peer. Those with data are of no interest.
    pub fn received(&mut self, segment: &[u8], now: Time) {
        let Ok(segment) = TcpSegment::new_checked(segment) else { return };
        if segment.flags() != ACK {
            return;
        }
        let ports = (segment.destination_port(), segment.source_port());
        let (acknowledged, expected) = (segment.acknowledgement(), segment.sequence());
        match self.flows.iter_mut().find(|flow| flow.ports == ports) {
            Some(flow) => {
                let more = acknowledged.wrapping_sub(flow.acknowledged);
                // An older acknowledgment that was overtaken.
                if more < u32::MAX / 2 {
                    flow.moved += u64::from(more);
                    (flow.acknowledged, flow.expected) = (acknowledged, expected);
                }
                flow.seen = now;
            }
            None => {
                self.flows.retain(|flow| now.saturating_since(flow.seen) < ENDED_AFTER);
                if self.flows.len() < MOST_FLOWS {
                    let dscp = self.dscp;
                    self.flows.push(Flow { ports, dscp, acknowledged, expected, moved: 0, seen: now });
                }
            }
        }
    }
    /// Forgets all flows but those of which `dscp_of` gives the DSCP.
    pub fn keep(&mut self, dscp_of: impl Fn(Ports) -> Option<u8>) {
        self.flows.retain_mut(|flow| dscp_of(flow.ports).map(|dscp| flow.dscp = dscp).is_some());
    }
    /// The flow that sends most, if any carries load.
    pub fn busiest(&mut self, now: Time) -> Option<Ports> {
        if now.saturating_since(self.halved) >= HALVED_EVERY {
            self.halved = now;
            self.flows.iter_mut().for_each(|flow| flow.moved /= 2);
        }
        let is_alive = |flow: &&Flow| now.saturating_since(flow.seen) < ENDED_AFTER;
        let most = self.flows.iter().filter(is_alive).max_by_key(|flow| flow.moved);
        most.filter(|flow| flow.moved >= LEAST_MOVED).map(|flow| flow.ports)
    }
    /// A segment of a flow that expires at `hop`, from its IP header on, with a number that is not
    /// 0. `None` if the peer has acknowledged nothing of the flow.
    #[must_use]
    pub fn request(&self, ports: Ports, hop: u8, number: u16) -> Option<Vec<u8>> {
        let flow = self.flows.iter().find(|flow| flow.ports == ports)?;
        let (mut packet, urgent) = match (self.host, self.peer) {
            (IpAddr::V4(from), IpAddr::V4(to)) => (header_v4(from, to, flow.dscp, hop, number).to_vec(), 0),
            (IpAddr::V6(from), IpAddr::V6(to)) => (header_v6(from, to, flow.dscp, hop).to_vec(), number),
            _ => return None,
        };
        let mut segment = flow.segment(urgent);
        let pseudo = checksum::pseudo_header(self.host, self.peer, TCP, SEGMENT_BYTES.into());
        let sum = !checksum::fold(checksum::add(pseudo, &segment));
        segment[16..18].copy_from_slice(&sum.to_be_bytes());
        packet.extend(segment);
        Some(packet)
    }
    /// Reads an ICMP message: the number of the request that expired, if its flow is known.
    #[must_use]
    pub fn read_error(&self, message: &[u8]) -> Option<u16> {
        let (number, ports) = self.quoted(message)?;
        self.flows.iter().any(|flow| flow.ports == ports).then_some(number)
    }
    /// As [`FlowProbes::read_error`], also of a flow that is not known, with its ports.
    #[must_use]
    pub fn quoted(&self, message: &[u8]) -> Option<(u16, Ports)> {
        let (kind, quoted) = (*message.first()?, message.get(ICMP_BYTES..)?);
        let (number, ports_at) = match self.peer {
            IpAddr::V4(peer) => {
                let is_whole = kind == EXPIRED_V4 && quoted.len() >= IPV4_BYTES + 8;
                let is_ours =
                    is_whole && quoted[0] == 0x45 && quoted[9] == TCP && quoted[16..20] == peer.octets();
                (is_ours.then(|| word(quoted, 4))?, IPV4_BYTES)
            }
            IpAddr::V6(peer) => {
                let length = IPV6_BYTES + usize::from(SEGMENT_BYTES);
                let is_whole = kind == EXPIRED_V6 && quoted.len() >= length;
                let is_ours =
                    is_whole && quoted[0] >> 4 == 6 && quoted[6] == TCP && quoted[24..40] == peer.octets();
                (is_ours.then(|| word(quoted, length - 2))?, IPV6_BYTES)
            }
        };
        Some((number, (word(quoted, ports_at), word(quoted, ports_at + 2))))
    }
}

impl Flow {
    /// A segment without data and without a checksum.
    fn segment(&self, urgent: u16) -> [u8; SEGMENT_BYTES as usize] {
        let mut bytes = [0; SEGMENT_BYTES as usize];
        bytes[0..2].copy_from_slice(&self.ports.0.to_be_bytes());
        bytes[2..4].copy_from_slice(&self.ports.1.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.acknowledged.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.expected.to_be_bytes());
        (bytes[12], bytes[13]) = (5 << 4, ACK);
        bytes[14..16].copy_from_slice(&WINDOW.to_be_bytes());
        bytes[18..20].copy_from_slice(&urgent.to_be_bytes());
        bytes
    }
}

fn header_v4(from: Ipv4Addr, to: Ipv4Addr, dscp: u8, hop: u8, number: u16) -> [u8; IPV4_BYTES] {
    let mut bytes = [0; IPV4_BYTES];
    (bytes[0], bytes[1]) = (0x45, dscp << 2);
    bytes[3] = IPV4_BYTES as u8 + SEGMENT_BYTES;
    bytes[4..6].copy_from_slice(&number.to_be_bytes());
    // Do not fragment, as segments of Linux.
    bytes[6] = 0x40;
    (bytes[8], bytes[9]) = (hop, TCP);
    bytes[12..16].copy_from_slice(&from.octets());
    bytes[16..20].copy_from_slice(&to.octets());
    let sum = checksum::of(&bytes);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// The flow label is 0: that of the flow, too (`fathom_os::socket::set_flow_label_zero`).
fn header_v6(from: Ipv6Addr, to: Ipv6Addr, dscp: u8, hop: u8) -> [u8; IPV6_BYTES] {
    let mut bytes = [0; IPV6_BYTES];
    (bytes[0], bytes[1]) = (0x60 | dscp >> 2, dscp << 6);
    bytes[5] = SEGMENT_BYTES;
    (bytes[6], bytes[7]) = (TCP, hop);
    bytes[8..24].copy_from_slice(&from.octets());
    bytes[24..40].copy_from_slice(&to.octets());
    bytes
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fathom_wire::IpPacket;

    const V4: [IpAddr; 2] =
        [IpAddr::V4(Ipv4Addr::new(192, 168, 1, 2)), IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7))];
    const V6: [IpAddr; 2] = [
        IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2)),
        IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 9, 0, 0, 0, 0, 7)),
    ];

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// A segment of the server.
    pub(crate) fn acknowledgment(local: u16, acknowledged: u32) -> Vec<u8> {
        let flow = Flow {
            ports: (3279, local),
            dscp: 0,
            acknowledged: 900,
            expected: acknowledged,
            moved: 0,
            seen: at(0),
        };
        flow.segment(0).to_vec()
    }

    /// The ICMP message of a router, which quotes so many bytes.
    pub(crate) fn exceeded(request: &[u8], quoted: usize) -> Vec<u8> {
        let kind = if request[0] >> 4 == 4 { EXPIRED_V4 } else { EXPIRED_V6 };
        [&[kind, 0, 0, 0, 0, 0, 0, 0], &request[..quoted]].concat()
    }

    /// Two flows: the one that moves more is used, from the numbers of its last acknowledgment.
    #[test]
    fn a_request_is_a_segment_of_the_largest_flow() {
        for ([host, server], least) in [(V4, 28), (V6, 60)] {
            let mut probes = FlowProbes::new(host, server, 46);
            for n in 0..10 {
                probes.received(&acknowledgment(4_000, n * 2_000), at(u64::from(n)));
                let other = (u32::MAX - 8_000).wrapping_add(n * 1_000);
                probes.received(&acknowledgment(5_000, other), at(u64::from(n)));
            }
            // Overtaken.
            probes.received(&acknowledgment(4_000, 17_000), at(10));
            let busiest = probes.busiest(at(10)).unwrap();
            let request = probes.request(busiest, 3, 777).unwrap();
            let ip = IpPacket::new_checked(&request[..]).unwrap();
            assert_eq!((ip.source(), ip.destination(), ip.hop_limit(), ip.dscp()), (host, server, 3, 46));
            assert_eq!(ip.total_len(), request.len());
            let (protocol, segment_at) = ip.transport().unwrap();
            assert_eq!(protocol, TCP);
            let tcp = TcpSegment::new_checked(&request[segment_at..]).unwrap();
            assert_eq!((tcp.source_port(), tcp.destination_port()), (4_000, 3_279));
            assert_eq!((tcp.sequence(), tcp.acknowledgement(), tcp.flags()), (18_000, 900, ACK));
            let pseudo = checksum::pseudo_header(host, server, TCP, 20);
            assert_eq!(checksum::fold(checksum::add(pseudo, &request[segment_at..])), 0xffff);
            for quoted in 0..=request.len() {
                let read = probes.read_error(&exceeded(&request, quoted));
                assert_eq!(read, (quoted >= least).then_some(777), "{quoted} bytes are quoted");
            }
            let mut other = FlowProbes::new(host, server, 0);
            other.received(&acknowledgment(6_000, 0), at(0));
            assert_eq!(other.read_error(&exceeded(&request, least)), None, "of another program");
        }
    }

    #[test]
    fn the_header_of_ipv4_has_a_checksum() {
        let (IpAddr::V4(host), IpAddr::V4(server)) = (V4[0], V4[1]) else { unreachable!() };
        assert_eq!(checksum::of(&header_v4(host, server, 46, 3, 777)), 0);
    }

    #[test]
    fn without_load_there_is_no_busiest_flow() {
        let mut probes = FlowProbes::new(V4[0], V4[1], 0);
        assert!(probes.busiest(at(0)).is_none());
        for n in 0..5 {
            probes.received(&acknowledgment(4_000, n * 1_000), at(u64::from(n) * 100));
        }
        assert!(probes.busiest(at(500)).is_none(), "4 kB");
        for n in 0..5 {
            probes.received(&acknowledgment(4_000, n * 10_000), at(500 + u64::from(n) * 100));
        }
        assert_eq!(probes.busiest(at(1_000)), Some((4_000, 3_279)));
        assert!(probes.busiest(at(3_000)).is_none(), "it has ended");
        let segment = acknowledgment(4_000, 1);
        for length in 0..segment.len() {
            probes.received(&segment[..length], at(3_000));
        }
        assert!(probes.busiest(at(3_000)).is_none(), "truncated");
    }
}
