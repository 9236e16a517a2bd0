//! Keeps a session with a server open.
use super::{Hello, Session, SessionError, SessionEvent, SessionOutput};
use crate::protocol::Token;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::{Duration, Time};

/// The next session is opened when this share of the one in use has passed, in percent, and takes over without a gap.
const RENEW_AT_PERCENT: u64 = 90;

/// How a session is kept open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionPolicy {
    /// Authentication token.
    pub token: Option<Token>,
    /// A connection must be made within this time; `None` leaves that to the caller.
    pub connect_timeout: Option<Duration>,
    /// Hello must come this soon after the connection was made.
    pub patience: Duration,
    /// After a failure the next attempt is made this much later.
    pub retry_after: Duration,
    /// After a session was opened no other is opened within this time.
    pub pause: Duration,
    /// Sessions that stay open: with 2, replies to probes of the previous one still arrive.
    pub sessions: usize,
}

/// Number of a connection. No number is used twice.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionId(pub u64);

/// What happened to a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeeperInput<'b> {
    /// It was made.
    Connected,
    /// Bytes arrived.
    Received(&'b [u8]),
    /// It could not be made, or broke, for a reason; without one the server closed it.
    Closed(Option<String>),
}

/// What the caller is to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeeperOutput {
    /// Make a connection.
    Connect(ConnectionId),
    /// Send these bytes.
    Send(ConnectionId, Vec<u8>),
    /// A session is open, and the one to use from now on.
    Opened(ConnectionId, Hello),
    /// Close the connection, whatever its state. The error is why; `None` if another session took over.
    Close(ConnectionId, Option<SessionError>),
}

/// A connection that is being made, or waits for Hello.
#[derive(Clone, Debug)]
struct Attempt {
    id: ConnectionId,
    /// `None` while it is being connected.
    session: Option<Session>,
    /// When the connection must have been made.
    deadline: Option<Time>,
}

#[derive(Clone, Debug)]
struct Open {
    id: ConnectionId,
    session: Session,
    renew_at: Time,
}

/// Keeps a session with one server open: renews it before its time is over, and opens another when it is lost.
#[derive(Clone, Debug)]
pub struct SessionKeeper {
    policy: SessionPolicy,
    next: u64,
    attempt: Option<Attempt>,
    /// The one in use is the last.
    open: VecDeque<Open>,
    retry_at: Time,
    problem: Option<SessionError>,
    output: VecDeque<KeeperOutput>,
}

impl SessionKeeper {
    /// Without a session. The first [`SessionKeeper::handle_timeout`] begins to open one.
    pub const fn new(policy: SessionPolicy) -> Self {
        SessionKeeper {
            policy,
            next: 0,
            attempt: None,
            open: VecDeque::new(),
            retry_at: Time::ZERO,
            problem: None,
            output: VecDeque::new(),
        }
    }
    /// The connection of the session in use.
    pub fn current(&self) -> Option<ConnectionId> {
        self.open.back().map(|open| open.id)
    }
    /// Why there is no session; `None` if there is one, or the first is being opened.
    pub fn problem(&self) -> Option<&SessionError> {
        self.problem.as_ref().filter(|_| self.open.is_empty())
    }
    /// Takes what happened to a connection. What happens to one that is closed does not matter.
    pub fn handle_input(&mut self, id: ConnectionId, input: KeeperInput<'_>, now: Time) {
        let is_attempt = self.attempt.as_ref().is_some_and(|attempt| attempt.id == id);
        match (input, is_attempt) {
            (KeeperInput::Connected, true) => self.connected(now),
            (KeeperInput::Connected, false) => {}
            (KeeperInput::Received(bytes), _) => self.with_session(id, |session| session.handle_input(bytes)),
            (KeeperInput::Closed(reason), true) if self.is_connecting() => {
                self.failed(reason.map_or(SessionError::Closed, SessionError::Connection), now);
            }
            (KeeperInput::Closed(reason), _) => {
                self.with_session(id, |session| session.handle_close(reason));
            }
        }
        self.take_outputs(now);
    }
    /// Call it at [`SessionKeeper::poll_timeout`]. More often does no harm.
    pub fn handle_timeout(&mut self, now: Time) {
        if let Some(attempt) = &mut self.attempt {
            match &mut attempt.session {
                Some(session) => session.handle_timeout(now),
                None if attempt.deadline.is_some_and(|deadline| now >= deadline) => {
                    let reason = SessionError::Connection("no answer to a TCP connection".into());
                    self.failed(reason, now);
                }
                None => {}
            }
        }
        self.take_outputs(now);
        if self.attempt.is_none() && now >= self.next_attempt() {
            self.begin(now);
        }
    }
    /// When [`SessionKeeper::handle_timeout`] is to be called; `None` while the caller makes a connection in its own time.
    pub fn poll_timeout(&self) -> Option<Time> {
        match &self.attempt {
            Some(Attempt { session: Some(session), .. }) => session.poll_timeout(),
            Some(Attempt { deadline, .. }) => *deadline,
            None => Some(self.next_attempt()),
        }
    }
    /// The next thing to do.
    pub fn poll_output(&mut self) -> Option<KeeperOutput> {
        self.output.pop_front()
    }

    fn is_connecting(&self) -> bool {
        self.attempt.as_ref().is_some_and(|attempt| attempt.session.is_none())
    }
    fn next_attempt(&self) -> Time {
        let wanted = self.open.back().map_or(Time::ZERO, |open| open.renew_at);
        wanted.max(self.retry_at)
    }
    fn begin(&mut self, now: Time) {
        let id = ConnectionId(self.next);
        self.next += 1;
        let deadline = self.policy.connect_timeout.map(|timeout| now + timeout);
        self.attempt = Some(Attempt { id, session: None, deadline });
        self.output.push_back(KeeperOutput::Connect(id));
    }
    fn connected(&mut self, now: Time) {
        if let Some(attempt) = self.attempt.as_mut().filter(|attempt| attempt.session.is_none()) {
            attempt.session = Some(Session::new(self.policy.token.clone(), self.policy.patience, now));
        }
    }
    /// Gives up the attempt.
    fn failed(&mut self, error: SessionError, now: Time) {
        if let Some(attempt) = self.attempt.take() {
            self.output.push_back(KeeperOutput::Close(attempt.id, Some(error.clone())));
        }
        self.problem = Some(error);
        self.retry_at = now + self.policy.retry_after;
    }
    fn with_session(&mut self, id: ConnectionId, change: impl FnOnce(&mut Session)) {
        let attempt = self.attempt.iter_mut().filter(|a| a.id == id).filter_map(|a| a.session.as_mut());
        let open = self.open.iter_mut().filter(|open| open.id == id).map(|open| &mut open.session);
        if let Some(session) = attempt.chain(open).next() {
            change(session);
        }
    }
    /// Takes what the sessions put out.
    fn take_outputs(&mut self, now: Time) {
        while let Some((id, output)) = self.next_output() {
            match output {
                SessionOutput::Send(bytes) => self.output.push_back(KeeperOutput::Send(id, bytes)),
                SessionOutput::Event(SessionEvent::Opened(hello)) => self.opened(hello, now),
                SessionOutput::Event(SessionEvent::Ended(error)) => self.ended(id, error, now),
                // No flows are opened, and no farewell is said.
                SessionOutput::Event(_) => {}
            }
        }
    }
    fn next_output(&mut self) -> Option<(ConnectionId, SessionOutput)> {
        let attempt = self.attempt.iter_mut().filter_map(|a| Some((a.id, a.session.as_mut()?)));
        let open = self.open.iter_mut().map(|open| (open.id, &mut open.session));
        attempt.chain(open).find_map(|(id, session)| Some((id, session.poll_output()?)))
    }
    fn opened(&mut self, hello: Hello, now: Time) {
        let Some(Attempt { id, session: Some(session), .. }) = self.attempt.take() else { return };
        let length_ns = u128::from(hello.limits.seconds) * 1_000_000_000 * u128::from(RENEW_AT_PERCENT) / 100;
        let length = Duration::from_nanos(u64::try_from(length_ns).unwrap_or(u64::MAX));
        self.open.push_back(Open { id, session, renew_at: now + length });
        self.retry_at = now + self.policy.pause;
        self.output.push_back(KeeperOutput::Opened(id, hello));
        while self.open.len() > self.policy.sessions.max(1) {
            self.open.pop_front().into_iter().for_each(|old| {
                self.output.push_back(KeeperOutput::Close(old.id, None));
            });
        }
    }
    fn ended(&mut self, id: ConnectionId, error: SessionError, now: Time) {
        if self.attempt.as_ref().is_some_and(|attempt| attempt.id == id) {
            return self.failed(error, now);
        }
        self.open.retain(|open| open.id != id);
        self.output.push_back(KeeperOutput::Close(id, Some(error.clone())));
        self.problem = Some(error);
    }
}
