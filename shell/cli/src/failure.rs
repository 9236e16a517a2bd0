//! Errors of the program: one line each, with the exit code that belongs to it.
use fathom_app::AppError;
pub(crate) use fathom_app::ExitClass as Exit;
use std::fmt;

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

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        let advice = match &error {
            AppError::NothingToSend { .. } => "\n  try: fathom lab --line FILE -- COMMAND",
            AppError::TooManyCells { .. } => "\n  try: fewer values with --vary, or fewer --seeds",
            AppError::NothingToRead => "\n  try: fathom trace FILE",
            AppError::WouldOverwrite { .. } => "\n  try: another name for what is written",
            AppError::NeedsFile => "\n  try: tcpdump -w up.pcap, or ... | tee up.pcap | fathom trace -",
            _ => "",
        };
        Failure { exit: error.class(), message: format!("{error}{advice}") }
    }
}

/// What a command gives back: how it ended, or why it could not.
pub(crate) type Outcome = Result<Exit, Failure>;
