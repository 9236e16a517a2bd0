//! Keeps a session with a server open.
use super::{Credentials, Hello, Session, SessionError, SessionEvent, SessionOutput};
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::{Duration, Time};

/// After this percentage of a session's duration the next session is opened.
const RENEW_AT_PERCENT: u64 = 90;

/// Parameters of keeping a session open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionPolicy {
    /// The token, and a random nonce from which those of the sessions are derived.
    pub credentials: Option<Credentials>,
    /// Timeout of a connection attempt; `None` if the caller handles it.
    pub connect_timeout: Option<Duration>,
    /// Timeout of the server's Hello after connecting.
    pub patience: Duration,
    /// Delay between a failure and the next attempt.
    pub retry_after: Duration,
    /// Minimum time between opening two sessions.
    pub pause: Duration,
    /// Number of open sessions: with 2, late replies to the previous session's probes arrive.
    pub sessions: usize,
}

/// Number of a connection; never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionId(pub u64);

/// An event of a connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeeperInput<'b> {
    /// The connection was established.
    Connected,
    /// Bytes arrived.
    Received(&'b [u8]),
    /// The connection failed or broke for a reason, or the server closed it (`None`).
    Closed(Option<String>),
}

/// An action for the caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeeperOutput {
    /// Open a connection.
    Connect(ConnectionId),
    /// Send these bytes.
    Send(ConnectionId, Vec<u8>),
    /// A session is open and replaces the current one.
    Opened(ConnectionId, Hello),
    /// Close the connection for this reason; `None` if another session took over.
    Close(ConnectionId, Option<SessionError>),
}

/// A connection that is being established or waits for Hello.
#[derive(Clone, Debug)]
struct Attempt {
    id: ConnectionId,
    session: Option<Session>,
    deadline: Option<Time>,
}

#[derive(Clone, Debug)]
struct Open {
    id: ConnectionId,
    session: Session,
    renew_at: Time,
}

/// Keeps a session open: renews it before it ends, and reopens it when it is lost.
#[derive(Clone, Debug)]
pub struct SessionKeeper {
    policy: SessionPolicy,
    next: u64,
    attempt: Option<Attempt>,
    /// The last one is in use.
    open: VecDeque<Open>,
    retry_at: Time,
    problem: Option<SessionError>,
    output: VecDeque<KeeperOutput>,
}

impl SessionKeeper {
    /// Creates a keeper; its first [`SessionKeeper::handle_timeout`] starts to open a session.
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
    /// Connection of the session in use.
    pub fn current(&self) -> Option<ConnectionId> {
        self.open.back().map(|open| open.id)
    }
    /// Why there is no session; `None` if there is one or the first is being opened.
    pub fn problem(&self) -> Option<&SessionError> {
        self.problem.as_ref().filter(|_| self.open.is_empty())
    }
    /// Handles an event of a connection. Events of closed connections are ignored.
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
    /// Must be called at [`SessionKeeper::poll_timeout`]; earlier calls are harmless.
    pub fn handle_timeout(&mut self, now: Time) {
        if let Some(attempt) = &mut self.attempt {
            match &mut attempt.session {
                Some(session) => session.handle_timeout(now),
                None if attempt.deadline.is_some_and(|deadline| now >= deadline) => {
                    let reason = SessionError::Connection("no reply to the SYN".into());
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
    /// When to call [`SessionKeeper::handle_timeout`]; `None` while the caller times connecting.
    pub fn poll_timeout(&self) -> Option<Time> {
        match &self.attempt {
            Some(Attempt { session: Some(session), .. }) => session.poll_timeout(),
            Some(Attempt { deadline, .. }) => *deadline,
            None => Some(self.next_attempt()),
        }
    }
    /// The next action.
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
            let credentials = self.policy.credentials.clone().map(|own| {
                let nonce = own.token.nonce(own.nonce, attempt.id.0);
                Credentials { nonce, ..own }
            });
            attempt.session = Some(Session::new(credentials, self.policy.patience, now));
        }
    }
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
    fn take_outputs(&mut self, now: Time) {
        while let Some((id, output)) = self.next_output() {
            match output {
                SessionOutput::Send(bytes) => self.output.push_back(KeeperOutput::Send(id, bytes)),
                SessionOutput::Event(SessionEvent::Opened(hello)) => self.opened(hello, now),
                SessionOutput::Event(SessionEvent::Ended(error)) => self.ended(id, error, now),
                // The keeper opens no flows and says no Bye.
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
