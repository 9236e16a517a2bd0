//! A path of routers to a host that answers like Linux, with manglers on it.
use fathom_ecn::{Action, EcnTest, Evidence, Route};
use fathom_units::{Direction, Duration, Rng, Time};
use fathom_wire::{IpPacket, TcpSegment, checksum, flag, icmp};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

pub(crate) const ROUTE: Route = Route {
    own: Ipv4Addr::new(10, 0, 0, 1),
    host: Ipv4Addr::new(10, 9, 0, 1),
    port: 443,
    source: 40_000,
    connection: 40_001,
    token: 0x5a17,
};

/// What a device on the path does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mangler {
    /// Clears ECT and CE.
    Bleach,
    /// Marks what is ECT.
    Mark,
    /// ECT(1) becomes ECT(0).
    Ect1ToEct0,
    /// Drops a SYN with ECE.
    DropEce,
    /// Drops a SYN with AE.
    DropAe,
    /// Clears the flags of a SYN.
    ClearFlags,
    /// Clears AE of a SYN.
    ClearAe,
    /// Drops all that is ECT or CE.
    DropEct,
    /// Answers a SYN with AE by a reset.
    RefuseAe,
}

impl Mangler {
    pub(crate) const ALL: [Mangler; 9] = [
        Mangler::Bleach,
        Mangler::Mark,
        Mangler::Ect1ToEct0,
        Mangler::DropEce,
        Mangler::DropAe,
        Mangler::ClearFlags,
        Mangler::ClearAe,
        Mangler::DropEct,
        Mangler::RefuseAe,
    ];
}

/// A mangler between hop `at` - 1 and hop `at`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Placed {
    pub(crate) what: Mangler,
    pub(crate) at: u8,
    pub(crate) direction: Direction,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Router {
    /// Sends no ICMP errors, and no echo replies.
    pub(crate) no_errors: bool,
    pub(crate) no_echo: bool,
    /// Quotes eight bytes of the transport header.
    pub(crate) quotes_little: bool,
    /// Quotes without the ECN field.
    pub(crate) lies: bool,
    tokens: f64,
    filled: Time,
}

/// What the host does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Host {
    pub(crate) ecn: bool,
    pub(crate) returns_codepoint: bool,
    pub(crate) refuses_datagrams: bool,
    pub(crate) is_silent: bool,
    /// Agrees to accurate ECN.
    pub(crate) accurate: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Net {
    pub(crate) routers: Vec<Router>,
    pub(crate) host: Host,
    pub(crate) manglers: Vec<Placed>,
    pub(crate) loss: f64,
    /// A hop that answers segments for the host.
    pub(crate) intercepts: Option<u8>,
    pub(crate) rng: Rng,
    connection: Option<HostConnection>,
}

#[derive(Clone, Copy, Debug)]
struct HostConnection {
    ecn: bool,
    received: u32,
    next: u32,
    echo: bool,
    bytes: usize,
}

const HOST_SEQUENCE: u32 = 7_000_000;

/// Result of a device for a packet.
enum Passed {
    On,
    Dropped,
    Refused,
}

impl Net {
    pub(crate) fn new(routers: usize, seed: u64) -> Net {
        let full = Router { tokens: 6.0, ..Router::default() };
        let host = Host {
            ecn: true,
            returns_codepoint: true,
            refuses_datagrams: true,
            is_silent: false,
            accurate: false,
        };
        let rng = Rng::new(seed);
        Net {
            routers: vec![full; routers],
            host,
            manglers: Vec::new(),
            loss: 0.0,
            intercepts: None,
            rng,
            connection: None,
        }
    }
    /// Runs a whole test. Returns what it observed, and the time it took.
    pub(crate) fn run(&mut self) -> (Evidence, Duration) {
        let (evidence, took, _) = self.run_test(EcnTest::new(ROUTE));
        (evidence, took)
    }
    /// Runs a test. Returns what it observed, the time it took, and the number of packets it sent.
    pub(crate) fn run_test(&mut self, mut test: EcnTest) -> (Evidence, Duration, usize) {
        let mut sent = 0;
        let mut now = Time::default();
        let mut arriving: BTreeMap<(Time, u64), Vec<u8>> = BTreeMap::new();
        for number in 0..1_000_000 {
            match test.poll(now) {
                Action::Done => {
                    return (test.evidence().clone(), now.saturating_since(Time::default()), sent);
                }
                Action::Send(packet, to) => {
                    sent += 1;
                    for (late, reply) in self.send(packet, to, now) {
                        arriving.insert((now + late, arriving.len() as u64 + number), reply);
                    }
                }
                Action::Wait(until) => {
                    assert!(until > now, "a wait until {until:?} at {now:?}");
                    match arriving.first_key_value().map(|(key, _)| *key).filter(|key| key.0 <= until) {
                        Some(key) => {
                            now = now.max(key.0);
                            let reply = arriving.remove(&key).unwrap();
                            test.receive(&reply);
                        }
                        None => now = until,
                    }
                }
            }
        }
        panic!("the test does not end");
    }
    fn send(&mut self, mut packet: Vec<u8>, to: Ipv4Addr, now: Time) -> Vec<(Duration, Vec<u8>)> {
        let routers = self.routers.len() as u8;
        for hop in 1..=routers + 1 {
            match self.cross(&mut packet, hop, Direction::Up) {
                Passed::On => {}
                Passed::Dropped => return Vec::new(),
                Passed::Refused => {
                    let reply = refusal(&packet);
                    return self.back(vec![reply], hop - 1);
                }
            }
            if hop > routers {
                break;
            }
            if self.intercepts == Some(hop) && packet[9] == 6 {
                let replies = self.tcp(&packet);
                return self.back(replies, hop);
            }
            if to == router(hop) {
                let reply = (!self.routers[hop as usize - 1].no_echo).then(|| echo_reply(&packet, true));
                return self.back(reply.into_iter().collect(), hop);
            }
            packet[8] -= 1;
            refresh(&mut packet);
            if packet[8] == 0 {
                let error = self.expired(&packet, hop, now);
                return self.back(error.into_iter().collect(), hop);
            }
        }
        let replies = if self.host.is_silent { Vec::new() } else { self.at_host(&packet) };
        self.back(replies, routers + 1)
    }
    /// Back to this host from a hop.
    fn back(&mut self, replies: Vec<Vec<u8>>, from: u8) -> Vec<(Duration, Vec<u8>)> {
        let mut arrived = Vec::new();
        'replies: for mut reply in replies {
            for hop in (1..=from).rev() {
                if !matches!(self.cross(&mut reply, hop, Direction::Down), Passed::On) {
                    continue 'replies;
                }
            }
            arrived.push((Duration::from_millis(2 * u64::from(from)), reply));
        }
        arrived
    }
    fn cross(&mut self, packet: &mut [u8], hop: u8, direction: Direction) -> Passed {
        // The loss of the whole path, once.
        if hop == 1 && self.rng.chance(self.loss / 2.0) {
            return Passed::Dropped;
        }
        let here: Vec<Mangler> = self
            .manglers
            .iter()
            .filter(|placed| placed.at == hop && placed.direction == direction)
            .map(|placed| placed.what)
            .collect();
        for mangler in here {
            match apply(mangler, packet) {
                Passed::On => {}
                other => return other,
            }
        }
        Passed::On
    }
    fn expired(&mut self, packet: &[u8], hop: u8, now: Time) -> Option<Vec<u8>> {
        let router = &mut self.routers[hop as usize - 1];
        let passed = now.saturating_since(router.filled).as_secs_f64();
        router.tokens = (router.tokens + passed).min(6.0);
        router.filled = now;
        if router.no_errors || router.tokens < 1.0 {
            return None;
        }
        router.tokens -= 1.0;
        let mut quoted = packet.to_vec();
        if router.lies {
            quoted[1] &= !3;
        }
        let mut error = icmp::time_exceeded(self::router(hop).into(), &quoted)?;
        if router.quotes_little {
            error.truncate(20 + 8 + 20 + 8);
            let total = error.len() as u16;
            error[2..4].copy_from_slice(&total.to_be_bytes());
            refresh(&mut error);
        }
        Some(error)
    }
    fn at_host(&mut self, packet: &[u8]) -> Vec<Vec<u8>> {
        match packet[9] {
            1 => vec![echo_reply(packet, self.host.returns_codepoint)],
            17 if self.host.refuses_datagrams => {
                let mut error = icmp::time_exceeded(ROUTE.host.into(), packet).unwrap();
                error[20..22].copy_from_slice(&[3, 3]);
                vec![error]
            }
            6 => self.tcp(packet),
            _ => Vec::new(),
        }
    }
    fn tcp(&mut self, packet: &[u8]) -> Vec<Vec<u8>> {
        let tcp = TcpSegment::new_checked(&packet[20..]).unwrap();
        let (sequence, port) = (tcp.sequence(), tcp.source_port());
        let flags = packet[20 + 13];
        let wants = flags & (flag::ECE | flag::CWR) == flag::ECE | flag::CWR && self.host.ecn;
        if flags & flag::RST != 0 {
            if port == ROUTE.connection {
                self.connection = None;
            }
            return Vec::new();
        }
        if flags & flag::SYN != 0 {
            let ece = if wants { flag::ECE } else { 0 };
            if port == ROUTE.connection {
                self.connection = Some(HostConnection {
                    ecn: wants,
                    received: sequence.wrapping_add(1),
                    next: HOST_SEQUENCE + 1,
                    echo: false,
                    bytes: 0,
                });
            }
            // Of RFC 9768, table 2: the SYN arrived without ECT.
            let is_accurate = self.host.accurate && packet[32] & 1 != 0 && wants;
            let ece = if is_accurate { flag::CWR } else { ece };
            let reply = flag::SYN | flag::ACK | ece;
            return vec![segment(port, (HOST_SEQUENCE, sequence.wrapping_add(1)), (0, reply), 0, 0)];
        }
        self.data(packet, port)
    }
    fn data(&mut self, packet: &[u8], port: u16) -> Vec<Vec<u8>> {
        let tcp = TcpSegment::new_checked(&packet[20..]).unwrap();
        let data = packet.len() - 20 - tcp.header_len();
        let Some(connection) = self.connection.as_mut().filter(|_| port == ROUTE.connection) else {
            return Vec::new();
        };
        if data == 0 {
            return Vec::new();
        }
        if packet[20 + 13] & flag::CWR != 0 {
            connection.echo = false;
        }
        connection.echo |= connection.ecn && packet[1] & 3 == 3;
        if tcp.sequence() == connection.received {
            connection.received = connection.received.wrapping_add(data as u32);
            connection.bytes += data;
        }
        let ece = if connection.echo { flag::ECE } else { 0 };
        let mut replies =
            vec![segment(port, (connection.next, connection.received), (0, flag::ACK | ece), 0, 0)];
        if connection.bytes == 18 {
            let ect = if connection.ecn { 2 } else { 0 };
            connection.bytes += 1;
            for _ in 0..2 {
                let numbers = (connection.next, connection.received);
                replies.push(segment(port, numbers, (ect, flag::ACK | flag::PSH | ece), 100, 0));
                connection.next += 100;
            }
        }
        replies
    }
}

pub(crate) fn router(hop: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, hop, 254)
}

/// Sets the checksum of the IPv4 header.
fn refresh(packet: &mut [u8]) {
    packet[10..12].fill(0);
    let sum = checksum::of(&packet[..20]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}

fn apply(mangler: Mangler, packet: &mut [u8]) -> Passed {
    let ecn = packet[1] & 3;
    let is_syn = packet[9] == 6 && packet[33] & (flag::SYN | flag::ACK) == flag::SYN;
    let (ae, ece) = (is_syn && packet[32] & 1 != 0, is_syn && packet[33] & flag::ECE != 0);
    match mangler {
        Mangler::Bleach => packet[1] &= !3,
        Mangler::Mark if ecn != 0 => packet[1] |= 3,
        Mangler::Ect1ToEct0 if ecn == 1 => packet[1] ^= 3,
        Mangler::DropEce if ece => return Passed::Dropped,
        Mangler::DropAe if ae => return Passed::Dropped,
        Mangler::ClearFlags if is_syn => {
            packet[32] &= !1;
            packet[33] &= !(flag::ECE | flag::CWR);
        }
        Mangler::ClearAe if is_syn => packet[32] &= !1,
        Mangler::DropEct if ecn != 0 => return Passed::Dropped,
        Mangler::RefuseAe if ae => return Passed::Refused,
        _ => {}
    }
    refresh(packet);
    Passed::On
}

fn refusal(packet: &[u8]) -> Vec<u8> {
    let tcp = TcpSegment::new_checked(&packet[20..]).unwrap();
    let numbers = (0, tcp.sequence().wrapping_add(1));
    segment(tcp.source_port(), numbers, (0, flag::RST | flag::ACK), 0, 0)
}

fn segment(port: u16, numbers: (u32, u32), (ecn, flags): (u8, u8), data: usize, ae: u8) -> Vec<u8> {
    let mut bytes = vec![0; 40 + data];
    let total = bytes.len() as u16;
    bytes[0] = 0x45;
    bytes[1] = ecn;
    bytes[2..4].copy_from_slice(&total.to_be_bytes());
    bytes[8..10].copy_from_slice(&[64, 6]);
    bytes[12..16].copy_from_slice(&ROUTE.host.octets());
    bytes[16..20].copy_from_slice(&ROUTE.own.octets());
    bytes[20..22].copy_from_slice(&ROUTE.port.to_be_bytes());
    bytes[22..24].copy_from_slice(&port.to_be_bytes());
    bytes[24..28].copy_from_slice(&numbers.0.to_be_bytes());
    bytes[28..32].copy_from_slice(&numbers.1.to_be_bytes());
    bytes[32..34].copy_from_slice(&[0x50 | ae, flags]);
    refresh(&mut bytes);
    bytes
}

fn echo_reply(packet: &[u8], returns_codepoint: bool) -> Vec<u8> {
    assert_eq!((IpPacket::new_checked(packet).unwrap().total_len(), packet[20]), (packet.len(), 8));
    let mut reply = packet.to_vec();
    if !returns_codepoint {
        reply[1] = 0;
    }
    let (source, destination) = (packet[12..16].to_vec(), packet[16..20].to_vec());
    reply[12..16].copy_from_slice(&destination);
    reply[16..20].copy_from_slice(&source);
    reply[20] = 0;
    refresh(&mut reply);
    reply
}
