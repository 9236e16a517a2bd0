//! Why a test could not begin.
use fathom_run::Interruption;
use fathom_units::Duration;
use std::fmt;
use std::net::SocketAddr;

/// Why there is no result at all. A test that gathered anything returns a partial run instead.
#[derive(Clone, PartialEq, Debug)]
pub enum TestError {
    /// The settings contradict each other or a limit.
    Config(String),
    /// The name has no address (of the requested family).
    Resolve {
        /// As given.
        server: String,
        /// The resolver's words, or that the family is missing.
        reason: String,
    },
    /// Nothing listens there.
    Refused(SocketAddr),
    /// No route, or the network says so.
    Unreachable(SocketAddr, String),
    /// No answer.
    Timeout {
        /// Whom.
        address: SocketAddr,
        /// What was awaited.
        awaited: &'static str,
        /// For how long.
        waited: Duration,
    },
    /// The server answered with an error.
    Rejected {
        /// Who.
        address: SocketAddr,
        /// `full`, `token`, `version`, `limit`, `malformed`.
        code: String,
        /// The server's words.
        message: String,
    },
    /// What answers is not a Fathom server, or closed the connection.
    NotFathom(SocketAddr, String),
    /// It was lost before it had answered anything.
    Lost(SocketAddr, Interruption),
    /// This host failed to give a socket, a thread or a setting.
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
                write!(
                    f,
                    "server {a} cannot be reached: {reason} (check the route; try the other family with -4 or -6)"
                )
            }
            TestError::Timeout { address, awaited, waited } => {
                write!(
                    f,
                    "server {address}: no {awaited} within {waited} (check that a firewall lets TCP port {} pass)",
                    address.port()
                )
            }
            TestError::Rejected { address, code, message } => {
                write!(f, "server {address} refused the session: {code}: {message} ({})", advice(code))
            }
            TestError::NotFathom(a, seen) => {
                write!(f, "{a} does not speak the Fathom protocol: {seen} (is another service on that port?)")
            }
            TestError::Lost(a, _) => {
                write!(f, "server {a} was lost before anything was measured (see the server's log)")
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
        "token" => "give the server's token with --token",
        "version" => "use the same version of fathom at both ends",
        "limit" => "ask for less: fewer flows, shorter phases",
        _ => "see the server's log",
    }
}
