//! What `fathom test` and `fathom serve` say to each other: `docs/protocol.md` in code.
//!
//! Text and bytes to values and back, each with its limit. Whatever arrives, nothing here panics and nothing grows
//! without bound.
mod first_line;
mod http;
mod lines;
mod message;
mod session;
mod udp;

pub use first_line::{CongestionControl, FirstLine, FirstLineError, FlowAnswer, FlowRequest, Token};
pub use http::{
    HTTP_HEAD_LIMIT_BYTES, HttpError, HttpRequest, HttpResponse, PROBE_PATH, http_response, parse_request,
    parse_response, probe_request,
};
pub use lines::{LineReader, LineTooLong};
pub use message::{ClientMessage, ErrorCode, FlowReport, Limits, MessageError, ServerMessage};
pub use session::{SessionId, SessionIdError};
pub use udp::{UDP_PROBE_BYTES, UdpKind, UdpProbe, UdpProbeError};

use fathom_units::Duration;

/// The port of `fathom serve`, TCP and UDP.
pub const DEFAULT_PORT: u16 = 3279;

/// Longest first line in bytes, its `\n` included.
pub const FIRST_LINE_LIMIT_BYTES: usize = 256;

/// A connection whose first line is not complete after this long is closed.
pub const FIRST_LINE_TIMEOUT: Duration = Duration::from_secs(5);

/// Longest line of a control connection in bytes, its `\n` included.
pub const CONTROL_LINE_LIMIT_BYTES: usize = 64 * 1024;

/// Shortest interval of reports in milliseconds.
pub const REPORT_EVERY_MIN_MS: u32 = 50;

/// Longest interval of reports in milliseconds.
pub const REPORT_EVERY_MAX_MS: u32 = 10_000;

/// Longest token in bytes.
pub const TOKEN_LIMIT_BYTES: usize = 128;

/// Longest name of a congestion control in bytes. Source: Linux `TCP_CA_NAME_MAX` is 16 with its NUL.
pub const CONGESTION_CONTROL_LIMIT_BYTES: usize = 15;
