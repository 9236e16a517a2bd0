//! Tables for other programs, in CSV or Parquet, written row by row.
mod csv;
mod parquet;

pub use self::csv::Csv;
pub use self::parquet::Parquet;

/// Type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A text.
    Text,
    /// An unsigned integer.
    Whole,
    /// An unsigned integer that mostly increases by the same step, such as a time.
    Steady,
    /// A number, or missing.
    Number,
}

/// A column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field<'a> {
    /// The name, which ends in the unit.
    pub name: &'a str,
    /// The type.
    pub kind: Kind,
}

/// A value of a row.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cell<'a> {
    /// Text.
    Text(&'a str),
    /// An integer, of either integer type.
    Whole(u64),
    /// A number, or missing.
    Number(Option<f64>),
}

/// A destination of rows.
pub trait Table {
    /// Writes one row; cells are in column order.
    ///
    /// # Errors
    /// If it cannot be written.
    fn row(&mut self, cells: &[Cell<'_>]) -> std::io::Result<()>;
    /// Completes the table after the last row.
    ///
    /// # Errors
    /// If it cannot be written.
    fn finish(self: Box<Self>) -> std::io::Result<()>;
}
