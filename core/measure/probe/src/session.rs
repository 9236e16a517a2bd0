//! Client side of the control connection to `fathom serve`.
//!
//! [`Session`] handles one connection. [`SessionKeeper`] keeps a session open: it renews the
//! session before it ends and opens a new one when it is lost. Neither does I/O: the caller passes
//! events in (`handle_input`, `handle_timeout`), executes the outputs (`poll_output`), and calls
//! again at `poll_timeout`.
mod keeper;

pub use keeper::{ConnectionId, KeeperInput, KeeperOutput, SessionKeeper, SessionPolicy};

use crate::protocol::{
    CONTROL_LINE_LIMIT_BYTES, ClientMessage, ErrorCode, FirstLine, FlowReport, HOPS, HopReport, Limits,
    LineReader, Nonce, REPORT_EVERY_MAX_MS, REPORT_EVERY_MIN_MS, ServerMessage, SessionKey, Ticket, Token,
};
use alloc::borrow::ToOwned;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use fathom_units::{Duration, Time};

/// Longest excerpt of another service's response in an error.
const SHOWN_BYTES: usize = 200;

/// First message of the server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hello {
    /// The session.
    pub session: Ticket,
    /// Address of this client as the server sees it.
    pub seen_as: IpAddr,
    /// Version of the server, without control characters.
    pub version: String,
    /// Congestion controls that the server can set for download flows; the default first.
    pub congestion_controls: Vec<String>,
    /// Limits of the session.
    pub limits: Limits,
    /// Loads at a chosen rate that the server knows, by name.
    pub loads: Vec<String>,
}

/// Why a session was not opened, or ended. Server texts contain no control characters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SessionError {
    /// The connection could not be established, or broke.
    Connection(String),
    /// The service is not `fathom serve`; describes its response.
    NotFathom(String),
    /// The server sent no Hello within this time.
    Timeout(Duration),
    /// The server rejected or ended the session.
    Rejected {
        /// Reason for programs.
        code: ErrorCode,
        /// Reason for people.
        message: String,
    },
    /// The server did not show that it knows the token.
    NotProven,
    /// The server violated the protocol.
    Protocol(String),
    /// The server closed the connection.
    Closed,
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SessionError::Connection(reason) => f.write_str(reason),
            SessionError::NotFathom(seen) => write!(f, "the service is not `fathom serve`: {seen}"),
            SessionError::Timeout(waited) => write!(f, "the server sent no Hello within {waited}"),
            SessionError::Rejected { code, message } => write!(f, "{code}: {message}"),
            SessionError::NotProven => f.write_str(
                "the server did not show that it knows the token: it is another one, or requires none",
            ),
            SessionError::Protocol(problem) => write!(f, "protocol error: {problem}"),
            SessionError::Closed => f.write_str("the server closed the control connection"),
        }
    }
}
impl core::error::Error for SessionError {}

/// An event of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SessionEvent {
    /// The session is open.
    Opened(Hello),
    /// The server reported its flows.
    Report {
        /// Time in ns on the server's clock.
        at_ns: u64,
        /// The open flows.
        flows: Vec<FlowReport>,
        /// Other sessions that have load at this time.
        others: u32,
    },
    /// What routers on the way from the server answered.
    Hops(Vec<HopReport>),
    /// The server's final counts.
    Bye {
        /// UDP probes of the session that the server received.
        udp_received: u64,
    },
    /// The server sent a second Hello, which is harmless.
    SecondHello,
    /// The session is over. The connection must be closed; no event follows.
    Ended(SessionError),
}

/// An action for the caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SessionOutput {
    /// Send these bytes.
    Send(Vec<u8>),
    /// An event to process.
    Event(SessionEvent),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Waiting for Hello.
    Greeting,
    Open,
    Ended,
}

/// A control connection after it was established.
#[derive(Clone, Debug)]
pub struct Session {
    state: State,
    lines: LineReader,
    patience: Duration,
    deadline: Time,
    report_ms: Option<u32>,
    output: VecDeque<SessionOutput>,
    credentials: Option<Credentials>,
    /// Since the challenge.
    key: Option<SessionKey>,
}

/// What a client needs for a server that requires a token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Credentials {
    /// The token.
    pub token: Token,
    /// Random, and used for one session.
    pub nonce: Nonce,
}

impl Session {
    /// Starts a session on a connection established at `now`; it must open within `patience`.
    pub fn new(credentials: Option<Credentials>, patience: Duration, now: Time) -> Self {
        let proof = credentials.as_ref().map(|own| own.token.prove(own.nonce));
        let first = format!("{}\n", FirstLine::Control { proof });
        Session {
            credentials,
            key: None,
            state: State::Greeting,
            lines: LineReader::new(CONTROL_LINE_LIMIT_BYTES),
            patience,
            deadline: now + patience,
            report_ms: None,
            output: VecDeque::from([SessionOutput::Send(first.into_bytes())]),
        }
    }
    /// Handles received bytes.
    pub fn handle_input(&mut self, bytes: &[u8]) {
        if self.state == State::Ended {
            return;
        }
        self.lines.push(bytes);
        while self.state != State::Ended {
            match self.lines.next_line() {
                Ok(Some(line)) => self.take_line(&line),
                Ok(None) => return,
                Err(too_long) => self.violated(format!("the server sent a {too_long}")),
            }
        }
    }
    /// Handles the end of the connection: `None` if the server closed it, otherwise why it broke.
    pub fn handle_close(&mut self, reason: Option<String>) {
        let error = match (reason, self.state) {
            (Some(reason), _) => SessionError::Connection(reason),
            (None, State::Greeting) => {
                SessionError::NotFathom("it closed the connection without a response".to_owned())
            }
            (None, _) => SessionError::Closed,
        };
        self.end(error);
    }
    /// Must be called at [`Session::poll_timeout`].
    pub fn handle_timeout(&mut self, now: Time) {
        if self.state == State::Greeting && now >= self.deadline {
            self.end(SessionError::Timeout(self.patience));
        }
    }
    /// When to call [`Session::handle_timeout`]; `None` if there is no deadline.
    pub fn poll_timeout(&self) -> Option<Time> {
        (self.state == State::Greeting).then_some(self.deadline)
    }
    /// The next action.
    pub fn poll_output(&mut self) -> Option<SessionOutput> {
        self.output.pop_front()
    }
    /// Requests reports of the flows at this interval, within the limits of the protocol. Does
    /// nothing if the interval is unchanged.
    pub fn report_every(&mut self, interval: Duration) {
        let ms = u32::try_from(interval.as_nanos() / 1_000_000).unwrap_or(u32::MAX);
        let ms = ms.clamp(REPORT_EVERY_MIN_MS, REPORT_EVERY_MAX_MS);
        if self.state == State::Open && self.report_ms.replace(ms) != Some(ms) {
            self.send(&ClientMessage::ReportEvery { ms });
        }
    }
    /// Requests probes of the hops from the server, if `hello` lists them.
    pub fn probe_hops(&mut self, hello: &Hello) {
        if self.state == State::Open && hello.loads.iter().any(|known| known == HOPS) {
            self.send(&ClientMessage::ProbeHops {});
        }
    }
    /// Asks the server to end the session and report its final counts.
    pub fn say_bye(&mut self) {
        if self.state == State::Open {
            self.send(&ClientMessage::Bye {});
        }
    }
    fn send(&mut self, message: &ClientMessage) {
        self.output.push_back(SessionOutput::Send(message.to_line()));
    }
    fn event(&mut self, event: SessionEvent) {
        self.output.push_back(SessionOutput::Event(event));
    }
    fn end(&mut self, error: SessionError) {
        if self.state != State::Ended {
            self.state = State::Ended;
            self.event(SessionEvent::Ended(error));
        }
    }
    /// A violation before Hello means that the service is not `fathom serve`.
    fn violated(&mut self, problem: String) {
        let is_other = self.state == State::Greeting;
        self.end(if is_other { SessionError::NotFathom(problem) } else { SessionError::Protocol(problem) });
    }
    fn take_line(&mut self, line: &[u8]) {
        match ServerMessage::parse(line) {
            Ok(ServerMessage::Error { code, message }) => {
                self.end(SessionError::Rejected { code, message: printable(message.as_bytes()) });
            }
            Ok(message) if self.state == State::Greeting => self.greeted(message),
            Ok(message) => self.take_message(message),
            Err(_) if self.state == State::Greeting => {
                self.violated(format!("it sent \"{}\"", printable(line)));
            }
            Err(error) => self.violated(printable(error.to_string().as_bytes())),
        }
    }
    fn greeted(&mut self, message: ServerMessage) {
        if let (ServerMessage::Challenge { nonce }, Some(own), None) =
            (&message, &self.credentials, &self.key)
        {
            let key = own.token.session_key(own.nonce, *nonce);
            self.key = Some(key);
            return self.send(&ClientMessage::Response { mac: key.of_client() });
        }
        let ServerMessage::Hello { session, address, version, congestion_controls, limits, loads, mac } =
            message
        else {
            return self.violated("its first message is not Hello".to_owned());
        };
        let is_proven = match (&self.key, mac) {
            (Some(key), Some(mac)) => key.of_server(session).is(&mac),
            _ => self.credentials.is_none(),
        };
        if !is_proven {
            return self.end(SessionError::NotProven);
        }
        self.state = State::Open;
        let version = printable(version.as_bytes());
        self.event(SessionEvent::Opened(Hello {
            session: Ticket { id: session, key: self.key },
            seen_as: address,
            version,
            congestion_controls,
            loads,
            limits,
        }));
    }
    fn take_message(&mut self, message: ServerMessage) {
        match message {
            ServerMessage::Report { at_ns, flows, others } => {
                self.event(SessionEvent::Report { at_ns, flows, others });
            }
            ServerMessage::Hops { replies } => self.event(SessionEvent::Hops(replies)),
            ServerMessage::Bye { udp_received, .. } => self.event(SessionEvent::Bye { udp_received }),
            ServerMessage::Hello { .. } => {
                self.event(SessionEvent::SecondHello);
            }
            ServerMessage::Challenge { .. } => {
                self.violated("the server sent a challenge in an open session".to_owned());
            }
            ServerMessage::Error { .. } => {}
        }
    }
}

/// Start of a text from the server, without control characters.
fn printable(text: &[u8]) -> String {
    String::from_utf8_lossy(&text[..text.len().min(SHOWN_BYTES)])
        .chars()
        .map(|c| if c.is_control() { '.' } else { c })
        .collect()
}
