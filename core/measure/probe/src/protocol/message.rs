//! Messages of the control connection.
use super::{Mac, Nonce, Reception, SessionId};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;
use serde::{Deserialize, Serialize};

/// A message of the client, after the first line.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientMessage {
    /// Requests periodic reports while there are flows.
    ReportEvery {
        /// Interval, from [`super::REPORT_EVERY_MIN_MS`] to [`super::REPORT_EVERY_MAX_MS`].
        ms: u32,
    },
    /// Requests probes of the hops to the client. Only if `loads` has [`super::HOPS`].
    ProbeHops {},
    /// Response to [`ServerMessage::Challenge`].
    Response {
        /// Shows that the client knows the token.
        mac: Mac,
    },
    /// Ends the session.
    Bye {},
}

/// A message of the server.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerMessage {
    /// Before Hello, if the server requires a token.
    Challenge {
        /// Chosen by the server.
        nonce: Nonce,
    },
    /// The session is open.
    Hello {
        /// Identifier of the session.
        session: SessionId,
        /// Address of the client as the server sees it.
        address: IpAddr,
        /// Version of the server program.
        version: String,
        /// Congestion controls allowed for download flows; the default first.
        congestion_controls: Vec<String>,
        /// Limits of the session.
        limits: Limits,
        /// Loads at a chosen rate that flows may carry: of [`super::FlowLoad::NAMES`].
        #[serde(default)]
        loads: Vec<String>,
        /// Shows that the server knows the token, if it requires one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mac: Option<Mac>,
    },
    /// The session is rejected or ends.
    Error {
        /// Reason for programs.
        code: ErrorCode,
        /// Reason for people.
        message: String,
    },
    /// Current state of the flows.
    Report {
        /// Time in ns on the server's monotonic clock, which UDP probes also use.
        at_ns: u64,
        /// The open flows.
        flows: Vec<FlowReport>,
        /// Other sessions that have load at this time.
        #[serde(default, skip_serializing_if = "is_zero")]
        others: u32,
    },
    /// What routers on the way to the client answered since the last such message.
    Hops {
        /// The replies.
        replies: Vec<HopReport>,
    },
    /// Response to [`ClientMessage::Bye`].
    Bye {
        /// Payload bytes of load flows received from the client.
        up_bytes: u64,
        /// Payload bytes of load flows that the client's TCP has acknowledged.
        down_bytes: u64,
        /// UDP probes received for the session.
        udp_received: u64,
        /// UDP probes of the session from an address other than its control connection's.
        udp_refused: u64,
    },
}

/// Limits of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum duration in seconds.
    pub seconds: u64,
    /// Maximum number of load payload bytes, sum of both directions.
    pub bytes: u64,
    /// Maximum number of concurrent flows.
    pub flows: u32,
}

/// State of a load flow.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct FlowReport {
    /// Number that the client chose for the flow.
    pub number: u32,
    /// Payload bytes since its start: received by the server's application for an upload,
    /// acknowledged by the client's TCP for a download.
    pub bytes: u64,
    /// Download: smoothed round-trip time at the sender, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_us: Option<u32>,
    /// Download: congestion window in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwnd_bytes: Option<u64>,
    /// Download: segments retransmitted since the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u32>,
    /// Download: payload bytes acknowledged since the start, cumulatively or selectively.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_bytes: Option<u64>,
    /// Download: payload bytes that the server has written and its TCP has not sent yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsent_bytes: Option<u32>,
    /// Download: time in which the client's receive window was the limit, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver_limited_us: Option<u64>,
    /// Upload of datagrams: those that the server received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datagrams: Option<Reception>,
}

/// Reply of a router on the way from the server to the client.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HopReport {
    /// Number of the router, from 1 at the server.
    pub hop: u8,
    /// Its address.
    pub address: IpAddr,
    /// Send time of the probe in ns on the server's monotonic clock.
    pub sent_ns: u64,
    /// Time until the reply, in microseconds.
    pub rtt_us: u32,
    /// Whether the probe was in the flow of a download, and not in the control connection.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub in_flow: bool,
}

/// Why a session or flow is rejected or ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The server has reached its maximum number of sessions, flows or connections.
    Full,
    /// The server requires a token, and the given one is missing or wrong.
    Token,
    /// The server does not support this protocol version.
    Version,
    /// The session has reached its time or data limit.
    Limit,
    /// The server could not parse the message.
    Malformed,
    /// The session of a flow is not open.
    Session,
    /// The number of a flow is already in use.
    Number,
    /// A code of a later version.
    #[serde(other)]
    Other,
}

/// Why a line is not a message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MessageError(String);

/// Leaves a count out of most reports.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid control message: {}", self.0)
    }
}
impl core::error::Error for MessageError {}

impl From<serde_json::Error> for MessageError {
    fn from(error: serde_json::Error) -> Self {
        MessageError(error.to_string())
    }
}

impl ClientMessage {
    /// Parses a line without its `\n`. Unknown fields are ignored.
    ///
    /// # Errors
    /// If it is not JSON or of an unknown kind.
    pub fn parse(line: &[u8]) -> Result<Self, MessageError> {
        Ok(serde_json::from_slice(line)?)
    }
    /// The message as a line with its `\n`.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        to_line(self)
    }
}

impl ServerMessage {
    /// Parses a line without its `\n`. Unknown fields are ignored.
    ///
    /// # Errors
    /// If it is not JSON or of an unknown kind.
    pub fn parse(line: &[u8]) -> Result<Self, MessageError> {
        Ok(serde_json::from_slice(line)?)
    }
    /// The message as a line with its `\n`.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        to_line(self)
    }
}

fn to_line(message: &impl Serialize) -> Vec<u8> {
    // Cannot fail: messages consist of strings, numbers and arrays.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

impl ErrorCode {
    /// Name in the protocol.
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
    /// The code with this name; [`ErrorCode::Other`] for an unknown name.
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
