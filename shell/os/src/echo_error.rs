//! Why no ICMP echo requests can be sent.
use std::{fmt, io};

/// The command that lets every user open an echo socket.
pub const ALLOW_ECHO: &str = "sysctl -w net.ipv4.ping_group_range=\"0 2147483647\"";

/// Why no echo socket can be opened.
#[derive(Debug)]
pub enum EchoSocketError {
    /// Neither an unprivileged nor a raw socket is allowed.
    NotPermitted,
    /// Another error.
    Io(io::Error),
}

impl fmt::Display for EchoSocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EchoSocketError::NotPermitted => {
                write!(f, "ICMP echo is not permitted (allow it with `{ALLOW_ECHO}` or CAP_NET_RAW)")
            }
            EchoSocketError::Io(error) => write!(f, "ICMP socket: {error}"),
        }
    }
}
impl std::error::Error for EchoSocketError {}
