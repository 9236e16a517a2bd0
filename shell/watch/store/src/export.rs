//! Exports the content of a history as a table in CSV or Parquet, written while it is read.
//!
//! At most a few hours of one series are in memory at a time.
mod rows;

pub use fathom_store::table::{Cell, Csv, Field, Kind, Parquet, Table};
pub use rows::{Export, ExportError, WINDOWS};

const fn text(name: &'static str) -> Field<'static> {
    Field { name, kind: Kind::Text }
}
const fn whole(name: &'static str) -> Field<'static> {
    Field { name, kind: Kind::Whole }
}
const fn time(name: &'static str) -> Field<'static> {
    Field { name, kind: Kind::Steady }
}
const fn number(name: &'static str) -> Field<'static> {
    Field { name, kind: Kind::Number }
}

/// Columns of single samples. One of the last three holds the value, which is within 1.09 % of the
/// measured one.
pub const SAMPLES: [Field<'static>; 7] = [
    text("target"),
    text("probe"),
    time("at_ms"),
    text("outcome"),
    number("rtt_s"),
    number("level_bits_per_second"),
    number("level_bytes"),
];

/// Columns of windows.
pub const ROLLUPS: [Field<'static>; 22] = [
    text("target"),
    text("probe"),
    time("from_ms"),
    time("to_ms"),
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
