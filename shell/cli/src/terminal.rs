//! Printing, with the failures of this program.
use crate::failure::Failure;
pub(crate) use fathom_terminal::{Console, Screen, warn};
use std::io;

/// Writes a result to stdout. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    fathom_terminal::print(text).map_err(unwritten)
}

/// The outcome of writing to stdout, after a flush.
pub(crate) fn printed(written: io::Result<()>) -> Result<(), Failure> {
    fathom_terminal::printed(written).map_err(unwritten)
}

fn unwritten(error: io::Error) -> Failure {
    Failure::environment(format_args!("cannot write to stdout: {error}"))
}
