//! Tables for other programs: CSV or Parquet, written row by row.
mod csv;
mod parquet;

pub use self::csv::Csv;
pub use self::parquet::Parquet;

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A text.
    Text,
    /// A whole number.
    Whole,
    /// A whole number that mostly grows by the same step, such as a time.
    Steady,
    /// A number, or nothing.
    Number,
}

/// A column: its name, which ends in its unit, and what it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it holds.
    pub kind: Kind,
}

/// What a row has in a column.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cell<'a> {
    /// Of a text.
    Text(&'a str),
    /// Of a whole number, of either kind.
    Whole(u64),
    /// Of a number.
    Number(Option<f64>),
}

/// Where rows go.
pub trait Table {
    /// Writes one row, whose cells are in the order of the columns.
    ///
    /// # Errors
    /// If it cannot be written.
    fn row(&mut self, cells: &[Cell<'_>]) -> std::io::Result<()>;
    /// Ends the table after the last row.
    ///
    /// # Errors
    /// If it cannot be written.
    fn finish(self: Box<Self>) -> std::io::Result<()>;
}
