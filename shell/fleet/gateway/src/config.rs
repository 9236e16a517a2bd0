//! Settings of a gateway, and why it cannot start.
use crate::registry_file::StateError;
use fathom_certificate::{Certificate, CertificateError};
use fathom_fleet_admission::Limits;
use fathom_os::error::without_code;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Where series are forwarded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Engine {
    /// The complete URL of its receiver of remote-write.
    pub url: String,
    /// Headers of each request, such as `X-Scope-OrgID`.
    pub headers: Vec<(String, String)>,
    /// File with a bearer token, read for each request.
    pub token_file: Option<PathBuf>,
    /// Certificate authorities in PEM; `None` for those of the system.
    pub ca_file: Option<PathBuf>,
    /// Time limit of a request.
    pub timeout: Duration,
}

impl Engine {
    /// An engine without credentials.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Engine {
        let timeout = Duration::from_secs(30);
        Engine { url: url.into(), headers: Vec::new(), token_file: None, ca_file: None, timeout }
    }
}

/// Settings of a gateway.
#[derive(Clone, Debug)]
pub struct GatewayConfig {
    /// Listen address.
    pub listen: SocketAddr,
    /// Folder of the registry, created if there is none.
    pub state: PathBuf,
    /// Where series go; `None` accepts none.
    pub engine: Option<Engine>,
    /// Folder of objects; `None` accepts none.
    pub objects: Option<PathBuf>,
    /// What a site may use.
    pub limits: Limits,
    /// Certificate for TLS; `None` only behind a proxy that does TLS, and in tests.
    pub certificate: Option<Certificate>,
    /// File with the password for `/metrics`; `None` allows only loopback.
    pub metrics_password_file: Option<PathBuf>,
    /// For how long a request with a key that was just replaced is not treated as a duplicate.
    pub grace: Duration,
    /// Time limit of a request's body, except objects.
    pub body_timeout: Duration,
    /// Maximum number of connections.
    pub connections: usize,
    /// Threads that serve connections.
    pub threads: usize,
}

impl GatewayConfig {
    /// Default settings for a state folder: a self-signed certificate in it, on port 8078 of
    /// loopback.
    #[must_use]
    pub fn new(state: impl Into<PathBuf>) -> GatewayConfig {
        let state = state.into();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let certificate = Some(Certificate::SelfSigned { folder: state.clone(), names });
        GatewayConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8078)),
            state,
            engine: None,
            objects: None,
            limits: Limits::default(),
            certificate,
            metrics_password_file: None,
            grace: Duration::from_secs(30),
            body_timeout: Duration::from_secs(30),
            connections: 4_096,
            threads: std::thread::available_parallelism().map_or(1, |number| number.get().min(8)),
        }
    }
}

/// Why a gateway cannot start. `Display` gives one line.
#[derive(Debug)]
pub enum GatewayError {
    /// Listening failed.
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The registry cannot be read or written.
    State(StateError),
    /// A file or folder.
    File {
        /// Its path.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A certificate or its key.
    Certificate(CertificateError),
    /// The system provided no thread or random numbers.
    System(io::Error),
}

impl fmt::Display for GatewayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GatewayError::Listen { address, source } => {
                write!(f, "cannot listen on {address}: {}. Try another port", without_code(source))
            }
            GatewayError::State(error) => error.fmt(f),
            GatewayError::File { path, why } => write!(f, "{}: {why}", path.display()),
            GatewayError::Certificate(error) => write!(f, "the gateway's certificate: {error}"),
            GatewayError::System(source) => write!(f, "cannot start: {}", without_code(source)),
        }
    }
}

impl std::error::Error for GatewayError {}
