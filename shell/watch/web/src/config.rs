//! What the server is told, and why it could not start.
use fathom_os::error::without_code;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// How the page is served.
#[derive(Clone, Debug)]
pub struct WebConfig {
    /// Where it listens. On a loopback address no password is needed.
    pub listen: SocketAddr,
    /// The file with the password, readable by its owner alone; made with a random one if there is
    /// none. `None` only for a server on loopback, which then asks for no password.
    pub secret_file: Option<PathBuf>,
    /// Further names by which a server on loopback may be asked, such as that of a proxy in front
    /// of it.
    pub hosts: Vec<String>,
}

impl Default for WebConfig {
    fn default() -> Self {
        WebConfig { listen: DEFAULT_LISTEN, secret_file: None, hosts: Vec::new() }
    }
}

/// Loopback, and a port that no service is registered for.
pub const DEFAULT_LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8077);

/// Why the page is not served. `Display` gives one line that names the object and what to try.
#[derive(Debug)]
pub enum WebError {
    /// The address could not be listened on.
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// The file with the password could not be read, made or trusted.
    Secret {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to try.
        why: String,
    },
    /// Beyond loopback without a password.
    NoSecret {
        /// The address.
        address: SocketAddr,
    },
    /// The system gave no thread or no random numbers.
    System(io::Error),
}

impl fmt::Display for WebError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WebError::Listen { address, source } => {
                write!(f, "cannot serve the page on {address}: {}. Try another port", without_code(source))
            }
            WebError::Secret { path, why } => write!(f, "the page's password file {} {why}", path.display()),
            WebError::NoSecret { address } => {
                write!(
                    f,
                    "the page on {address} can be reached by others, and there is no password file: name one"
                )
            }
            WebError::System(source) => write!(f, "cannot serve the page: {}", without_code(source)),
        }
    }
}

impl std::error::Error for WebError {}
