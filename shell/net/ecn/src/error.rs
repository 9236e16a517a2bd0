//! Why ECN cannot be tested.
use fathom_os::error::without_code;
use std::fmt;
use std::io;
use std::net::Ipv4Addr;

/// Why there is no result.
#[derive(Debug)]
pub enum EcnError {
    /// This process may not open raw sockets.
    NotPermitted,
    /// A packet to the host cannot be sent.
    Send {
        /// The host.
        host: Ipv4Addr,
        /// The error.
        source: io::Error,
    },
    /// A socket failed.
    Socket(io::Error),
}

impl fmt::Display for EcnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EcnError::NotPermitted => f.write_str("testing ECN needs root (CAP_NET_RAW)"),
            EcnError::Send { host, source } => write!(f, "{host}: {}", without_code(source)),
            EcnError::Socket(source) => f.write_str(&without_code(source)),
        }
    }
}

impl std::error::Error for EcnError {}

impl From<io::Error> for EcnError {
    fn from(source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::PermissionDenied => EcnError::NotPermitted,
            _ => EcnError::Socket(source),
        }
    }
}
