//! The answer of a store to an object.
use fathom_os::error::without_code;
use fathom_units::Duration;
use std::io;
use std::path::Path;

/// The answer to an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// The object is stored.
    Accepted,
    /// The object will never be accepted, with the reason.
    Refused(String),
    /// The object may be accepted later.
    Retry(Failure),
}

/// Why an object was not accepted now.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Failure {
    pub(crate) why: String,
    /// Whether the key or the token was not accepted.
    pub(crate) is_denied: bool,
    /// When the store wants to see the object again.
    pub(crate) after: Option<Duration>,
}

impl Failure {
    pub(crate) fn new(why: impl Into<String>) -> Failure {
        Failure { why: why.into(), ..Failure::default() }
    }
    pub(crate) fn denied(why: impl Into<String>) -> Failure {
        Failure { why: why.into(), is_denied: true, after: None }
    }
    /// The failure of a file.
    pub(crate) fn of_file(path: &Path, error: &io::Error) -> Failure {
        let remedy = match error.kind() {
            io::ErrorKind::NotFound => ": create or mount it",
            io::ErrorKind::PermissionDenied => ": give this user access",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => ": free some space",
            _ => "",
        };
        Failure::new(format!("{}: {}{remedy}", path.display(), without_code(error)))
    }
}

impl From<Failure> for Answer {
    fn from(failure: Failure) -> Answer {
        Answer::Retry(failure)
    }
}
