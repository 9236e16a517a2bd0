//! The protocol between `fathom test` and `fathom serve`, as documented in `docs/protocol.md`.
//!
//! Conversion between values and text or bytes, with a limit for each. Arbitrary input causes
//! neither panics nor unbounded memory use.
mod auth;
mod bursts;
mod datagrams;
mod first_line;
mod http;
mod lines;
mod message;
mod objects;
mod session;
mod udp;

pub use auth::{AUTHENTIC_PROBE_BYTES, ControlProof, Datagram, SessionKey, Ticket};
pub use bursts::{AFTER_BURST, ARRIVAL_BYTES, BurstArrival, BurstSender, MOST_BURST_PAYLOAD_BYTES};
pub use datagrams::{DATAGRAM_HEADER_BYTES, LoadHeader, LoadSender, Receiver, Reception};
pub use first_line::{
    CLASSES, CongestionControl, FirstLine, FirstLineError, FlowAnswer, FlowLoad, FlowRequest, HOPS, Token,
};
pub use http::{
    AGENT, HTTP_HEAD_LIMIT_BYTES, HttpBody, HttpError, HttpRequest, HttpResponse, PROBE_PATH,
    RESPONSE_HEAD_LIMIT_BYTES, get_request, head_request, http_response, parse_request, parse_response,
    post_request, probe_request,
};
pub use lines::{LineReader, LineTooLong};
pub use message::{ClientMessage, ErrorCode, FlowReport, HopReport, Limits, MessageError, ServerMessage};
pub use objects::{OBJECT_REQUEST_LIMIT_BYTES, object_request, requested_object};
pub use session::{HexError, Mac, Nonce, SessionId};
pub use udp::{APPLICATION_LIMIT_BYTES, UDP_PROBE_BYTES, UdpKind, UdpProbe, UdpProbeError};

use fathom_units::Duration;

/// TCP and UDP port of `fathom serve`.
pub const DEFAULT_PORT: u16 = 3279;

/// Maximum length of the first line in bytes, including its `\n`.
pub const FIRST_LINE_LIMIT_BYTES: usize = 256;

/// A connection is closed if its first line is not complete within this time.
pub const FIRST_LINE_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum length of a control line in bytes, including its `\n`.
pub const CONTROL_LINE_LIMIT_BYTES: usize = 64 * 1024;

/// Minimum report interval in milliseconds.
pub const REPORT_EVERY_MIN_MS: u32 = 50;

/// Maximum report interval in milliseconds.
pub const REPORT_EVERY_MAX_MS: u32 = 10_000;

/// Maximum length of a token in bytes.
pub const TOKEN_LIMIT_BYTES: usize = 128;

/// Maximum length of a congestion control's name. Source: Linux `TCP_CA_NAME_MAX`, without NUL.
pub const CONGESTION_CONTROL_LIMIT_BYTES: usize = 15;
