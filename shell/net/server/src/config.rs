//! Settings of a server, and why it could not start.
use fathom_probe::protocol::DEFAULT_PORT;
use fathom_units::{Bytes, Duration};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};

/// What a server listens on and how much it gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// Addresses to listen on; empty is all, of each family that the host has.
    pub listen: Vec<IpAddr>,
    /// Port of TCP and UDP; 0 takes a free one.
    pub port: u16,
    /// Secret that clients must know: 1 to 128 visible ASCII characters.
    pub token: Option<String>,
    /// Sessions at a time.
    pub max_sessions: u32,
    /// Flows of one session at a time.
    pub max_flows: u32,
    /// Longest session.
    pub max_time: Duration,
    /// Most payload bytes of one session, both directions together. Each flow may exceed it by what one call moves (1 MiB).
    pub max_bytes: Bytes,
    /// TCP connections at a time, all kinds together. A quarter of them may come from one address without a session.
    pub max_connections: u32,
    /// A client from which nothing comes and to which nothing gets through for this long is gone. Whole seconds, at least 2.
    pub patience: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: Vec::new(),
            port: DEFAULT_PORT,
            token: None,
            max_sessions: 16,
            max_flows: 64,
            max_time: Duration::from_secs(600),

            // 10 Gbit/s for 85 s.
            max_bytes: Bytes(100 << 30),
            max_connections: 1024,
            // Longer than the deepest queues seen in homes (some 15 s), so that a bloated line is no reason to hang up.
            patience: Duration::from_secs(30),
        }
    }
}

/// Why a server could not start.
#[derive(Debug)]
pub enum ServerError {
    /// The token is not 1 to 128 visible ASCII characters.
    Token,
    /// An address and port could not be taken.
    Listen {
        /// Which.
        address: SocketAddr,
        /// TCP or UDP.
        transport: &'static str,
        /// Why.
        error: io::Error,
    },
    /// The host has neither IPv4 nor IPv6.
    NoFamily,
    /// Memory, a thread or a descriptor was refused.
    Host {
        /// What for.
        what: &'static str,
        /// Why.
        error: io::Error,
    },
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerError::Token => {
                write!(f, "the token is not 1 to 128 visible ASCII characters (try 16 letters and digits)")
            }
            ServerError::Listen { address, transport, error } => {
                write!(
                    f,
                    "cannot listen on {transport} {address}: {error} ({})",
                    advice(error.kind(), address.port())
                )
            }
            ServerError::NoFamily => write!(f, "this host has neither IPv4 nor IPv6"),
            ServerError::Host { what, error } => write!(f, "no {what}: {error}"),
        }
    }
}
impl std::error::Error for ServerError {}

fn advice(kind: io::ErrorKind, port: u16) -> String {
    match kind {
        io::ErrorKind::AddrInUse => {
            format!("something listens on port {port} already; choose another with --port")
        }
        io::ErrorKind::AddrNotAvailable => "no interface has that address; see `ip address`".into(),
        io::ErrorKind::PermissionDenied => "ports below 1024 need root; choose another with --port".into(),
        _ => "see --listen and --port".into(),
    }
}
