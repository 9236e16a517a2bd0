//! A `fathom serve` used as a reflector. Keeps its session open.
use crate::probe_socket::ProbeSocket;
use crate::{RETRY_AFTER, Reflection};
use fathom_client::{
    DEFAULT_PORT, Limits, TestConfig, TestError, credentials, resolve_server, session_error,
};
use fathom_os::clock::Clock;
use fathom_os::error::without_code;
use fathom_os::poll::{self, PollFd};
use fathom_probe::protocol::Ticket;
use fathom_probe::session::{
    ConnectionId, KeeperInput, KeeperOutput, SessionError, SessionKeeper, SessionPolicy,
};
use fathom_units::{Duration, Time};
use socket2::Socket;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// Minimum time between session requests.
const PAUSE: Duration = Duration::from_secs(1);
/// Interval of progress checks while the first session opens.
const OPENING_LOOK: Duration = Duration::from_millis(5);

/// A control connection, and the probes of its session once it is open.
struct Connection {
    id: ConnectionId,
    address: SocketAddr,
    control: Socket,
    probes: Option<ProbeSocket>,
}

type Connected = Result<(SocketAddr, Socket), TestError>;

/// The server.
pub(super) struct Server {
    config: TestConfig,
    keeper: SessionKeeper,
    /// Name resolution and connecting run in a thread, so that an unresponsive server or resolver
    /// blocks nothing.
    connecting: Option<(ConnectionId, Receiver<Connected>)>,
    connections: Vec<Connection>,
    due: Time,
    number: u16,
    has_opened: bool,
    /// Error of the last attempt.
    error: Option<TestError>,
    problem: Option<String>,
}

impl Server {
    /// Waits for the first session.
    pub(super) fn open(config: &TestConfig, stop: &AtomicBool) -> Result<Server, TestError> {
        let policy = SessionPolicy {
            credentials: credentials(config)?,
            connect_timeout: None,
            patience: config.patience,
            retry_after: RETRY_AFTER,
            pause: PAUSE,
            sessions: 1,
        };
        let mut server = Server {
            config: config.clone(),
            keeper: SessionKeeper::new(policy),
            connecting: None,
            connections: Vec::new(),
            due: Time::ZERO,
            number: 0,
            has_opened: false,
            error: None,
            problem: None,
        };
        loop {
            server.tend(config.clock.now());
            if server.keeper.current().is_some() {
                return Ok(server);
            }
            if let Some(error) = server.error.take() {
                return Err(error);
            }
            if stop.load(Ordering::Relaxed) {
                return Err(TestError::Stopped);
            }
            let mut fds: Vec<PollFd<'_>> = server.interests().collect();
            // A failed wait only returns earlier.
            let _ = poll::wait(&mut fds, Some(OPENING_LOOK));
        }
    }
    pub(super) fn interests(&self) -> impl Iterator<Item = PollFd<'_>> {
        let control = self.connections.iter().map(|one| PollFd::readable(one.control.as_fd()));
        control
            .chain(self.connections.iter().filter_map(|one| one.probes.as_ref()).map(ProbeSocket::interest))
    }
    pub(super) fn problem(&self) -> Option<&str> {
        self.problem.as_deref().filter(|_| self.keeper.current().is_none())
    }
    /// Sends a probe if due, keeps a session open, and returns when to call again.
    pub(super) fn send_due(&mut self, now: Time, clock: Clock, every: Duration) -> Time {
        self.tend(now);
        // The interval may have become shorter since the last probe.
        self.due = self.due.min(now + every);
        if now >= self.due {
            self.due = now + every;
            if let Some((id, Err(reason))) = self.current().map(|(id, probes)| (id, probes.send(clock))) {
                self.keeper.handle_input(id, KeeperInput::Closed(Some(reason)), now);
            }
        }
        self.due
    }
    pub(super) fn take(&mut self, clock: Clock, found: &mut Vec<Reflection>) {
        let host = self.number;
        if let Some((_, probes)) = self.current() {
            probes.take(clock, |delay| found.push(Reflection { host, delay }));
        }
    }
    fn current(&mut self) -> Option<(ConnectionId, &mut ProbeSocket)> {
        let id = self.keeper.current()?;
        let connection = self.connections.iter_mut().find(|one| one.id == id)?;
        Some((id, connection.probes.as_mut()?))
    }

    fn tend(&mut self, now: Time) {
        self.take_connected(now);
        for Connection { id, control, .. } in &self.connections {
            read_all(control, |input| self.keeper.handle_input(*id, input, now));
        }
        self.keeper.handle_timeout(now);
        while let Some(output) = self.keeper.poll_output() {
            self.process(output, now);
        }
    }
    fn take_connected(&mut self, now: Time) {
        let Some((id, connected)) = &self.connecting else { return };
        let (id, connected) = (*id, connected.try_recv());
        let input = match connected {
            Ok(Ok((address, control))) => {
                self.connections.push(Connection { id, address, control, probes: None });
                KeeperInput::Connected
            }
            Ok(Err(error)) => {
                let reason = error.to_string();
                self.failed(error);
                KeeperInput::Closed(Some(reason))
            }
            Err(TryRecvError::Disconnected) => {
                self.failed(TestError::Host("the connecting thread failed".to_owned()));
                KeeperInput::Closed(None)
            }
            Err(TryRecvError::Empty) => return,
        };
        self.connecting = None;
        self.keeper.handle_input(id, input, now);
    }
    fn process(&mut self, output: KeeperOutput, now: Time) {
        let failed = match output {
            KeeperOutput::Connect(id) => {
                self.connecting = Some((id, start_connecting(self.config.clone())));
                return;
            }
            KeeperOutput::Send(id, bytes) => {
                let connection = self.connections.iter_mut().find(|one| one.id == id);
                connection.and_then(|one| one.control.write_all(&bytes).err()).map(|e| (id, without_code(&e)))
            }
            KeeperOutput::Opened(id, hello) => self.opened(id, hello.session).err().map(|e| (id, e)),
            KeeperOutput::Close(id, error) => return self.close(id, error),
        };
        if let Some((id, reason)) = failed {
            self.keeper.handle_input(id, KeeperInput::Closed(Some(reason)), now);
        }
    }
    fn opened(&mut self, id: ConnectionId, session: Ticket) -> Result<(), String> {
        let is_first = !std::mem::replace(&mut self.has_opened, true);
        let is_renewal = self.connections.iter().any(|one| one.probes.is_some());
        if !is_first && !is_renewal {
            // The server may have restarted, and its clock too.
            self.number = (self.number + 1) % crate::FIRST_ECHO;
        }
        let connection = self.connections.iter_mut().find(|one| one.id == id);
        let Some(connection) = connection else { return Ok(()) };
        let probes =
            ProbeSocket::by_udp(connection.address, session).map_err(|e| format!("UDP socket: {e}"))?;
        connection.probes = Some(probes);
        Ok(())
    }
    fn close(&mut self, id: ConnectionId, error: Option<SessionError>) {
        self.connecting.take_if(|(connecting, _)| *connecting == id);
        let place = self.connections.iter().position(|one| one.id == id);
        let connection = place.map(|place| self.connections.remove(place));
        let Some(error) = error else { return };
        match connection {
            Some(Connection { probes: Some(_), .. }) => self.problem = Some(error.to_string()),
            Some(Connection { address, .. }) => self.failed(session_error(address, error)),
            // The reason for the missing connection is already known.
            None => {}
        }
    }
    fn failed(&mut self, error: TestError) {
        self.problem = Some(error.to_string());
        self.error = Some(error);
    }
}

/// Passes received data to `report`.
fn read_all(mut control: &Socket, mut report: impl FnMut(KeeperInput<'_>)) {
    let mut buffer = [0; 4_096];
    loop {
        match control.read(&mut buffer) {
            Ok(0) => return report(KeeperInput::Closed(None)),
            Ok(length) => report(KeeperInput::Received(&buffer[..length])),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return report(KeeperInput::Closed(Some(without_code(&error)))),
        }
    }
}

fn start_connecting(config: TestConfig) -> Receiver<Connected> {
    let (sender, receiver) = channel();
    // If sending fails, nobody waits for the result any more.
    std::thread::spawn(move || drop(sender.send(connect(&config))));
    receiver
}

/// Connects to the first address that accepts. If none does, returns the error of the first
/// address.
fn connect(config: &TestConfig) -> Connected {
    let limits = Limits { stop: &AtomicBool::new(false), clock: config.clock, patience: config.patience };
    let mut first_error = None;
    for address in resolve_server(&config.server, DEFAULT_PORT, config.family)? {
        match limits.connect(address, |socket| socket.set_tcp_nodelay(true)) {
            Ok(socket) => {
                let ready = socket.set_nonblocking(true);
                return ready.map(|()| (address, socket)).map_err(|e| TestError::Host(e.to_string()));
            }
            Err(error) => drop(first_error.get_or_insert(error)),
        }
    }
    Err(first_error.unwrap_or_else(|| TestError::Host("no address to connect to".to_owned())))
}
