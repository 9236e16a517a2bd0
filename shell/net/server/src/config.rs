//! Settings of a server, and errors when it starts.
#[cfg(feature = "web")]
use fathom_certificate::CertificateError;
use fathom_os::error::without_code;
use fathom_probe::protocol::DEFAULT_PORT;
use fathom_units::{Bytes, Duration};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
#[cfg(feature = "web")]
use std::path::PathBuf;

/// Addresses and limits of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// Addresses to listen on; empty for all addresses of the host's families.
    pub listen: Vec<IpAddr>,
    /// TCP and UDP port; 0 chooses a free one.
    pub port: u16,
    /// TCP port for iperf3 clients, which do not know the token; `None` serves none.
    pub iperf3_port: Option<u16>,
    #[cfg(feature = "web")]
    /// Settings of the web server; `None` for the defaults.
    pub web: Option<WebConfig>,
    /// UDP port for irtt clients, which do not know the token; `None` serves none.
    pub irtt_port: Option<u16>,
    /// UDP port for STAMP clients, which do not know the token; `None` serves none.
    pub stamp_port: Option<u16>,
    /// Token that clients must know: 1 to 128 visible ASCII characters.
    pub token: Option<String>,
    /// Whether to answer nothing to clients that do not know the token.
    pub is_silent: bool,
    /// Maximum concurrent sessions. A quarter of them may be of one host, and half of one network;
    /// if all are open, a new client may replace one of a network with more.
    pub max_sessions: u32,
    /// Maximum concurrent flows per session.
    pub max_flows: u32,
    /// Maximum duration of a session.
    pub max_time: Duration,
    /// Maximum payload bytes per session, both directions together. Each flow may exceed it by one
    /// call's worth (1 MiB).
    pub max_bytes: Bytes,
    /// Maximum bytes in an hour of one host (an IPv4 address or an IPv6 /64); of one network (a /24
    /// or a /56), twice as many.
    pub max_hourly_bytes: Bytes,
    /// A session without probes, load and messages ends after this time.
    pub max_idle: Duration,
    /// Maximum concurrent TCP connections that are neither the control connection nor a flow of a
    /// session. Shares of hosts and networks are as for sessions.
    pub max_connections: u32,
    /// Timeout after which a client counts as lost: nothing arrives from it and nothing can be sent
    /// to it. Whole seconds, at least 2.
    pub patience: Duration,
}

#[cfg(feature = "web")]
/// Settings of the web server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WebConfig {
    /// TCP port for clients of other web servers, which do not know the token; `None` serves none.
    pub port: Option<u16>,
    /// PEM files of the certificate and its key; `None` for a self-signed one.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// Names of this host in a self-signed certificate, in addition to its addresses.
    pub names: Vec<String>,
    /// Proxies whose headers name their clients (X-Forwarded-For, X-Forwarded-Proto).
    pub proxies: Vec<IpAddr>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            listen: Vec::new(),
            port: DEFAULT_PORT,
            iperf3_port: None,
            #[cfg(feature = "web")]
            web: None,
            irtt_port: None,
            stamp_port: None,
            token: None,
            is_silent: false,
            max_sessions: 16,
            max_flows: 64,
            max_time: Duration::from_secs(600),

            // 10 Gbit/s for 85 s.
            max_bytes: Bytes(100 << 30),
            // Four full sessions.
            max_hourly_bytes: Bytes(400 << 30),
            // As long as the patience: an outage or a queue that a session survives.
            max_idle: Duration::from_secs(30),
            max_connections: 1024,
            // Longer than the deepest queues seen in homes (about 15 s), so that bufferbloat does
            // not end a session.
            patience: Duration::from_secs(30),
        }
    }
}

/// Why a server could not start.
#[derive(Debug)]
pub enum ServerError {
    /// The token is not 1 to 128 visible ASCII characters.
    Token,
    /// Listening on an address and port failed.
    Listen {
        /// The address.
        address: SocketAddr,
        /// `TCP` or `UDP`.
        transport: &'static str,
        /// The system's error.
        error: io::Error,
    },
    #[cfg(feature = "web")]
    /// The certificate cannot be used.
    Certificate(CertificateError),
    /// The host has neither IPv4 nor IPv6.
    NoFamily,
    /// Memory, a thread or a descriptor was refused.
    Host {
        /// What was needed.
        what: &'static str,
        /// The system's error.
        error: io::Error,
    },
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ServerError::Token => {
                write!(f, "invalid token (1 to 128 visible ASCII characters)")
            }
            ServerError::Listen { address, transport, error } => {
                write!(
                    f,
                    "cannot listen on {transport} {address}: {} ({})",
                    without_code(error),
                    advice(error.kind(), address.port())
                )
            }
            #[cfg(feature = "web")]
            ServerError::Certificate(error) => write!(f, "certificate: {error}"),
            ServerError::NoFamily => write!(f, "this host has neither IPv4 nor IPv6"),
            ServerError::Host { what, error } => write!(f, "no {what}: {}", without_code(error)),
        }
    }
}
impl std::error::Error for ServerError {}

fn advice(kind: io::ErrorKind, port: u16) -> String {
    match kind {
        io::ErrorKind::AddrInUse => {
            format!("port {port} is already in use; see --port, --web-port")
        }
        io::ErrorKind::AddrNotAvailable => "no interface has this address; see `ip address`".into(),
        io::ErrorKind::PermissionDenied => "ports below 1024 need root; see --port, --web-port".into(),
        _ => "check --listen and --port".into(),
    }
}
