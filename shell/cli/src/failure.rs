//! Errors of the program: one line each, with the exit code that belongs to it.
use std::fmt;

/// Exit codes of the program; the help names them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// Done and healthy.
    Healthy = 0,
    /// Done, bufferbloat found.
    Bloated = 1,
    /// Usage or input error.
    Input = 2,
    /// Permission, missing kernel feature, unreachable.
    Environment = 3,
    /// The instrument spoilt the measurement.
    Invalid = 4,
}

/// A command that did not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    /// Object, value seen, limit; and on lines of its own what to try.
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn input(message: impl fmt::Display) -> Self {
        Failure { exit: Exit::Input, message: message.to_string() }
    }
    pub(crate) fn environment(message: impl fmt::Display) -> Self {
        Failure { exit: Exit::Environment, message: message.to_string() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What a command gives back: how it ended, or why it could not.
pub(crate) type Outcome = Result<Exit, Failure>;
