//! The front thread: accepts connections and serves those that need no thread.
use crate::connection::{Connection, Next};
use crate::control::{self, OpenSession};
use crate::load;
use crate::shared::Shared;
use crate::stats::Refusal;
use fathom_os::poll::{self, PollFd};
use fathom_probe::protocol::{ErrorCode, FlowAnswer, FlowRequest, ServerMessage, Token};
use fathom_units::{Duration, Time};
use socket2::Socket;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration as StdDuration;

/// Pause after accept(2) failed for lack of descriptors or memory.
const ACCEPT_BACK_OFF: Duration = Duration::from_millis(100);
/// Connections accepted in a row before open ones are served.
const ACCEPT_BURST: usize = 64;
/// An address without a session may use one in this many of all connections.
const SHARE_OF_ONE_ADDRESS: usize = 4;
/// The call stacks are shallow, and untouched stack uses no memory.
const STACK_BYTES: usize = 256 * 1024;

/// Runs until the server stops. A panic closes this thread's connections but does not stop the
/// server.
pub(crate) fn run(shared: &Arc<Shared>, listeners: &[Socket]) {
    while !shared.stop.is_set() {
        let mut front = Front { shared, listeners, connections: Vec::new(), accept_from: shared.clock.now() };
        if catch_unwind(AssertUnwindSafe(|| front.run())).is_err() {
            shared.counters.panics.fetch_add(1, Relaxed);
        }
    }
}

struct Front<'a> {
    shared: &'a Arc<Shared>,
    listeners: &'a [Socket],
    connections: Vec<Connection>,
    /// Time before which accept(2) is not retried.
    accept_from: Time,
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
        fds.extend(self.connections.iter().map(Connection::interest));
        if accepting {
            fds.extend(self.listeners.iter().map(|l| PollFd::readable(l.as_fd())));
        }
        let due = self.connections.iter().map(|c| c.deadline).min().unwrap_or(Time::MAX);
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
        for (mut connection, is_ready) in connections.into_iter().zip(ready) {
            let next = match is_ready {
                true => connection.step(self.shared, now),
                false => Next::Stay,
            };
            match next {
                Next::Close => {}
                Next::Stay if connection.deadline <= now => connection.expire(self.shared),
                Next::Stay => self.connections.push(connection),
                Next::Control(token, early) => self.open_session(connection, token, early, now),
                Next::Flow(request, early) => self.open_flow(connection, request, early, now),
            }
        }
    }
    fn accept(&mut self, now: Time) {
        for listener in self.listeners {
            for _ in 0..ACCEPT_BURST {
                match listener.accept() {
                    Ok((socket, address)) => {
                        self.admit(socket, address.as_socket().map(|a| a.ip()), now);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if is_of_one_connection(&error) => {}
                    Err(_) => {
                        // EMFILE, ENFILE, ENOBUFS, ENOMEM: the connection stays in the backlog.
                        self.shared.counters.refuse(Refusal::Descriptors);
                        self.accept_from = now + ACCEPT_BACK_OFF;
                        return;
                    }
                }
            }
        }
    }
    fn admit(&mut self, socket: Socket, client: Option<IpAddr>, now: Time) {
        let share = (self.shared.config.max_connections as usize / SHARE_OF_ONE_ADDRESS).max(1);
        let of_client = self.connections.iter().filter(|c| Some(c.client) == client).count();
        let slot = if of_client < share { self.shared.take_slot() } else { None };
        match (slot, client) {
            (Some(slot), Some(client)) if socket.set_nonblocking(true).is_ok() => {
                self.connections.push(Connection::new(socket, client, slot, now));
            }
            _ => {
                self.shared.counters.refuse(Refusal::Connections);
                // Close with a reset, so that no connection stays in TIME_WAIT. Fails if the client
                // has disconnected.
                let _ = socket.set_linger(Some(StdDuration::ZERO));
            }
        }
    }
    fn open_session(&mut self, connection: Connection, token: Option<Token>, early: Vec<u8>, now: Time) {
        let refusal = match self.try_session(&connection, token) {
            Ok(open) => {
                let Connection { socket, slot, .. } = connection;
                spawn(self.shared, "fathom-session", move || control::run(open, socket, &early, slot));
                return;
            }
            Err(refusal) => refusal,
        };
        let (code, message) = refusal;
        self.shared.counters.refuse(if code == ErrorCode::Token { Refusal::Token } else { Refusal::Full });
        self.dismiss(connection, ServerMessage::Error { code, message }.to_line(), now);
    }
    fn try_session(
        &self,
        connection: &Connection,
        token: Option<Token>,
    ) -> Result<OpenSession, (ErrorCode, String)> {
        if let Some(secret) = &self.shared.token {
            let right = token.is_some_and(|t| t.matches(secret));
            right.then_some(()).ok_or((ErrorCode::Token, "missing or wrong token".to_owned()))?;
        }
        let most = self.shared.config.max_sessions;
        match OpenSession::begin(self.shared, &connection.socket, connection.client) {
            Ok(Some(open)) => Ok(open),
            Ok(None) => {
                Err((ErrorCode::Full, format!("the server has reached its limit of {most} sessions")))
            }
            Err(error) => Err((ErrorCode::Full, error.to_string())),
        }
    }
    fn open_flow(&mut self, connection: Connection, request: FlowRequest, early: Vec<u8>, now: Time) {
        let Some(session) = self.shared.sessions.get(request.session) else {
            self.shared.counters.refuse(Refusal::Session);
            let answer = FlowAnswer::Err { code: ErrorCode::Session, message: "unknown session".into() };
            return self.dismiss(connection, format!("{answer}\n").into_bytes(), now);
        };
        let Connection { socket, slot, .. } = connection;
        let shared = Arc::clone(self.shared);
        let start = load::Start { request, socket, early, slot };
        spawn(self.shared, "fathom-flow", move || load::run(&shared, &session, start));
    }
    fn dismiss(&mut self, mut connection: Connection, line: Vec<u8>, now: Time) {
        if matches!(connection.close_with(line, now), Next::Stay) {
            self.connections.push(connection);
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

/// Runs `life` in a thread. If none can be started, `life` is dropped, which closes the connection.
fn spawn(shared: &Arc<Shared>, name: &str, life: impl FnOnce() + Send + 'static) {
    let counters = Arc::clone(shared);
    let guarded = move || {
        if catch_unwind(AssertUnwindSafe(life)).is_err() {
            counters.counters.panics.fetch_add(1, Relaxed);
        }
    };
    if thread::Builder::new().name(name.into()).stack_size(STACK_BYTES).spawn(guarded).is_err() {
        shared.counters.refuse(Refusal::Full);
    }
}
