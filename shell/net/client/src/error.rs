//! Errors of a test that could not start.
use fathom_run::Interruption;
use fathom_units::Duration;
use std::fmt;
use std::net::SocketAddr;

/// Why a connection of a flow or a probe ended, or was of no use.
pub(crate) const CLOSED: &str = "the server closed the connection";
pub(crate) const UNEXPECTED: &str = "unexpected response from the server";

/// Why there is no result. A test that measured anything returns a partial run instead.
#[derive(Clone, PartialEq, Debug)]
pub enum TestError {
    /// The settings contradict each other or exceed a limit.
    Config(String),
    /// The name has no address (of the requested family).
    Resolve {
        /// The server as given.
        server: String,
        /// The resolver's error, or that the family is missing.
        reason: String,
    },
    /// The connection was refused.
    Refused(SocketAddr),
    /// No route, or an ICMP unreachable error.
    Unreachable(SocketAddr, String),
    /// No response.
    Timeout {
        /// The server's address.
        address: SocketAddr,
        /// What was expected.
        awaited: &'static str,
        /// How long.
        waited: Duration,
    },
    /// The server reported an error.
    Rejected {
        /// The server's address.
        address: SocketAddr,
        /// `full`, `token`, `version`, `limit`, `malformed`.
        code: String,
        /// The server's message.
        message: String,
    },
    /// The service is not a Fathom server, or closed the connection.
    NotFathom(SocketAddr, String),
    /// A server of another protocol cannot be used.
    Server {
        /// The server or its URL.
        server: String,
        /// What is wrong.
        problem: String,
    },
    /// The connection failed before the server had answered.
    Lost(SocketAddr, Interruption),
    /// This host refused a socket, a thread or a setting.
    Host(String),
    /// The user stopped the test before it measured anything.
    Stopped,
}

impl fmt::Display for TestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TestError::Config(problem) => write!(f, "{problem}"),
            TestError::Resolve { server, reason } => {
                write!(f, "server \"{server}\": {reason} (check the name, or give an address)")
            }
            TestError::Refused(a) => {
                write!(
                    f,
                    "server {a} refused the connection (is `fathom serve` running there, on TCP port {}?)",
                    a.port()
                )
            }
            TestError::Unreachable(a, reason) => {
                write!(f, "server {a} cannot be reached: {reason} (check the route, or try -4 or -6)")
            }
            TestError::Timeout { address, awaited, waited } => {
                write!(
                    f,
                    "server {address}: no {awaited} within {waited} (check that the firewall allows TCP port {})",
                    address.port()
                )
            }
            TestError::Rejected { address, code, message } => {
                write!(f, "server {address} refused the session: {code}: {message} ({})", advice(code))
            }
            TestError::NotFathom(a, seen) => {
                write!(f, "{a} does not speak the Fathom protocol: {seen} (is another service on that port?)")
            }
            TestError::Server { server, problem } => write!(f, "{server}: {problem}"),
            TestError::Lost(a, _) => {
                write!(f, "lost the connection to server {a} before anything was measured (see its log)")
            }
            TestError::Host(problem) => write!(f, "{problem}"),
            TestError::Stopped => write!(f, "stopped before anything was measured"),
        }
    }
}
impl std::error::Error for TestError {}

fn advice(code: &str) -> &'static str {
    match code {
        "full" => "try again later, or another server",
        "token" => "give the server's token with --token-file FILE",
        "version" => "use the same version of fathom at both ends",
        // The server says when.
        "limit" => "or use another server",
        _ => "see the server's log",
    }
}
