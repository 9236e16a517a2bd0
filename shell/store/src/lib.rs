//! Result files and exports on disk, each written completely or not at all; and [`table`]s for
//! sweeps and histories.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod error;
mod read;
#[cfg(feature = "columnar")]
pub mod table;
mod write;

pub use error::StoreError;
pub use read::{MAX_FILE_BYTES, load, load_any};
pub use write::{default_name, replace, save, write};
