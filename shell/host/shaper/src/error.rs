//! Errors of a fix.
use fathom_tc::{Missing, Refusal};
use std::{fmt, io};

/// The failed operation and its cause.
#[derive(Debug)]
pub struct ApplyError {
    /// The request, file or interface.
    pub doing: String,
    /// The cause.
    pub cause: Cause,
}

/// Cause of an error.
#[derive(Debug)]
pub enum Cause {
    /// The kernel refused a request.
    Refused(Refusal),
    /// An interface is missing.
    Missing(Missing),
    /// A file or socket operation failed.
    System(io::Error),
    /// Another reason, in words.
    Words(String),
}

/// Maximum length of a command in an error message: the program of a filter is longer than a page.
const LONGEST: usize = 160;

/// Truncates a command to fit on a line.
#[must_use]
pub fn short(command: &str) -> String {
    if command.chars().count() <= LONGEST {
        return command.to_owned();
    }
    let (head, tail) = (LONGEST - 20, 16);
    let cut: String = command.chars().take(head).collect();
    let end: String = command.chars().skip(command.chars().count() - tail).collect();
    format!("{cut} ... {end}")
}

impl ApplyError {
    pub(crate) fn words(doing: impl Into<String>, words: impl Into<String>) -> ApplyError {
        ApplyError { doing: doing.into(), cause: Cause::Words(words.into()) }
    }
    pub(crate) fn system(doing: impl Into<String>) -> impl FnOnce(io::Error) -> ApplyError {
        let doing = doing.into();
        move |error| ApplyError { doing, cause: Cause::System(error) }
    }
    /// Whether root or a capability is missing.
    #[must_use]
    pub fn is_permission(&self) -> bool {
        match &self.cause {
            Cause::Refused(refusal) => refusal.errno == Refusal::EPERM,
            Cause::System(error) => error.kind() == io::ErrorKind::PermissionDenied,
            Cause::Missing(_) | Cause::Words(_) => false,
        }
    }
}

impl fmt::Display for ApplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", short(&self.doing))?;
        match &self.cause {
            Cause::Refused(refusal) => refusal.fmt(f),
            Cause::Missing(missing) => missing.fmt(f),
            Cause::System(error) => error.fmt(f),
            Cause::Words(words) => f.write_str(words),
        }
    }
}
impl std::error::Error for ApplyError {}
