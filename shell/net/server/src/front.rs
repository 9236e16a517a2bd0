//! The front thread: accepts connections and serves those that need no thread.
use crate::connection::{Connection, Next, Protocol};
use crate::control;
use crate::iperf3::{self, Cookie};
use crate::limited::OpenSession;
use crate::load::{self, spawn};
use crate::session::Session;
use crate::shared::Shared;
use crate::shares::{Held, NoPlace, Shares, place_to_free};
use crate::stats::Refusal;
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::poll::{self, PollFd};
use fathom_probe::protocol::{ErrorCode, FlowAnswer, FlowRequest, ServerMessage, SessionKey};
use fathom_units::{Duration, Time};
use socket2::Socket;
use std::cell::RefCell;
use std::io;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::thread;
use std::time::Duration as StdDuration;

/// Pause after accept(2) failed for lack of descriptors or memory.
const ACCEPT_BACK_OFF: Duration = Duration::from_millis(100);
/// Connections accepted in a row before open ones are served.
const ACCEPT_BURST: usize = 64;
/// Runs until the server stops. A panic closes this thread's connections but does not stop the
/// server.
pub(crate) fn run(shared: &Arc<Shared>, own: &[Socket], iperf3: &[Socket]) {
    let own = own.iter().map(|socket| (socket, Protocol::Fathom));
    let listeners: Vec<_> = own.chain(iperf3.iter().map(|socket| (socket, Protocol::Iperf3))).collect();
    while !shared.stop.is_set() {
        let shares = Rc::new(RefCell::new(Shares::new(shared.config.max_connections)));
        let accept_from = shared.clock.now();
        let listeners = &listeners;
        let mut front = Front { shared, listeners, connections: Vec::new(), shares, accept_from };
        if catch_unwind(AssertUnwindSafe(|| front.run())).is_err() {
            shared.counters.panicked();
        }
    }
}

struct Front<'a> {
    shared: &'a Arc<Shared>,
    listeners: &'a [(&'a Socket, Protocol)],
    connections: Vec<Placed>,
    /// Who holds the places of `connections`.
    shares: Rc<RefCell<Shares>>,
    /// Time before which accept(2) is not retried.
    accept_from: Time,
}

/// A connection and its place.
type Placed = (Connection, Place);

/// The place of a connection; released when dropped.
struct Place {
    shares: Rc<RefCell<Shares>>,
    client: IpAddr,
}

impl Place {
    fn take(shares: &Rc<RefCell<Shares>>, client: IpAddr) -> Place {
        shares.borrow_mut().take(client);
        Place { shares: Rc::clone(shares), client }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.shares.borrow_mut().release(self.client);
    }
}

impl Front<'_> {
    fn run(&mut self) {
        while !self.shared.stop.is_set() {
            let (arrivals, ready) = self.wait();
            let now = self.shared.clock.now();
            self.step(&ready, now);
            if arrivals {
                self.accept(now);
            }
        }
    }
    /// Whether there are new connections, and for each open one whether it is ready.
    fn wait(&self) -> (bool, Vec<bool>) {
        let now = self.shared.clock.now();
        let accepting = now >= self.accept_from;
        let mut fds = vec![PollFd::readable(self.shared.stop.fd())];
        fds.extend(self.connections.iter().map(|(c, _)| c.interest()));
        if accepting {
            fds.extend(self.listeners.iter().map(|(l, _)| PollFd::readable(l.as_fd())));
        }
        let due = self.connections.iter().map(|(c, _)| c.deadline).min().unwrap_or(Time::MAX);
        let due = if accepting { due } else { due.min(self.accept_from) };
        let timeout = (due < Time::MAX).then(|| due.saturating_since(now));
        if poll::wait(&mut fds, timeout).is_err() {
            // Out of memory: pause as for accept(2).
            thread::sleep(StdDuration::from_nanos(ACCEPT_BACK_OFF.as_nanos()));
        }
        let ready = fds.iter().skip(1).map(PollFd::is_ready);
        let mut ready: Vec<bool> = ready.collect();
        let arrivals = ready.split_off(self.connections.len());
        (arrivals.contains(&true), ready)
    }
    /// Serves ready connections and closes those that timed out.
    fn step(&mut self, ready: &[bool], now: Time) {
        let connections = std::mem::take(&mut self.connections);
        for ((mut connection, place), is_ready) in connections.into_iter().zip(ready) {
            let next = match is_ready {
                true => connection.step(self.shared, now),
                false => Next::Stay,
            };
            match next {
                Next::Close => {}
                Next::Stay if connection.deadline <= now => connection.expire(self.shared),
                Next::Stay => self.connections.push((connection, place)),
                Next::Control(key, early) => self.open_session((connection, place), key, early, now),
                Next::Browser(early) => self.shared.pass_on(connection.socket, early),
                Next::Stranger => self.refuse_stranger((connection, place), now),
                Next::Iperf3(cookie) => self.open_iperf3((connection, place), cookie, now),
                Next::Flow(request, early) => self.open_flow((connection, place), request, early, now),
            }
        }
    }
    fn accept(&mut self, now: Time) {
        for (listener, protocol) in self.listeners {
            for _ in 0..ACCEPT_BURST {
                match listener.accept() {
                    Ok((socket, address)) => {
                        self.admit(socket, address.as_socket().map(|a| a.ip()), *protocol, now);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if is_of_one_connection(&error) => {}
                    Err(_) => {
                        // EMFILE, ENFILE, ENOBUFS, ENOMEM: the connection stays in the backlog.
                        self.shared.counters.refuse(Refusal::Descriptors, None);
                        self.accept_from = now + ACCEPT_BACK_OFF;
                        return;
                    }
                }
            }
        }
    }
    fn admit(&mut self, socket: Socket, client: Option<IpAddr>, protocol: Protocol, now: Time) {
        let place = client.ok_or(Refusal::Connections).and_then(|client| {
            socket.set_nonblocking(true).map_err(|_| Refusal::Descriptors)?;
            self.place_for(client, now)
        });
        match place {
            Ok(place) => {
                let slot = self.shared.take_slot();
                let connection = Connection::new(socket, place.client, slot, protocol, now);
                self.connections.push((connection, place));
            }
            Err(reason) => {
                self.shared.counters.refuse(reason, client);
                reset(&socket);
            }
        }
    }
    /// A place for a connection of `client`. If all are held, another connection may be closed.
    fn place_for(&mut self, client: IpAddr, now: Time) -> Result<Place, Refusal> {
        let check = self.shares.borrow().check(client);
        match check {
            Ok(()) => {}
            Err(NoPlace::Share(..)) => return Err(Refusal::ConnectionShare),
            Err(NoPlace::Full) => self.replace(client, now).ok_or(Refusal::Connections)?,
        }
        Ok(Place::take(&self.shares, client))
    }
    /// Closes a connection for `client`, if one may be closed.
    fn replace(&mut self, client: IpAddr, now: Time) -> Option<()> {
        let shares = self.shares.borrow();
        let held = self.connections.iter().enumerate().map(|(index, (connection, _))| Held {
            key: index,
            of_network: shares.of_network(connection.client),
            is_idle: connection.is_idle(now),
            is_due: false,
            since: connection.since.as_nanos(),
        });
        let index = place_to_free(held, shares.of_network(client))?;
        drop(shares);
        let (connection, _) = self.connections.swap_remove(index);
        self.shared.counters.refuse(Refusal::ConnectionReplaced, Some(connection.client));
        reset(&connection.socket);
        Some(())
    }
    fn refuse_stranger(&mut self, (connection, place): Placed, now: Time) {
        if self.shared.is_silent(connection.client) {
            self.shared.counters.refuse(Refusal::Stranger, Some(connection.client));
            return;
        }
        self.shared.counters.refuse(Refusal::Token, Some(connection.client));
        let message = "missing or wrong token".to_owned();
        let line = ServerMessage::Error { code: ErrorCode::Token, message }.to_line();
        self.dismiss((connection, place), line, now);
    }
    fn open_session(
        &mut self,
        (connection, place): Placed,
        key: Option<SessionKey>,
        early: Vec<u8>,
        now: Time,
    ) {
        let (reason, code, message) = match self.try_session(&connection, key) {
            Ok(open) => {
                let spare = connection.socket.try_clone();
                let Connection { socket, slot, client, .. } = connection;
                let life = move || control::run(open, socket, &early, slot);
                let Err(error) = spawn(self.shared, "fathom-session", life) else { return };
                let line = |message| ServerMessage::Error { code: ErrorCode::Full, message }.to_line();
                return self.without_thread(spare, client, place, &error, line);
            }
            Err(refusal) => refusal,
        };
        self.shared.counters.refuse(reason, Some(connection.client));
        self.dismiss((connection, place), ServerMessage::Error { code, message }.to_line(), now);
    }
    /// Starts a test of an iperf3 client, or adds a stream to one.
    fn open_iperf3(&mut self, (connection, place): Placed, cookie: Cookie, now: Time) {
        if self.shared.iperf3.awaits(cookie, connection.client) {
            let Connection { socket, slot, client, .. } = connection;
            return self.shared.iperf3.deliver(cookie, client, (socket, slot));
        }
        match self.try_session(&connection, None) {
            Ok(open) => {
                let spare = connection.socket.try_clone();
                let Connection { socket, slot, client, .. } = connection;
                let life = move || iperf3::run(open, socket, cookie, slot);
                if let Err(error) = spawn(self.shared, "fathom-iperf3", life) {
                    self.without_thread(spare, client, place, &error, |_| vec![iperf3::REFUSED]);
                }
            }
            Err((reason, ..)) => {
                self.shared.counters.refuse(reason, Some(connection.client));
                self.dismiss((connection, place), vec![iperf3::REFUSED], now);
            }
        }
    }
    fn try_session(
        &self,
        connection: &Connection,
        key: Option<SessionKey>,
    ) -> Result<OpenSession, (Refusal, ErrorCode, String)> {
        let local = connection.socket.local_addr().ok().and_then(|address| address.as_socket());
        let local = local.ok_or((Refusal::Session, ErrorCode::Session, "the connection ended".to_owned()))?;
        OpenSession::begin(self.shared, local, (connection.client, key))
    }
    fn open_flow(&mut self, (connection, place): Placed, request: FlowRequest, early: Vec<u8>, now: Time) {
        let session = match self.session_of(&request, connection.client) {
            Ok(session) => session,
            Err((reason, message)) => {
                self.shared.counters.refuse(reason, Some(connection.client));
                if self.shared.is_silent(connection.client) {
                    return;
                }
                let line = refused_flow(ErrorCode::Session, message);
                return self.dismiss((connection, place), line, now);
            }
        };
        let spare = connection.socket.try_clone();
        let Connection { socket, slot, client, .. } = connection;
        let shared = Arc::clone(self.shared);
        let start = load::Start { request, socket, early, slot };
        let life = move || load::run(&shared, &session, start);
        if let Err(error) = spawn(self.shared, "fathom-flow", life) {
            self.without_thread(spare, client, place, &error, |text| refused_flow(ErrorCode::Full, text));
        }
    }
    /// The open session of a flow from `client`. Session IDs are sent in clear text, so a flow must
    /// come from the address of its session, and know its key if it has one.
    fn session_of(&self, request: &FlowRequest, client: IpAddr) -> Result<Arc<Session>, (Refusal, String)> {
        let session = self.shared.sessions.get(request.session);
        let session = session.ok_or_else(|| (Refusal::Session, "unknown session".to_owned()))?;
        if session.client != client {
            let message = format!("the session is of another address than {client}");
            return Err((Refusal::FlowAddress, message));
        }
        let is_authentic =
            session.key.is_none_or(|key| request.mac.is_some_and(|mac| mac.is(&key.of_flow(request))));
        if !is_authentic {
            return Err((Refusal::FlowCode, "the flow does not know the key of its session".to_owned()));
        }
        Ok(session)
    }
    /// Refuses a client because the system has no thread for it. `spare` is its connection.
    fn without_thread(
        &mut self,
        spare: io::Result<Socket>,
        client: IpAddr,
        place: Place,
        error: &io::Error,
        line: impl FnOnce(String) -> Vec<u8>,
    ) {
        self.shared.counters.refuse(Refusal::Threads, Some(client));
        let Ok(socket) = spare else { return };
        let now = self.shared.clock.now();
        let connection = Connection::new(socket, client, self.shared.take_slot(), Protocol::Fathom, now);
        let message = format!("the server could not start a thread: {}", without_code(error));
        self.dismiss((connection, place), line(message), now);
    }
    fn dismiss(&mut self, (mut connection, place): Placed, line: Vec<u8>, now: Time) {
        if matches!(connection.close_with(line, now), Next::Stay) {
            self.connections.push((connection, place));
        }
    }
}

/// Errors of accept(2) that concern one connection, not the listener. Source: accept(2), "already
/// pending network errors".
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::ConnectionAborted
            | Kind::ConnectionReset
            | Kind::Interrupted
            | Kind::PermissionDenied
            | Kind::NetworkDown
            | Kind::NetworkUnreachable
            | Kind::HostUnreachable
            | Kind::TimedOut
    )
}

fn refused_flow(code: ErrorCode, message: String) -> Vec<u8> {
    format!("{}\n", FlowAnswer::Err { code, message }).into_bytes()
}

/// Makes closing send a reset, so that no connection stays in TIME_WAIT.
fn reset(socket: &Socket) {
    // Fails if the client has disconnected.
    let _ = socket.set_linger(Some(StdDuration::ZERO));
}
