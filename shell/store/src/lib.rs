//! Result files and exports on disk, each written whole or not at all; and the [`history`] of a watch
//! with its [`export`].
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod error;
pub mod export;
pub mod history;
mod read;
mod write;

pub use error::StoreError;
pub use read::{MAX_FILE_BYTES, load};
pub use write::{default_name, save, write};
