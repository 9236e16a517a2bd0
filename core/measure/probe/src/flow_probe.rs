//! TCP segments that expire at a hop, in a flow that this host sends: an upload, or, at a server, a
//! download.
//!
//! Fair queueing hides the queue of a flow from all other flows, and a router may send them another
//! way. A segment with the addresses and ports of the flow shares both. It has no data and the
//! numbers that both ends expect next, so that a stateful firewall forwards it, and the peer, if it
//! arrives there, only repeats its last acknowledgment (RFC 9293 section 3.10.7.4).
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr};
use fathom_units::{Duration, Time};
use fathom_wire::{Ipv4Packet, TcpSegment, checksum};

/// Size of a request: headers of IPv4 and TCP without options.
pub const FLOW_REQUEST_BYTES: usize = 40;
const TCP: u8 = 6;
const ICMP: u8 = 1;
const TIME_EXCEEDED: u8 = 11;
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
    address: Ipv4Addr,
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
    peer: Ipv4Addr,
    /// DSCP of the flows, unless [`FlowProbes::keep`] knows better.
    dscp: u8,
    flows: Vec<Flow>,
    halved: Time,
}

impl FlowProbes {
    /// Probes in flows to `peer`, with this DSCP.
    #[must_use]
    pub const fn new(peer: Ipv4Addr, dscp: u8) -> Self {
        FlowProbes { peer, dscp, flows: Vec::new(), halved: Time::ZERO }
    }
    /// Takes a packet that arrived from the peer, from its IP header on. Packets with data are of
    /// no interest.
    pub fn received(&mut self, packet: &[u8], now: Time) {
        let Some((address, segment_at)) = of_peer(packet, self.peer) else { return };
        let Ok(segment) = TcpSegment::new_checked(&packet[segment_at..]) else { return };
        if segment.flags() != ACK {
            return;
        }
        let ports = (segment.destination_port(), segment.source_port());
        let (acknowledged, expected) = (segment.acknowledgement(), segment.sequence());
        let is_it = |flow: &&mut Flow| flow.ports == ports && flow.address == address;
        match self.flows.iter_mut().find(is_it) {
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
                    self.flows.push(Flow {
                        address,
                        ports,
                        dscp,
                        acknowledged,
                        expected,
                        moved: 0,
                        seen: now,
                    });
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
    /// A segment of a flow that expires at `hop`; its identification is `number`, which is not 0.
    /// `None` if the peer has acknowledged nothing of the flow.
    #[must_use]
    pub fn request(&self, ports: Ports, hop: u8, number: u16) -> Option<[u8; FLOW_REQUEST_BYTES]> {
        let (peer, flow) = (self.peer, self.flows.iter().find(|flow| flow.ports == ports)?);
        let mut bytes = [0; FLOW_REQUEST_BYTES];
        bytes[0] = 0x45;
        bytes[1] = flow.dscp << 2;
        bytes[2..4].copy_from_slice(&(FLOW_REQUEST_BYTES as u16).to_be_bytes());
        bytes[4..6].copy_from_slice(&number.to_be_bytes());
        // Do not fragment, as segments of Linux.
        bytes[6] = 0x40;
        (bytes[8], bytes[9]) = (hop, TCP);
        bytes[12..16].copy_from_slice(&flow.address.octets());
        bytes[16..20].copy_from_slice(&peer.octets());
        let of_header = checksum::of(&bytes[..20]);
        bytes[10..12].copy_from_slice(&of_header.to_be_bytes());
        bytes[20..22].copy_from_slice(&flow.ports.0.to_be_bytes());
        bytes[22..24].copy_from_slice(&flow.ports.1.to_be_bytes());
        bytes[24..28].copy_from_slice(&flow.acknowledged.to_be_bytes());
        bytes[28..32].copy_from_slice(&flow.expected.to_be_bytes());
        (bytes[32], bytes[33]) = (5 << 4, ACK);
        bytes[34..36].copy_from_slice(&WINDOW.to_be_bytes());
        let pseudo = checksum::pseudo_header(IpAddr::V4(flow.address), IpAddr::V4(peer), TCP, 20);
        let of_segment = !checksum::fold(checksum::add(pseudo, &bytes[20..]));
        bytes[36..38].copy_from_slice(&of_segment.to_be_bytes());
        Some(bytes)
    }
    /// Reads an ICMP packet from its IP header on: the number of the request that expired, and the
    /// router.
    #[must_use]
    pub fn read_error(&self, packet: &[u8]) -> Option<(u16, Ipv4Addr)> {
        let (number, ports, router) = self.quoted(packet)?;
        self.flows.iter().any(|flow| flow.ports == ports).then_some((number, router))
    }
    /// As [`FlowProbes::read_error`], also of a flow that is not known, with its ports.
    #[must_use]
    pub fn quoted(&self, packet: &[u8]) -> Option<(u16, Ports, Ipv4Addr)> {
        let outer = Ipv4Packet::new_checked(packet).ok().filter(|ip| ip.protocol() == ICMP)?;
        let icmp = outer.payload();
        // Routers quote the IP header and at least eight bytes (RFC 792), so not the whole packet.
        let quoted = icmp.get(8..).filter(|quoted| icmp[0] == TIME_EXCEEDED && quoted.len() >= 28)?;
        let is_ours = quoted[0] == 0x45 && quoted[9] == TCP && quoted[16..20] == self.peer.octets();
        let ports = (word(quoted, 20), word(quoted, 22));
        is_ours.then(|| (word(quoted, 4), ports, outer.source()))
    }
}

/// The address to which a TCP packet of `peer` was sent, and where its segment begins.
fn of_peer(packet: &[u8], peer: Ipv4Addr) -> Option<(Ipv4Addr, usize)> {
    let ip = Ipv4Packet::new_checked(packet).ok()?;
    (ip.source() == peer && ip.protocol() == TCP).then(|| (ip.destination(), ip.header_len()))
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use alloc::vec;

    const HOST: Ipv4Addr = Ipv4Addr::new(192, 168, 1, 2);
    const SERVER: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);
    const ROUTER: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 1);

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// An acknowledgment as the server sends it: a request of the reverse flow.
    pub(crate) fn acknowledgment(local: u16, acknowledged: u32) -> Vec<u8> {
        let flow = Flow {
            address: SERVER,
            ports: (3279, local),
            dscp: 0,
            acknowledged: 900,
            expected: acknowledged,
            moved: LEAST_MOVED,
            seen: at(0),
        };
        let reverse = FlowProbes { peer: HOST, dscp: 0, flows: vec![flow], halved: at(0) };
        reverse.request((3279, local), 64, 1).unwrap().to_vec()
    }

    pub(crate) fn exceeded(request: &[u8], quoted: usize) -> Vec<u8> {
        let mut packet = vec![0; 28];
        let length = (28 + quoted) as u16;
        packet[0] = 0x45;
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        (packet[8], packet[9]) = (64, ICMP);
        packet[12..16].copy_from_slice(&ROUTER.octets());
        packet[16..20].copy_from_slice(&HOST.octets());
        packet[20] = TIME_EXCEEDED;
        packet.extend(&request[..quoted]);
        packet
    }

    /// Two flows: the one that moves more is used, from the numbers of its last acknowledgment.
    #[test]
    fn a_request_is_a_segment_of_the_largest_flow() {
        let mut probes = FlowProbes::new(SERVER, 46);
        for n in 0..10 {
            probes.received(&acknowledgment(4_000, n * 2_000), at(u64::from(n)));
            probes.received(
                &acknowledgment(5_000, (u32::MAX - 8_000).wrapping_add(n * 1_000)),
                at(u64::from(n)),
            );
        }
        // Overtaken.
        probes.received(&acknowledgment(4_000, 17_000), at(10));
        let busiest = probes.busiest(at(10)).unwrap();
        let request = probes.request(busiest, 3, 777).unwrap();
        let ip = Ipv4Packet::new_checked(&request[..]).unwrap();
        assert!(ip.checksum_is_right());
        assert_eq!((ip.source(), ip.destination(), ip.ttl(), ip.dscp()), (HOST, SERVER, 3, 46));
        let tcp = TcpSegment::new_checked(ip.payload()).unwrap();
        assert_eq!((tcp.source_port(), tcp.destination_port()), (4_000, 3_279));
        assert_eq!((tcp.sequence(), tcp.acknowledgement(), tcp.flags()), (18_000, 900, ACK));
        let pseudo = checksum::pseudo_header(IpAddr::V4(HOST), IpAddr::V4(SERVER), TCP, 20);
        assert_eq!(checksum::fold(checksum::add(pseudo, ip.payload())), 0xffff);
        for quoted in [28, 40] {
            assert_eq!(probes.read_error(&exceeded(&request, quoted)), Some((777, ROUTER)));
        }
        for (n, _) in request.iter().enumerate().take(28) {
            assert_eq!(probes.read_error(&exceeded(&request, n)), None, "{n} bytes are quoted");
        }
        let mut other = FlowProbes::new(SERVER, 0);
        other.received(&acknowledgment(6_000, 0), at(0));
        assert_eq!(other.read_error(&exceeded(&request, 28)), None, "of another program");
    }

    #[test]
    fn without_load_there_is_no_busiest_flow() {
        let mut probes = FlowProbes::new(SERVER, 0);
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
        let mut packet = acknowledgment(4_000, 1);
        for length in 0..packet.len() {
            probes.received(&packet[..length], at(3_000));
        }
        packet[12] ^= 1;
        probes.received(&packet, at(3_000));
        assert!(probes.busiest(at(3_000)).is_none(), "of another host");
    }
}
