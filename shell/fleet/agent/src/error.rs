//! Why enrollment or rotation failed.
use fathom_os::error::without_code;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why something failed. `Display` gives one line.
#[derive(Debug)]
pub enum AgentError {
    /// A file cannot be read or written.
    File {
        /// Its path.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The gateway's URL.
    Url(String),
    /// The certificate has another fingerprint.
    Fingerprint {
        /// That of the gateway's certificate.
        found: String,
    },
    /// The gateway refused the request.
    Refused {
        /// The HTTP status.
        status: u16,
        /// Its reason.
        why: String,
    },
    /// The gateway cannot be reached, or cannot answer now.
    Unavailable {
        /// The gateway's URL.
        url: String,
        /// Why.
        why: String,
    },
}

impl AgentError {
    pub(crate) fn file(path: &Path, error: &io::Error) -> AgentError {
        AgentError::File { path: path.to_owned(), why: without_code(error) }
    }
}

impl fmt::Display for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentError::File { path, why } => write!(f, "{}: {why}", path.display()),
            AgentError::Url(url) => write!(f, "invalid gateway {url:?}: expected https://HOST:PORT"),
            AgentError::Fingerprint { found } => {
                write!(f, "unexpected fingerprint {found}")
            }
            AgentError::Refused { status, why } => write!(f, "the gateway refused: {why} (HTTP {status})"),
            AgentError::Unavailable { url, why } => write!(f, "{url}: {why}"),
        }
    }
}

impl std::error::Error for AgentError {}
