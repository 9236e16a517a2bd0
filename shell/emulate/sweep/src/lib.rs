//! A scenario over many parameters and seeds, on all cores: which cells, their rows in a table, and its Parquet form.
//!
//! A row depends on its cell alone, and rows are written in the order of cells: the table is the same whatever the number
//! of threads, and one that was cut short is gone on with where it ends.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod axis;
mod columnar;
mod grid;
mod run;
mod table;

pub use axis::{Axis, AxisError};
pub use columnar::write_parquet;
pub use grid::Grid;
pub use run::{Sweep, SweepError};
pub use table::{TableError, read_rows};

/// How far a sweep is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Progress {
    /// Rows in the table.
    pub done: u64,
    /// Of these, rows that were there before.
    pub begun: u64,
    /// Rows when it is finished.
    pub total: u64,
}
