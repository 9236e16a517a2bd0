//! The order of the probes, and which reply belongs to which.
//!
//! First the hops, with SYN probes without ECN. Then a connection. Then each point gets each probe
//! once, and those that were lost or changed again, next to the control. At the end, the host sends
//! data.
use crate::codec::{Header, Received, Route, read};
use crate::judge::{CHANCE, accurate_codepoint, chance_of_silence, is_classic};
use crate::{Class, EcnFlags, Evidence, Handshake, PROBES, Point, Probe, Quote};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::net::Ipv4Addr;
use fathom_units::{Duration, Ecn, Time};
use fathom_wire::flag;

/// Longest path: traceroute(8) has the same limit.
const MAX_HOPS: u8 = 30;
/// Hops without an answer after which the path has ended.
const SILENT_HOPS: usize = 4;
/// TTL of probes to the host.
const TTL: u8 = 64;
/// A probe is lost after this time without a reply.
const PATIENCE: Duration = Duration::from_secs(1);
/// Probes that a hop gets until it is silent, while the path is looked for.
const HOP_TRIES: u32 = 3;
/// Linux sends six ICMP errors to a host at once, then one a second (`icmp_ratelimit`, icmp(7)).
const BURST: u32 = 5;
const ERROR_EVERY: Duration = Duration::from_millis(1_020);
/// Time between other probes to a point.
const PROBE_EVERY: Duration = Duration::from_millis(60);
/// Tries of a control until the point does not answer its class.
const CONTROL_TRIES: u32 = 3;
/// Tries of a probe that is not answered: at the first point that does not answer it and at the
/// host, and at points between them.
const SILENT_TRIES: u32 = 10;
const BETWEEN_TRIES: u32 = 2;
/// Replies of a probe that was changed.
const CHANGED_REPLIES: u32 = 3;
/// What the host is asked for: every server replies to it, with a page or with an error.
const REQUEST: &[u8] = b"GET / HTTP/1.0\r\n\r\n";
/// Time in which the host sends data.
const LISTEN: Duration = Duration::from_secs(2);
/// SYN segments of the connection, with ECN and then without.
const SYN_TRIES: u32 = 3;
/// Connections until the host has sent enough data.
const CONNECTIONS: u32 = 3;

/// What to do next.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Send this IPv4 packet to this address.
    Send(Vec<u8>, Ipv4Addr),
    /// Wait for packets, at most until this time.
    Wait(Time),
    /// The test has ended.
    Done,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// Looks for the hop with this number.
    Hops {
        ttl: u8,
        tries: u32,
    },
    /// Opens the connection.
    Connect {
        tries: u32,
    },
    /// Sends all probes.
    Probes,
    /// Waits for data of the host.
    Listen {
        until: Time,
    },
    Done,
}

/// A probe that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    probe: Probe,
    /// Its point: an index.
    point: usize,
    at: Time,
    is_open: bool,
}

/// Probes of a point.
#[derive(Clone, Debug, Default)]
struct Schedule {
    /// When it gets the next one that it answers with an ICMP error, and the next of the others.
    next: [Time; 2],
    /// Those of the first kind that it may have answered.
    errors: u32,
    /// Probes without a reply.
    open: Vec<u16>,
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    initial: u32,
    /// Bytes of the request that the host acknowledged.
    acknowledged: usize,
    /// Next sequence number of the host.
    next: u32,
    asks: Handshake,
    is_open: bool,
    /// The host reports CE.
    has_echo: bool,
    /// Number of the connection.
    number: u32,
}

impl Connection {
    /// A connection that is not open.
    const fn new(number: u32) -> Self {
        let asks = Handshake::Classic;
        Connection { initial: 0, acknowledged: 0, next: 0, asks, is_open: false, has_echo: false, number }
    }
}

/// A test of one host.
#[derive(Clone, Debug)]
pub struct EcnTest {
    route: Route,
    phase: Phase,
    evidence: Evidence,
    sent: Vec<Sent>,
    schedules: Vec<Schedule>,
    connection: Connection,
    outgoing: VecDeque<(Vec<u8>, Ipv4Addr)>,
    /// The probe that looks for a hop, or the SYN of the connection.
    single: Option<(u16, Time)>,
    /// Routers get no probes.
    is_host_only: bool,
}

impl EcnTest {
    /// A test that has sent nothing.
    #[must_use]
    pub fn new(route: Route) -> Self {
        EcnTest {
            route,
            phase: Phase::Hops { ttl: 1, tries: 0 },
            evidence: Evidence::default(),
            sent: Vec::new(),
            schedules: Vec::new(),
            connection: Connection::new(0),
            outgoing: VecDeque::new(),
            single: None,
            is_host_only: false,
        }
    }
    /// A short test: whether SYN segments and data keep ECN as far as the host. It sends about 25
    /// packets, all to the host, and opens one connection. The hop of its point is no number of a
    /// router.
    #[must_use]
    pub fn of_host(route: Route) -> Self {
        EcnTest { phase: Phase::Hops { ttl: TTL, tries: 0 }, is_host_only: true, ..EcnTest::new(route) }
    }
    /// What was observed so far.
    #[must_use]
    pub const fn evidence(&self) -> &Evidence {
        &self.evidence
    }
    /// The next action.
    pub fn poll(&mut self, now: Time) -> Action {
        loop {
            if let Some((packet, to)) = self.outgoing.pop_front() {
                return Action::Send(packet, to);
            }
            let next = match self.phase {
                Phase::Hops { ttl, tries } => self.look_for_hop(ttl, tries, now),
                Phase::Connect { tries } => self.connect(tries, now),
                Phase::Probes => self.send_probes(now),
                Phase::Listen { until } => self.listen(until, now),
                Phase::Done => return Action::Done,
            };
            if let Some(until) = next.filter(|_| self.outgoing.is_empty()) {
                return Action::Wait(until);
            }
        }
    }
    /// Takes an arriving IPv4 packet, of the test or not.
    pub fn receive(&mut self, packet: &[u8]) {
        match read(&self.route, packet) {
            Some(Received::Error { by, quote }) => self.error(by, quote),
            Some(Received::Echo { by, id, ecn }) => self.echo(by, id, ecn),
            Some(Received::Segment { to, sequence, acknowledgement, flags, ecn_flags, ecn, data }) => {
                if to == self.route.source {
                    self.syn_reply(acknowledgement, flags, ecn_flags);
                } else {
                    self.connection_reply((sequence, acknowledgement), flags, ecn_flags, (ecn, data));
                }
            }
            None => {}
        }
    }

    fn note(&mut self, probe: Probe, point: usize, at: Time) -> u16 {
        self.sent.push(Sent { probe, point, at, is_open: true });
        self.sent.len() as u16
    }
    /// The probe with this number, if it has no reply yet.
    fn open(&mut self, id: u16) -> Option<Sent> {
        let sent = self.sent.get_mut(usize::from(id).checked_sub(1)?)?;
        let before = *sent;
        sent.is_open = false;
        before.is_open.then_some(before)
    }

    // Hops.

    fn look_for_hop(&mut self, ttl: u8, tries: u32, now: Time) -> Option<Time> {
        if let Some((id, at)) = self.single {
            if now < at + PATIENCE {
                return Some(at + PATIENCE);
            }
            let _ = self.open(id);
            self.single = None;
        }
        let silent = self.evidence.points.iter().rev().take_while(|point| point.address.is_none()).count();
        if tries >= HOP_TRIES {
            self.add_point(ttl, None, false);
            let is_last = silent + 1 >= SILENT_HOPS || ttl >= MAX_HOPS;
            self.phase = if is_last { self.end_of_hops() } else { Phase::Hops { ttl: ttl + 1, tries: 0 } };
            return None;
        }
        let probe = Probe::Syn(Handshake::Plain);
        let id = self.note(probe, usize::from(ttl) - 1, now);
        self.outgoing.push_back((self.route.packet(probe, id, ttl, self.route.host), self.route.host));
        self.single = Some((id, now));
        self.phase = Phase::Hops { ttl, tries: tries + 1 };
        None
    }
    fn add_point(&mut self, hop: u8, address: Option<Ipv4Addr>, is_host: bool) {
        self.evidence.points.push(Point::new(hop, address, is_host));
        self.schedules.push(Schedule::default());
    }
    /// A hop answered the probe that looks for it.
    fn found_hop(&mut self, id: u16, by: Ipv4Addr, is_host: bool) {
        let (Phase::Hops { ttl, .. }, Some((single, _))) = (self.phase, self.single) else { return };
        if single != id {
            return;
        }
        self.single = None;
        self.add_point(ttl, Some(by), is_host);
        let at_end = is_host || by == self.route.host || ttl >= MAX_HOPS;
        self.phase = if at_end { self.end_of_hops() } else { Phase::Hops { ttl: ttl + 1, tries: 0 } };
    }
    /// Hops that did not answer are no points.
    fn end_of_hops(&mut self) -> Phase {
        self.evidence.points.retain(|point| point.address.is_some());
        self.schedules.truncate(self.evidence.points.len());
        // Late replies to probes of this phase do not count.
        self.sent.iter_mut().for_each(|sent| sent.is_open = false);
        self.single = None;
        match self.evidence.points.last() {
            Some(point) if point.is_host => Phase::Connect { tries: 0 },
            _ if self.is_host_only => Phase::Done,
            _ => Phase::Probes,
        }
    }

    // The connection.

    fn connect(&mut self, tries: u32, now: Time) -> Option<Time> {
        // Without ECN only the probes are of interest, and they are sent once.
        let most = if self.connection.number == 0 { 2 * SYN_TRIES } else { SYN_TRIES };
        if self.connection.is_open || tries >= most {
            self.single = None;
            self.phase = Phase::Probes;
            return None;
        }
        if let Some((_, at)) = self.single.filter(|(_, at)| now < *at + PATIENCE) {
            return Some(at + PATIENCE);
        }
        let handshake = if tries < SYN_TRIES { Handshake::Classic } else { Handshake::Plain };
        self.connection.initial = self.route.syn_sequence(0).wrapping_add(self.connection.number << 20);
        self.connection.asks = handshake;
        let id = self.note(Probe::Syn(handshake), usize::MAX, now);
        let header = self.header(0);
        let packet = self.route.data(header, Ecn::NotEct, (flag::SYN, handshake.flags()), (id, TTL), &[]);
        self.outgoing.push_back((packet, self.route.host));
        self.single = Some((id, now));
        self.phase = Phase::Connect { tries: tries + 1 };
        None
    }
    /// The numbers of a segment that starts so far after the SYN.
    const fn header(&self, offset: u32) -> Header {
        Header {
            source: self.route.connection,
            sequence: self.connection.initial.wrapping_add(offset),
            acknowledgement: if offset == 0 { 0 } else { self.connection.next },
        }
    }
    fn acknowledge(&mut self) {
        let header = self.header(1 + self.connection.acknowledged as u32);
        // Not a probe: no error about it counts.
        let packet = self.route.data(header, Ecn::NotEct, (flag::ACK, EcnFlags(0)), (u16::MAX, TTL), &[]);
        self.outgoing.push_back((packet, self.route.host));
    }
    fn connection_reply(
        &mut self,
        (sequence, acknowledgement): (u32, u32),
        flags: u8,
        ecn_flags: EcnFlags,
        (ecn, data): (Ecn, usize),
    ) {
        let is_first = acknowledgement == self.connection.initial.wrapping_add(1);
        if flags & (flag::SYN | flag::ACK | flag::RST) == flag::SYN | flag::ACK {
            if matches!(self.phase, Phase::Connect { .. }) && is_first && !self.connection.is_open {
                self.connection.is_open = true;
                self.connection.next = sequence.wrapping_add(1);
                let asked = self.connection.asks == Handshake::Classic;
                self.evidence.from_host.has_negotiated = asked && is_classic(ecn_flags);
            }
            if self.connection.is_open {
                self.acknowledge();
            }
            return;
        }
        if !self.connection.is_open {
            return;
        }
        if flags & flag::RST != 0 {
            self.connection.is_open = false;
            return;
        }
        self.data_acknowledged(acknowledgement, ecn_flags);
        if data > 0 {
            self.evidence.from_host.data[ecn as usize] += 1;
            if sequence == self.connection.next {
                self.connection.next = sequence.wrapping_add(data as u32);
            }
            self.acknowledge();
        }
    }
    /// Each probe of data to the host is the next byte of the request.
    fn data_acknowledged(&mut self, acknowledgement: u32, ecn_flags: EcnFlags) {
        let bytes = acknowledgement.wrapping_sub(self.connection.initial).wrapping_sub(1) as usize;
        if bytes <= self.connection.acknowledged || bytes > REQUEST.len() {
            return;
        }
        self.connection.acknowledged = bytes;
        let Some(point) = self.evidence.points.iter().position(|point| point.is_host) else { return };
        // The rest of the request is no probe.
        let is_data = |id: &&u16| self.sent[usize::from(**id) - 1].probe.class() == Class::Data;
        let Some(id) = self.schedules[point].open.iter().find(is_data).copied() else { return };
        let Some(sent) = self.answered(id) else { return };
        let is_reporting = self.evidence.from_host.has_negotiated;
        let is_new = ecn_flags.has(EcnFlags::ECE) && !self.connection.has_echo;
        let marked = self.evidence.points[point].tally(Probe::Data(Ecn::Ce));
        // After a lost reply to CE, ECE may still report that one.
        let is_clear = sent.probe == Probe::Data(Ecn::Ce) || marked.sent == marked.answered;
        let tally = self.evidence.points[point].tally_mut(sent.probe);
        if is_reporting && is_new && is_clear {
            tally.see(Ecn::Ce);
        } else if is_reporting && !is_new && sent.probe == Probe::Data(Ecn::Ce) && !self.connection.has_echo {
            tally.unlike += 1;
        }
        self.connection.has_echo = ecn_flags.has(EcnFlags::ECE);
    }

    // All probes.

    fn send_probes(&mut self, now: Time) -> Option<Time> {
        let mut wake: Option<Time> = None;
        for point in 0..self.schedules.len() {
            if let Some(next) = self.serve(point, now) {
                wake = Some(wake.map_or(next, |earlier| earlier.min(next)));
            }
        }
        if wake.is_none() {
            self.ask_for_data(now);
        }
        wake
    }
    /// Sends the next probes of a point. Returns when to look again; `None` if it is done.
    fn serve(&mut self, point: usize, now: Time) -> Option<Time> {
        let is_late = |id: &u16| now >= self.sent[usize::from(*id) - 1].at + PATIENCE;
        let late: Vec<u16> = self.schedules[point].open.iter().copied().filter(is_late).collect();
        late.into_iter().for_each(|id| self.lost(id));
        let mut wake: Option<Time> = None;
        for kind in 0..2 {
            let Some(probe) = self.next_probe(point, kind) else { continue };
            if now >= self.schedules[point].next[kind] {
                self.send_one(probe, point, kind, now);
            }
            let next = self.schedules[point].next[kind];
            wake = Some(wake.map_or(next, |earlier: Time| earlier.min(next)));
        }
        let oldest = self.schedules[point].open.iter().map(|id| self.sent[usize::from(*id) - 1].at).min();
        match (wake, oldest.map(|at| at + PATIENCE)) {
            (Some(next), Some(end)) => Some(next.min(end)),
            (next, end) => next.or(end),
        }
    }
    fn send_one(&mut self, probe: Probe, point: usize, kind: usize, now: Time) {
        self.send(probe, point, now);
        let tally = self.evidence.points[point].tally(probe);
        // A probe that was not answered before will hardly use up an error: see `answered`.
        let is_costly = kind == 0 && (tally.sent == 0 || tally.answered > 0);
        let schedule = &mut self.schedules[point];
        schedule.errors += u32::from(is_costly);
        let every = if is_costly && schedule.errors >= BURST { ERROR_EVERY } else { PROBE_EVERY };
        schedule.next[kind] = now + every;
        schedule.open.push(self.sent.len() as u16);
    }
    fn send(&mut self, probe: Probe, point: usize, now: Time) {
        let id = self.note(probe, point, now);
        let Point { hop, address, is_host, .. } = self.evidence.points[point];
        // Datagrams show whether the host is where the SYN-ACK came from.
        let is_far = (is_host && probe.class() != Class::Udp) || probe.class() == Class::Echo;
        let ttl = if is_far { TTL } else { hop };
        let to = address.filter(|_| probe.class() == Class::Echo).unwrap_or(self.route.host);
        let packet = if probe.class() == Class::Data {
            let at = self.connection.acknowledged;
            let byte = REQUEST.get(at..=at).unwrap_or_default();
            // The host stops to report CE when it has seen CWR. Source: RFC 3168 section 6.1.2.
            let cwr = if self.connection.has_echo { EcnFlags(EcnFlags::CWR) } else { EcnFlags(0) };
            let header = self.header(1 + at as u32);
            self.route.data(header, probe.codepoint(), (flag::ACK | flag::PSH, cwr), (id, ttl), byte)
        } else {
            self.route.packet(probe, id, ttl, to)
        };
        self.outgoing.push_back((packet, to));
    }
    /// The probe with the fewest tries among those that are needed.
    fn next_probe(&self, index: usize, kind: usize) -> Option<Probe> {
        let point = &self.evidence.points[index];
        let open = |probe: Probe| {
            self.schedules[index].open.iter().any(|id| {
                let other = self.sent[usize::from(*id) - 1].probe;
                // Segments to the host share a connection.
                let is_serial = point.is_host && matches!(probe.class(), Class::Syn | Class::Data);
                other == probe || (is_serial && other.class() == probe.class())
            })
        };
        PROBES
            .into_iter()
            .filter(|probe| kind == usize::from(!answers_with_error(point, probe.class())))
            .filter(|probe| !open(*probe) && self.is_needed(index, *probe))
            .min_by_key(|probe| point.tally(*probe).sent)
    }
    fn is_needed(&self, index: usize, probe: Probe) -> bool {
        let point = &self.evidence.points[index];
        let class = probe.class();
        // The last bytes of the request are sent when all else is done.
        let can_send = self.connection.is_open && self.connection.acknowledged + 2 < REQUEST.len();
        let is_left_out = self.is_host_only && matches!(class, Class::Udp | Class::Echo);
        if is_left_out || (class == Class::Data && !can_send) {
            return false;
        }
        let (tally, control) = (point.tally(probe), point.tally(probe.control()));
        if probe == probe.control() {
            let others = PROBES.iter().filter(|other| other.class() == class && **other != probe);
            let silent = others.map(|other| point.tally(*other)).filter(|other| other.answered == 0);
            let tries =
                if control.answered == 0 { CONTROL_TRIES } else { silent.map(|t| t.sent).max().unwrap_or(0) };
            return control.sent < tries.max(1);
        }
        if control.answered == 0 {
            return false;
        }
        if tally.answered == 0 {
            return tally.sent < self.silent_tries(index, probe)
                && (tally.sent < BETWEEN_TRIES || chance_of_silence(point, probe) >= CHANCE);
        }
        let is_changed = tally.seen.iter().sum::<u32>() + tally.unlike
            > tally.seen[probe.codepoint() as usize]
            || tally.flags.iter().any(|(flags, _)| Some(*flags) != probe.syn_flags())
            || (tally.refused > 0 && control.refused == 0);
        is_changed && tally.answered < CHANGED_REPLIES && tally.sent < SILENT_TRIES
    }
    /// How often a probe is sent to a point that does not answer it.
    fn silent_tries(&self, index: usize, probe: Probe) -> u32 {
        let is_silent =
            |point: &Point| point.tally(probe.control()).answered > 0 && point.tally(probe).answered == 0;
        let points = &self.evidence.points;
        if points[index + 1..].iter().any(|point| point.tally(probe).answered > 0) {
            // It passes this point, which does not show it.
            return BETWEEN_TRIES;
        }
        let is_first = !points[..index].iter().any(is_silent);
        if is_first || index + 1 == points.len() { SILENT_TRIES } else { BETWEEN_TRIES }
    }
    /// A reply to this probe arrived. `None` if there was one before.
    fn answered(&mut self, id: u16) -> Option<Sent> {
        let sent = self.close(id)?;
        let point = &mut self.evidence.points[sent.point];
        let is_error = answers_with_error(point, sent.probe.class());
        let tally = point.tally_mut(sent.probe);
        let schedule = &mut self.schedules[sent.point];
        if is_error && tally.answered == 0 && tally.sent > 0 {
            schedule.errors += 1;
            schedule.next[0] += ERROR_EVERY;
        }
        tally.sent += 1;
        tally.answered += 1;
        Some(sent)
    }
    fn lost(&mut self, id: u16) {
        if let Some(sent) = self.close(id) {
            self.evidence.points[sent.point].tally_mut(sent.probe).sent += 1;
        }
    }
    /// The probe of a point with this number, if it has no reply yet. Now it has one, or is lost.
    fn close(&mut self, id: u16) -> Option<Sent> {
        let sent = self.open(id)?;
        self.schedules.get_mut(sent.point)?.open.retain(|open| *open != id);
        Some(sent)
    }
    fn error(&mut self, by: Ipv4Addr, quote: Quote) {
        if matches!(self.phase, Phase::Hops { .. }) {
            return self.found_hop(quote.id, by, false);
        }
        let index = usize::from(quote.id).wrapping_sub(1);
        let is_awaited = |sent: &Sent| sent.is_open && sent.probe.class() == quote.class;
        let Some(sent) = self.sent.get(index).copied().filter(is_awaited) else {
            return;
        };
        let Some(point) = self.evidence.points.get(sent.point) else { return };
        if point.is_host && quote.has_expired {
            // Something here answers for the host.
            self.evidence.intercepted_at = Some(by);
            return;
        }
        if self.answered(quote.id).is_some() {
            let tally = self.evidence.points[sent.point].tally_mut(sent.probe);
            tally.see(quote.ecn);
            if let (Some(flags), Class::Syn) = (quote.flags, quote.class) {
                tally.see_flags(flags);
            }
        }
    }
    fn echo(&mut self, by: Ipv4Addr, id: u16, ecn: Ecn) {
        let Some(sent) = usize::from(id).checked_sub(1).and_then(|at| self.sent.get(at)).copied() else {
            return;
        };
        let is_from = self.evidence.points.get(sent.point).is_some_and(|point| point.address == Some(by));
        if sent.probe.class() == Class::Echo && is_from && self.answered(id).is_some() {
            self.evidence.points[sent.point].tally_mut(sent.probe).see(ecn);
        }
    }
    fn syn_reply(&mut self, acknowledgement: u32, flags: u8, ecn_flags: EcnFlags) {
        let sequence = acknowledgement.wrapping_sub(1);
        let id = sequence as u16;
        if self.route.syn_sequence(id) != sequence || flags & (flag::SYN | flag::RST) == 0 {
            return;
        }
        let has_accepted = flags & flag::SYN != 0;
        if has_accepted {
            self.reset(acknowledgement);
        }
        if matches!(self.phase, Phase::Hops { .. }) {
            return self.found_hop(id, self.route.host, true);
        }
        let Some(sent) = self.answered(id) else { return };
        let tally = self.evidence.points[sent.point].tally_mut(sent.probe);
        if !has_accepted {
            tally.refused += 1;
        }
        match sent.probe {
            Probe::Syn(Handshake::Classic) if has_accepted => {
                self.evidence.from_host.classic_reply = Some(ecn_flags);
            }
            Probe::Syn(Handshake::Accurate) if has_accepted => {
                self.evidence.from_host.accurate_reply = Some(ecn_flags);
                if let Some(ecn) = accurate_codepoint(ecn_flags) {
                    tally.see(ecn);
                }
            }
            _ => {}
        }
    }
    /// Closes what a SYN probe opened at the host.
    fn reset(&mut self, sequence: u32) {
        let header = Header { source: self.route.source, sequence, acknowledgement: 0 };
        let packet = self.route.data(header, Ecn::NotEct, (flag::RST, EcnFlags(0)), (u16::MAX, TTL), &[]);
        self.outgoing.push_back((packet, self.route.host));
    }

    // Data of the host.

    fn ask_for_data(&mut self, now: Time) {
        if self.connection.is_open {
            let at = self.connection.acknowledged;
            let rest = REQUEST.get(at..).unwrap_or_default();
            let flags = (flag::ACK | flag::PSH, EcnFlags(EcnFlags::CWR));
            let packet =
                self.route.data(self.header(1 + at as u32), Ecn::NotEct, flags, (u16::MAX, TTL), rest);
            self.outgoing.push_back((packet, self.route.host));
            self.phase = Phase::Listen { until: now + LISTEN };
        } else {
            self.phase = Phase::Done;
        }
    }
    fn listen(&mut self, until: Time, now: Time) -> Option<Time> {
        let enough = self.evidence.from_host.data.iter().sum::<u32>() >= CHANGED_REPLIES;
        if now < until && self.connection.is_open && !enough {
            return Some(until);
        }
        let header = self.header(1 + self.connection.acknowledged as u32);
        let packet = self.route.data(header, Ecn::NotEct, (flag::RST, EcnFlags(0)), (u16::MAX, TTL), &[]);
        self.outgoing.push_back((packet, self.route.host));
        let number = self.connection.number + 1;
        let most = if self.is_host_only { 1 } else { CONNECTIONS };
        let again = !enough && self.evidence.from_host.has_negotiated && number < most;
        self.connection = Connection::new(number);
        self.phase = if again { Phase::Connect { tries: 0 } } else { Phase::Done };
        None
    }
}

/// Whether a point answers a class of probes with ICMP errors, which are rare.
const fn answers_with_error(point: &Point, class: Class) -> bool {
    match class {
        Class::Echo => false,
        Class::Udp => true,
        Class::Syn | Class::Data => !point.is_host,
    }
}
