//! Lines of the control connection.
use super::SessionId;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// What a client says on its control connection after the first line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientMessage {
    /// From now on a report at this interval, while there are flows.
    ReportEvery {
        /// Between [`super::REPORT_EVERY_MIN_MS`] and [`super::REPORT_EVERY_MAX_MS`].
        ms: u32,
    },
    /// Ends the session.
    Bye {},
}

/// What a server says on a control connection.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerMessage {
    /// The session is open. First line of every session.
    Hello {
        /// Its name.
        session: SessionId,
        /// The client's address as the server sees it.
        address: IpAddr,
        /// Version of the server's program.
        version: String,
        /// What the server's kernel lets it use for down flows; its default first.
        congestion_controls: Vec<String>,
        /// What the session may use.
        limits: Limits,
    },
    /// The session is refused, or ends.
    Error {
        /// Why, for a program.
        code: ErrorCode,
        /// Why, for a person.
        message: String,
    },
    /// The flows now.
    Report {
        /// When, in ns on the server's monotonic clock, the one of the UDP probes.
        at_ns: u64,
        /// Each open flow.
        flows: Vec<FlowReport>,
    },
    /// Answer to [`ClientMessage::Bye`].
    Bye {
        /// Payload bytes received from the client in load flows.
        up_bytes: u64,
        /// Payload bytes of load flows that the client's TCP has acknowledged.
        down_bytes: u64,
        /// UDP probes of the session.
        udp_received: u64,
        /// UDP probes that named the session but came from another address than its control connection.
        udp_refused: u64,
    },
}

/// What a session may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Longest session in seconds.
    pub seconds: u64,
    /// Most payload bytes of load, both directions together.
    pub bytes: u64,
    /// Most flows at a time.
    pub flows: u32,
}

/// A load flow in a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FlowReport {
    /// The client's number of the flow.
    pub number: u32,
    /// Payload bytes since its start: of an up flow what the server's application has received, of a down flow what the
    /// client's TCP has acknowledged.
    pub bytes: u64,
    /// Down flows: smoothed round-trip time at the sender, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_us: Option<u32>,
    /// Down flows: congestion window in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwnd_bytes: Option<u64>,
    /// Down flows: segments retransmitted since the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u32>,
}

/// Why a session or a flow is refused or ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The server has as many sessions, flows or connections as it may.
    Full,
    /// The server requires a token, and this is not it.
    Token,
    /// The server does not speak this version of the protocol.
    Version,
    /// The session has used up its time or its bytes.
    Limit,
    /// The server could not read what it was sent.
    Malformed,
    /// A flow names a session that is not open.
    Session,
    /// A flow has the number of another open flow.
    Number,
    /// A code of a later version.
    #[serde(other)]
    Other,
}

/// A line is not a message. Says what of it could not be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageError(String);

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a line of the control protocol: {}", self.0)
    }
}
impl core::error::Error for MessageError {}

impl From<serde_json::Error> for MessageError {
    fn from(error: serde_json::Error) -> Self {
        MessageError(error.to_string())
    }
}

impl ClientMessage {
    /// Reads a line without its `\n`. Unknown fields are ignored.
    ///
    /// # Errors
    /// If it is not JSON or of no known kind.
    pub fn parse(line: &[u8]) -> Result<Self, MessageError> {
        Ok(serde_json::from_slice(line)?)
    }
    /// The line, with its `\n`.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        to_line(self)
    }
}

impl ServerMessage {
    /// Reads a line without its `\n`. Unknown fields are ignored.
    ///
    /// # Errors
    /// If it is not JSON or of no known kind.
    pub fn parse(line: &[u8]) -> Result<Self, MessageError> {
        Ok(serde_json::from_slice(line)?)
    }
    /// The line, with its `\n`.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        to_line(self)
    }
}

fn to_line(message: &impl Serialize) -> Vec<u8> {
    // Strings, numbers and arrays of them: there is nothing that JSON could not hold.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

impl ErrorCode {
    /// Its word in the protocol.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ErrorCode::Full => "full",
            ErrorCode::Token => "token",
            ErrorCode::Version => "version",
            ErrorCode::Limit => "limit",
            ErrorCode::Malformed => "malformed",
            ErrorCode::Session => "session",
            ErrorCode::Number => "number",
            ErrorCode::Other => "other",
        }
    }
    /// The code of a word; [`ErrorCode::Other`] for one that is not known.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        let all = [
            ErrorCode::Full,
            ErrorCode::Token,
            ErrorCode::Version,
            ErrorCode::Limit,
            ErrorCode::Malformed,
            ErrorCode::Session,
            ErrorCode::Number,
        ];
        all.into_iter().find(|code| code.name() == name).unwrap_or(ErrorCode::Other)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
