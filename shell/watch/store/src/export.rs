//! What a history has, as a table for other programs: CSV or Parquet, written as it is read.
//!
//! No more than some hours of one series are in memory at a time.
mod csv;
mod parquet;
mod rows;

pub use self::csv::Csv;
pub use self::parquet::Parquet;
pub use rows::{Export, ExportError, WINDOWS};

/// What a column holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A text.
    Text,
    /// A whole number.
    Whole,
    /// A number, or nothing.
    Number,
}

/// A column: its name, which ends in its unit, and what it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
}

/// What a row has in a column.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Cell<'a> {
    /// Of a text.
    Text(&'a str),
    /// Of a whole number.
    Whole(u64),
    /// Of a number.
    Number(Option<f64>),
}

/// Where rows go.
pub trait Table {
    /// One row, of which the cells are in the order of the columns.
    ///
    /// # Errors
    /// If it cannot be written.
    fn row(&mut self, cells: &[Cell<'_>]) -> std::io::Result<()>;
    /// After the last row.
    ///
    /// # Errors
    /// If it cannot be written.
    fn finish(self: Box<Self>) -> std::io::Result<()>;
}

const fn text(name: &'static str) -> Field {
    Field { name, kind: Kind::Text }
}
const fn whole(name: &'static str) -> Field {
    Field { name, kind: Kind::Whole }
}
const fn number(name: &'static str) -> Field {
    Field { name, kind: Kind::Number }
}

/// Columns of single samples. One of the last three has the value, which is within 1.09 % of what was measured.
pub const SAMPLES: [Field; 7] = [
    text("target"),
    text("probe"),
    whole("at_ms"),
    text("outcome"),
    number("rtt_s"),
    number("level_bits_per_second"),
    number("level_bytes"),
];

/// Columns of windows.
pub const ROLLUPS: [Field; 22] = [
    text("target"),
    text("probe"),
    whole("from_ms"),
    whole("to_ms"),
    whole("sent_probes"),
    whole("answered_probes"),
    whole("late_probes"),
    whole("lost_probes"),
    whole("failed_probes"),
    whole("duplicate_answers"),
    whole("reordered_answers"),
    number("rtt_min_s"),
    number("rtt_p50_s"),
    number("rtt_p90_s"),
    number("rtt_p95_s"),
    number("rtt_p99_s"),
    number("rtt_max_s"),
    number("rtt_mean_s"),
    number("level_mean_bits_per_second"),
    number("level_max_bits_per_second"),
    number("level_mean_bytes"),
    number("level_max_bytes"),
];
