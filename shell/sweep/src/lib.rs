//! Runs the cells of a sweep, and writes their rows: to one CSV table, or to the files of a
//! [`Folder`].
//!
//! A row depends only on its cell, and the rows of a file on nothing else. So tables and files do
//! not depend on the number of threads, processes or interruptions, and a sweep is resumed where
//! rows or files are missing.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod columnar;
mod description;
mod folder;
mod parts;
mod run;
mod table;

pub use columnar::write_parquet;
pub use description::{Description, Values};
pub use folder::Folder;
pub use parts::{Part, run_parts};
pub use run::{Sweep, SweepError};
pub use table::{TableError, read_rows};

/// Progress of a sweep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Rows that are written.
    pub done: u64,
    /// Rows that were written before this run.
    pub begun: u64,
    /// Rows of the finished sweep.
    pub total: u64,
}

/// The part of a sweep that a process runs: every `count`-th cell of a table, or file of a folder,
/// starting at `index`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shard {
    /// From 0 to `count` - 1.
    pub index: u64,
    /// Number of shards.
    pub count: u64,
}

impl Shard {
    /// The whole sweep.
    pub const WHOLE: Shard = Shard { index: 0, count: 1 };
}
