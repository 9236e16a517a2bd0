//! UDP probes against `fathom serve`: round-trip time, and one-way delays with a fit of the
//! server's clock.
use crate::report::{Reporter, SeriesSlot};
use crate::target::ProbedTarget;
use fathom_os::clock::{Clock, both_clocks};
use fathom_os::error::without_code;
use fathom_os::mmsg::{Inbox, Notice, ReceivedMessage};
use fathom_os::poll::{self, PollFd};
use fathom_os::socket::start_connect;
use fathom_os::timestamp::enable_with_packets;
use fathom_probe::protocol::{
    AUTHENTIC_PROBE_BYTES, Nonce, Ticket, Token, UDP_PROBE_BYTES, UdpKind, UdpProbe,
};
use fathom_probe::session::{
    ConnectionId, Credentials, KeeperInput, KeeperOutput, SessionError, SessionKeeper, SessionPolicy,
};
use fathom_probe::{Book, ClockTracker, FourStamps, LossPolicy, Probe, StampConverter};
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_samples::{Outcome, Sample};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

const RETRY_AFTER: Duration = Duration::from_secs(5);
const PATIENCE: Duration = Duration::from_secs(5);
/// Minimum time between session requests.
const PAUSE: Duration = Duration::from_secs(1);
/// Clocks are fitted over the last one to two of these: long enough for good samples, short enough
/// for changing drift.
const FIT_SPAN: Duration = Duration::from_secs(600);
const FIT_EVERY: Duration = Duration::from_secs(5);
const BATCH: usize = 16;
/// Ethernet, IPv6 and UDP headers, and a probe.
const LOOKED_AT: usize = 14 + 40 + 8 + AUTHENTIC_PROBE_BYTES + 1;

/// An open session and its probe socket.
struct Session {
    ticket: Ticket,
    socket: UdpSocket,
}

/// A control connection.
struct Connection {
    id: ConnectionId,
    control: Socket,
    is_connected: bool,
    /// The session, once it is open.
    session: Option<Session>,
}

/// A probed server.
pub(crate) struct UdpProber {
    probed: ProbedTarget,
    /// Why no session is possible at all.
    unusable: Option<String>,
    keeper: SessionKeeper,
    connections: Vec<Connection>,
    book: Book<WallTime>,
    clock: ClockTracker,
    inbox: Inbox,
}

impl UdpProber {
    pub(crate) fn new(probed: ProbedTarget) -> Self {
        let book = Book::new(LossPolicy::after(probed.target.timeout));
        let token = probed.target.options.token.as_deref().map(str::parse::<Token>).transpose();
        let mut nonce = Nonce([0; 16]);
        let random = getrandom::fill(&mut nonce.0).map_err(|e| format!("random numbers: {e}"));
        let unusable = token.as_ref().err().map(|e| format!("token: {e}")).or(random.err());
        let credentials = token.unwrap_or_default().map(|token| Credentials { token, nonce });
        let policy = SessionPolicy {
            credentials,
            connect_timeout: Some(PATIENCE),
            patience: PATIENCE,
            retry_after: RETRY_AFTER,
            pause: PAUSE,
            // Replies to probes of the previous session may still arrive.
            sessions: 2,
        };
        UdpProber {
            probed,
            unusable,
            keeper: SessionKeeper::new(policy),
            connections: Vec::new(),
            book,
            clock: ClockTracker::forgetting(FIT_SPAN, FIT_EVERY),
            inbox: Inbox::new(BATCH, LOOKED_AT),
        }
    }
    pub(crate) const fn number(&self) -> u32 {
        self.probed.number
    }
    pub(crate) fn interests(&self) -> impl Iterator<Item = PollFd<'_>> {
        let control = self.connections.iter().map(Connection::interest);
        let sessions = self.connections.iter().filter_map(|one| one.session.as_ref());
        control.chain(sessions.map(|session| PollFd::readable(session.socket.as_fd())))
    }
    /// Keeps a session open.
    pub(crate) fn tend(&mut self, clock: Clock) {
        let now = clock.now();
        let Ok(address) = self.probed.resolved.address() else { return };
        if self.unusable.is_some() {
            return;
        }
        let to = SocketAddr::new(address, self.probed.target.options.port);
        for connection in &mut self.connections {
            connection.look(to, |id, input| self.keeper.handle_input(id, input, now));
        }
        self.keeper.handle_timeout(now);
        while let Some(output) = self.keeper.poll_output() {
            if let Some((id, reason)) = self.process(output, to) {
                self.keeper.handle_input(id, KeeperInput::Closed(Some(reason)), now);
            }
        }
    }
    /// Performs an action of the session keeper. Returns why it failed, if so.
    fn process(&mut self, output: KeeperOutput, to: SocketAddr) -> Option<(ConnectionId, String)> {
        let (id, result) = match output {
            KeeperOutput::Connect(id) => {
                let opened = connect(to).map(|control| {
                    self.connections.push(Connection { id, control, is_connected: false, session: None });
                });
                (id, opened)
            }
            KeeperOutput::Send(id, bytes) => {
                let control = self.connections.iter_mut().find(|one| one.id == id).map(|one| &one.control);
                (id, control.map_or(Ok(()), |mut control| control.write_all(&bytes)))
            }
            KeeperOutput::Opened(id, hello) => {
                let connection = self.connections.iter_mut().find(|one| one.id == id);
                (id, connection.map_or(Ok(()), |one| one.open(hello.session)))
            }
            KeeperOutput::Close(id, _) => {
                self.connections.retain(|one| one.id != id);
                return None;
            }
        };
        result.err().map(|error| (id, refusal(&error, to)))
    }
    /// Why there is no session.
    fn problem(&self) -> String {
        let port = self.probed.target.options.port;
        if let Some(problem) = &self.unusable {
            return problem.clone();
        }
        match self.keeper.problem() {
            None => "a session is being opened".to_owned(),
            Some(SessionError::NotFathom(_)) => {
                format!("the service on TCP port {port} is not `fathom serve`")
            }
            Some(SessionError::Rejected { code, message }) => {
                format!("the server refused the session: {code}: {message}")
            }
            Some(error) => error.to_string(),
        }
    }
    pub(crate) fn send(&mut self, at: WallTime, clock: Clock, reporter: &mut Reporter) {
        let slot = self.probed.slot;
        let current = self.keeper.current();
        let connection = self.connections.iter().find(|one| Some(one.id) == current);
        let Some(session) = connection.and_then(|one| one.session.as_ref()) else {
            let unresolved = self.probed.resolved.address().err().map(str::to_owned);
            return reporter.failed(slot, at, &unresolved.unwrap_or_else(|| self.problem()));
        };
        let probe = self.book.send(at, clock.now());
        let request = UdpProbe::request(session.ticket.id, u64::from(probe.sequence), at.0);
        let request = session.ticket.seal(&request);
        // The next call reports an ICMP error about an earlier probe and then sends nothing.
        let sent = session.socket.send(request.bytes()).or_else(|_| session.socket.send(request.bytes()));
        if let Err(error) = sent {
            self.book.cancel(probe.sequence);
            reporter.failed(slot, at, &without_code(&error));
        }
    }
    pub(crate) fn receive(&mut self, clock: Clock, stamps: &mut StampConverter, reporter: &mut Reporter) {
        let mut replies: Vec<(UdpProbe, Option<WallTime>)> = Vec::new();
        for session in self.connections.iter().filter_map(|one| one.session.as_ref()) {
            while self.inbox.receive_errors(session.socket.as_fd()).is_ok_and(|count| count > 0) {
                for message in self.inbox.iter() {
                    let left = departure(&message, session.ticket);
                    let (wall, now) = both_clocks(clock);
                    let at = left.and_then(|(n, stamp)| Some((n, stamps.convert(Some(stamp), wall, now)?)));
                    if let Some((sequence, at)) = at {
                        self.book.departed(sequence, at);
                    }
                }
            }
            while self.inbox.receive(session.socket.as_fd()).is_ok_and(|count| count > 0) {
                replies.extend(self.inbox.iter().filter_map(|message| reply(&message, session.ticket)));
            }
        }
        for (probe, stamp) in replies {
            let (wall, now) = both_clocks(clock);
            let received = stamps.convert(stamp, wall, now).unwrap_or(now);
            // For a probe that timed out, only the wall time is known; the converter detects clock
            // steps since then.
            let by_wall =
                now.saturating_sub(Duration::from_nanos(wall.0.saturating_sub(probe.client_send_ns)));
            let sent = self.book.sent_at(probe.sequence as u32).unwrap_or(by_wall);
            let four = FourStamps {
                sent,
                server_received_ns: probe.server_receive_ns,
                server_sent_ns: probe.server_send_ns,
                received,
            };
            self.replied(&probe, &four, reporter);
        }
    }
    fn replied(&mut self, probe: &UdpProbe, stamps: &FourStamps, reporter: &mut Reporter) {
        let at = WallTime(probe.client_send_ns);
        let own = Probe { sequence: probe.sequence as u32, at, sent: stamps.sent };
        // The time that the server held the probe is not part of the path.
        let reply = self.book.reply(&own, stamps.received.saturating_sub(stamps.held()));
        if let Some(sample) = reporter.reply(self.probed.slot, &reply) {
            self.one_way(sample, stamps, reporter);
        }
    }
    /// Reports one-way delays, with the current fit of the server's clock.
    fn one_way(&mut self, sample: Sample, stamps: &FourStamps, reporter: &mut Reporter) {
        let Some(fit) = self.clock.add(stamps) else { return };
        let is_late = matches!(sample.outcome, Outcome::Late(_));
        for (n, (_, delay)) in (1..).zip(fit.one_way(stamps)) {
            let outcome = if is_late { Outcome::Late(delay) } else { Outcome::Answered(delay) };
            reporter.sample(self.probed.slot + n as SeriesSlot, sample.at, outcome);
        }
    }
    pub(crate) fn time_out(&mut self, now: Time, reporter: &mut Reporter) {
        while let Some(lost) = self.book.expire(now) {
            reporter.sample(self.probed.slot, lost.at, Outcome::Lost);
        }
    }
}

impl Connection {
    fn interest(&self) -> PollFd<'_> {
        if self.is_connected {
            PollFd::readable(self.control.as_fd())
        } else {
            PollFd::writable(self.control.as_fd())
        }
    }
    /// Reports what happened to the connection.
    fn look(&mut self, to: SocketAddr, mut report: impl FnMut(ConnectionId, KeeperInput<'_>)) {
        if !self.is_connected {
            if !poll::wait(&mut [self.interest()], Some(Duration::ZERO)).is_ok_and(|ready| ready > 0) {
                return;
            }
            if let Some(error) = self.control.take_error().unwrap_or_else(Some) {
                return report(self.id, KeeperInput::Closed(Some(refusal(&error, to))));
            }
            self.is_connected = true;
            report(self.id, KeeperInput::Connected);
        }
        let mut buffer = [0; 4_096];
        loop {
            match (&self.control).read(&mut buffer) {
                Ok(0) => return report(self.id, KeeperInput::Closed(None)),
                Ok(length) => {
                    report(self.id, KeeperInput::Received(buffer.get(..length).unwrap_or_default()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return report(self.id, KeeperInput::Closed(Some(without_code(&error)))),
            }
        }
    }
    /// Opens the probe socket, bound to the address of the control connection, as the server
    /// requires.
    fn open(&mut self, ticket: Ticket) -> io::Result<()> {
        let no_address = || io::Error::other("the control connection has no address");
        let own = self.control.local_addr()?.as_socket().ok_or_else(no_address)?;
        let to = self.control.peer_addr()?.as_socket().ok_or_else(no_address)?;
        let socket = UdpSocket::bind(SocketAddr::new(own.ip(), 0))?;
        socket.connect(to)?;
        socket.set_nonblocking(true)?;
        enable_with_packets(socket.as_fd())?;
        self.session = Some(Session { ticket, socket });
        Ok(())
    }
}

fn departure(message: &ReceivedMessage<'_>, session: Ticket) -> Option<(u32, WallTime)> {
    let start = message.bytes.len().checked_sub(session.probe_bytes())?;
    let probe = UdpProbe::decode(message.bytes.get(start..start + UDP_PROBE_BYTES)?).ok()?;
    let ours = message.notice == Some(Notice::Queued) && probe.session == session.id;
    ours.then_some((probe.sequence as u32, message.stamp?))
}

fn reply(message: &ReceivedMessage<'_>, session: Ticket) -> Option<(UdpProbe, Option<WallTime>)> {
    let probe = session.open(message.bytes)?;
    (probe.kind == UdpKind::Reply).then_some((probe, message.stamp))
}

/// Starts to connect.
fn connect(to: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    start_connect(&socket, to)?;
    Ok(socket)
}

fn refusal(error: &io::Error, to: SocketAddr) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => {
            format!("refused: is `fathom serve` running there, on TCP port {}?", to.port())
        }
        _ => without_code(error),
    }
}
