//! Settings of the server, and errors when it starts.
use fathom_certificate::{Certificate, CertificateError};
use fathom_os::error::without_code;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// Settings of the page's server. By default it is on loopback, on any port, and needs no password.
#[derive(Clone, Debug)]
pub struct WebConfig {
    /// Listen address. A loopback address needs no password.
    pub listen: SocketAddr,
    /// File with the password, readable only by its owner; created with a random password if it
    /// does not exist. `None` is allowed only on loopback and disables the password.
    pub secret_file: Option<PathBuf>,
    /// Certificate for TLS; `None` for HTTP.
    pub certificate: Option<Certificate>,
    /// Additional hostnames that requests to a server on loopback may use, such as that of a
    /// reverse proxy.
    pub hosts: Vec<String>,
}

impl Default for WebConfig {
    fn default() -> Self {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        WebConfig { listen, secret_file: None, certificate: None, hosts: Vec::new() }
    }
}

/// Why the page cannot be served. `Display` gives one line with the object and what to try.
#[derive(Debug)]
pub enum WebError {
    /// Listening on the address failed.
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The password file could not be read, created or trusted.
    Secret {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to try.
        why: String,
    },
    /// A certificate or its key could not be read or created.
    Certificate(CertificateError),
    /// An address other than loopback without a password.
    NoSecret {
        /// The address.
        address: SocketAddr,
    },
    /// The system provided no thread or random numbers.
    System(io::Error),
}

impl fmt::Display for WebError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WebError::Listen { address, source } => {
                write!(f, "cannot serve the page on {address}: {}. Try another port", without_code(source))
            }
            WebError::Secret { path, why } => write!(f, "the page's password file {} {why}", path.display()),
            WebError::Certificate(error) => write!(f, "the page's certificate: {error}"),
            WebError::NoSecret { address } => {
                write!(f, "others can reach the page on {address}: set password_file")
            }
            WebError::System(source) => write!(f, "cannot serve the page: {}", without_code(source)),
        }
    }
}

impl std::error::Error for WebError {}
