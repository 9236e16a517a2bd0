//! Results of other tools, read into a [`Run`].
//!
//! [`detect`] chooses the format by content and [`import`] reads it. A run holds only what a tool
//! observed; what its file lacks is in the run's notes.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod cloudflare;
mod crusader;
mod draft;
mod echoes;
mod error;
mod flent;
mod format;
mod fping;
mod goresponsiveness;
mod iperf3;
mod irtt;
mod lines;
mod mtr;
mod ndt7;
mod network_quality;
mod one_way;
mod ping;

pub use error::ImportError;
pub use format::{Format, detect};

use fathom_run::Run;

/// Begin of a file of Crusader, whose content follows [`CRUSADER_HEADER_BYTES`] in Snappy frames.
pub const CRUSADER_MAGIC: [u8; 8] = crusader::MAGIC;
/// Length of the unpacked begin of a file of Crusader.
pub const CRUSADER_HEADER_BYTES: usize = crusader::HEADER_BYTES;

/// [`Run::command`] of imported runs.
pub const COMMAND: &str = "import";

/// Reads a result of another tool.
///
/// # Errors
/// The first problem found.
pub fn import(format: Format, bytes: &[u8]) -> Result<Run, ImportError> {
    format.read(bytes).map_err(|problem| ImportError { format, problem })
}
