//! UDP probes against `fathom serve`: the round trip, and the delay of each way by the fitted clock of the far end.
use crate::ask::Asked;
use crate::lane::without_code;
use crate::told::{Place, Teller};
use fathom_os::clock::Clock;
use fathom_os::mmsg::{Inbox, Letter, Notice};
use fathom_os::poll::PollFd;
use fathom_os::timestamp::{both_clocks, enable_with_packets};
use fathom_probe::protocol::{
    CONTROL_LINE_LIMIT_BYTES, FirstLine, LineReader, ServerMessage, SessionId, Token, UDP_PROBE_BYTES,
    UdpKind, UdpProbe,
};
use fathom_probe::{Book, ClockFit, ClockSamples, FourStamps, LossPolicy, Probe, StampConverter};
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_samples::{Outcome, Sample};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

const RETRY_AFTER: Duration = Duration::from_secs(5);
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);
/// A server gives a session so long; the next is opened when this share of it is used, and takes over without a gap.
const RENEW_AT: f64 = 0.9;
/// Clocks are fitted over the last one to two of these: long enough for good samples, short enough for a drift that changes.
const FIT_SPAN: Duration = Duration::from_secs(600);
const FIT_EVERY: Duration = Duration::from_secs(5);
const BATCH: usize = 16;
/// Ethernet, IPv6 and UDP headers before a probe.
const LOOKED_AT: usize = 14 + 40 + 8 + UDP_PROBE_BYTES + 1;

/// An open session.
struct Session {
    /// The session lives as long as this does.
    control: TcpStream,
    id: SessionId,
    socket: UdpSocket,
    renew_at: Time,
}

type Opened = Result<(TcpStream, SessionId, u64), String>;

/// The far end's clock, by what came in the last minutes.
#[derive(Default)]
struct FarClock {
    older: ClockSamples,
    newer: ClockSamples,
    turned: Time,
    fitted: Time,
    fit: Option<ClockFit>,
}

/// A server that is asked.
pub(crate) struct UdpProber {
    asked: Asked,
    sessions: Vec<Session>,
    opening: Option<Receiver<Opened>>,
    retry_at: Time,
    problem: String,
    book: Book<WallTime>,
    clock: FarClock,
    inbox: Inbox,
}

impl UdpProber {
    pub(crate) fn new(asked: Asked) -> Self {
        let book = Book::new(LossPolicy::after(asked.target.timeout));
        UdpProber {
            asked,
            sessions: Vec::new(),
            opening: None,
            retry_at: Time::ZERO,
            problem: "a session is being opened".to_owned(),
            book,
            clock: FarClock::default(),
            inbox: Inbox::new(BATCH, LOOKED_AT),
        }
    }
    pub(crate) const fn number(&self) -> u32 {
        self.asked.number
    }
    pub(crate) fn interests(&self) -> impl Iterator<Item = PollFd<'_>> {
        self.sessions.iter().map(|session| PollFd::readable(session.socket.as_fd()))
    }
    /// Opens a session where one is wanted, and lets go of those that the server closed.
    pub(crate) fn tend(&mut self, clock: Clock) {
        let now = clock.now();
        self.sessions.retain(|session| is_open(&session.control));
        let is_wanted = self.sessions.last().is_none_or(|session| now >= session.renew_at);
        match self.opening.as_ref().map(Receiver::try_recv) {
            Some(Ok(opened)) => {
                self.opening = None;
                self.retry_at = now + RETRY_AFTER;
                self.adopt(opened, now);
            }
            Some(Err(TryRecvError::Disconnected)) => self.opening = None,
            Some(Err(TryRecvError::Empty)) => {}
            None if is_wanted && now >= self.retry_at => self.open(),
            None => {}
        }
    }
    fn open(&mut self) {
        let Ok(address) = self.asked.whereabouts.address() else { return };
        let form = &self.asked.target.form;
        let (to, token) = (SocketAddr::new(address, form.port), form.token.clone());
        let (tell, opening) = channel();
        self.opening = Some(opening);
        // It may wait for seconds; a session is opened once in many minutes.
        std::thread::spawn(move || drop(tell.send(open(to, token.as_deref()))));
    }
    fn adopt(&mut self, opened: Opened, now: Time) {
        let begun = opened.and_then(|(control, id, seconds)| {
            let socket = udp(&control).map_err(|e| without_code(&e))?;
            let renew_at = now + Duration::from_secs_f64(seconds as f64 * RENEW_AT);
            Ok(Session { control, id, socket, renew_at })
        });
        match begun {
            // Answers to what the one before it asked may still come.
            Ok(session) => {
                self.sessions.push(session);
                let surplus = self.sessions.len().saturating_sub(2);
                self.sessions.drain(..surplus);
            }
            Err(problem) => self.problem = problem,
        }
    }
    pub(crate) fn send(&mut self, at: WallTime, clock: Clock, teller: &mut Teller) {
        let place = self.asked.place;
        let Some(session) = self.sessions.last() else {
            let unresolved = self.asked.whereabouts.address().err();
            return teller.failed(place, at, unresolved.unwrap_or(&self.problem));
        };
        let probe = self.book.send(at, clock.now());
        let request = UdpProbe::request(session.id, u64::from(probe.sequence), at.0).encode();
        // An ICMP error about an earlier probe is told by the next call, which then sends nothing.
        let sent = session.socket.send(&request).or_else(|_| session.socket.send(&request));
        if let Err(error) = sent {
            self.book.cancel(probe.sequence);
            teller.failed(place, at, &without_code(&error));
        }
    }
    pub(crate) fn receive(&mut self, clock: Clock, stamps: &mut StampConverter, teller: &mut Teller) {
        let sessions = std::mem::take(&mut self.sessions);
        let mut replies: Vec<(UdpProbe, Option<WallTime>)> = Vec::new();
        for session in &sessions {
            while self.inbox.receive_errors(session.socket.as_fd()).is_ok_and(|count| count > 0) {
                for letter in self.inbox.iter() {
                    let left = departure(&letter, session.id);
                    let (wall, now) = both_clocks(clock);
                    let at = left.and_then(|(n, stamp)| Some((n, stamps.convert(Some(stamp), wall, now)?)));
                    if let Some((sequence, at)) = at {
                        self.book.departed(sequence, at);
                    }
                }
            }
            while self.inbox.receive(session.socket.as_fd()).is_ok_and(|count| count > 0) {
                replies.extend(self.inbox.iter().filter_map(|letter| reply(&letter, session.id)));
            }
        }
        self.sessions = sessions;
        for (probe, stamp) in replies {
            self.answered(&probe, stamp, clock, stamps, teller);
        }
    }
    fn answered(
        &mut self,
        probe: &UdpProbe,
        stamp: Option<WallTime>,
        clock: Clock,
        stamps: &mut StampConverter,
        teller: &mut Teller,
    ) {
        let (wall, now) = both_clocks(clock);
        let received = stamps.convert(stamp, wall, now).unwrap_or(now);
        let sequence = probe.sequence as u32;
        let at = WallTime(probe.client_send_ns);
        // Of one that was given up only the wall clock is known; a step of it since then is told by the converter.
        let by_wall = now.saturating_sub(Duration::from_nanos(wall.0.saturating_sub(at.0)));
        let sent = self.book.sent_at(sequence).unwrap_or(by_wall);
        let held = Duration::from_nanos(probe.server_send_ns.saturating_sub(probe.server_receive_ns));
        // The time that the server held it is none of the path's.
        let back = received.saturating_sub(held);
        let place = self.asked.place;
        let reply = self.book.reply(&Probe { sequence, at, sent }, back);
        if let Some(sample) = teller.reply(place, &reply) {
            let (server_received_ns, server_sent_ns) = (probe.server_receive_ns, probe.server_send_ns);
            self.ways(sample, &FourStamps { sent, server_received_ns, server_sent_ns, received }, teller);
        }
    }
    /// The delay of each way, once the far clock is known.
    fn ways(&mut self, sample: Sample, stamps: &FourStamps, teller: &mut Teller) {
        let Some(fit) = self.clock.learn(stamps) else { return };
        let is_late = matches!(sample.outcome, Outcome::Late(_));
        for (n, delay) in (1..).zip(fit.one_way(stamps)) {
            let outcome = if is_late { Outcome::Late(delay) } else { Outcome::Answered(delay) };
            teller.sample(self.asked.place + n as Place, sample.at, outcome);
        }
    }
    pub(crate) fn time_out(&mut self, now: Time, teller: &mut Teller) {
        while let Some(lost) = self.book.expire(now) {
            teller.sample(self.asked.place, lost.at, Outcome::Lost);
        }
    }
}

impl FarClock {
    fn learn(&mut self, stamps: &FourStamps) -> Option<ClockFit> {
        let now = stamps.received;
        if now.saturating_since(self.turned) > FIT_SPAN {
            self.older = std::mem::take(&mut self.newer);
            self.turned = now;
        }
        self.older.add(stamps);
        self.newer.add(stamps);
        if self.fit.is_none() || now.saturating_since(self.fitted) > FIT_EVERY {
            (self.fit, self.fitted) = (self.older.fit(), now);
        }
        self.fit
    }
}

/// Whether the server has neither closed the session nor said that it will. Nothing else is asked for, so nothing else comes.
fn is_open(control: &TcpStream) -> bool {
    matches!(control.peek(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
}

fn departure(letter: &Letter<'_>, session: SessionId) -> Option<(u32, WallTime)> {
    let start = letter.bytes.len().checked_sub(UDP_PROBE_BYTES)?;
    let probe = UdpProbe::decode(letter.bytes.get(start..)?).ok()?;
    let ours = letter.notice == Some(Notice::Queued) && probe.session == session;
    ours.then_some((probe.sequence as u32, letter.stamp?))
}

fn reply(letter: &Letter<'_>, session: SessionId) -> Option<(UdpProbe, Option<WallTime>)> {
    let probe = UdpProbe::decode(letter.bytes).ok()?;
    (probe.kind == UdpKind::Reply && probe.session == session).then_some((probe, letter.stamp))
}

/// From the address to which the control connection was made, as the server wants it.
fn udp(control: &TcpStream) -> std::io::Result<UdpSocket> {
    let socket = UdpSocket::bind(SocketAddr::new(control.local_addr()?.ip(), 0))?;
    socket.connect(control.peer_addr()?)?;
    socket.set_nonblocking(true)?;
    enable_with_packets(socket.as_fd())?;
    Ok(socket)
}

fn open(to: SocketAddr, token: Option<&str>) -> Opened {
    let port = to.port();
    let token = token.map(str::parse::<Token>).transpose().map_err(|e| format!("token: {e}"))?;
    let mut control = TcpStream::connect_timeout(&to, PATIENCE).map_err(|e| match e.kind() {
        ErrorKind::ConnectionRefused => {
            format!("refused: is `fathom serve` running there, on TCP port {port}?")
        }
        _ => without_code(&e),
    })?;
    let line = format!("{}\n", FirstLine::Control { token });
    control.write_all(line.as_bytes()).map_err(|e| without_code(&e))?;
    control.set_read_timeout(Some(PATIENCE)).map_err(|e| without_code(&e))?;
    let hello = first_line(&mut control)?;
    control.set_nonblocking(true).map_err(|e| without_code(&e))?;
    match ServerMessage::parse(&hello) {
        Ok(ServerMessage::Hello { session, limits, .. }) => Ok((control, session, limits.seconds)),
        Ok(ServerMessage::Error { code, message }) => {
            Err(format!("the server refused the session: {}: {message}", code.name()))
        }
        _ => Err(format!("what answers on TCP port {port} is no `fathom serve`")),
    }
}

fn first_line(control: &mut TcpStream) -> Result<Vec<u8>, String> {
    let mut lines = LineReader::new(CONTROL_LINE_LIMIT_BYTES);
    let mut buffer = [0; 4_096];
    loop {
        if let Some(line) = lines.next_line().map_err(|e| format!("the server sent a {e}"))? {
            return Ok(line);
        }
        match control.read(&mut buffer) {
            Ok(0) => return Err("the server closed the connection without a word".to_owned()),
            Ok(length) => lines.push(buffer.get(..length).unwrap_or_default()),
            Err(error) => return Err(format!("no greeting of the server: {}", without_code(&error))),
        }
    }
}
