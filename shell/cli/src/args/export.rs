//! Flags of `fathom watch export`.
use super::StoreArgs;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use fathom_os::clock::wall_now;
use fathom_units::{Duration, WallTime};
use fathom_watch_app::{Period, WINDOWS};
use std::path::PathBuf;

/// Export the history as a table: CSV or Parquet
///
/// Writes one row for each probe, or with --every one row for each window. docs/watch.md explains
/// the columns.
#[derive(Args, Debug)]
pub(crate) struct WatchExportArgs {
    #[command(flatten)]
    pub(crate) history: StoreArgs,
    /// Only these targets (repeatable) [default: all]
    ///
    /// A name, or the start of names, as in `offices/*`.
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Vec<String>,
    /// Only these probes (repeatable) [default: all]
    ///
    /// As in icmp or tcp:443.
    #[arg(long, value_name = "PROBE")]
    pub(crate) probe: Vec<String>,
    /// Start of the period
    ///
    /// A time in UTC, or how long ago, as in 90min, 24h or 7d.
    #[arg(long, value_name = "TIME", default_value = "24h")]
    pub(crate) from: Moment,
    /// End of the period [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<Moment>,
    /// One row per window of this length, not per probe
    #[arg(long, value_name = "LENGTH", value_parser = PossibleValuesParser::new(WINDOWS.map(|(name, _)| name)))]
    pub(crate) every: Option<String>,
    /// Format of the table
    ///
    /// Default: by the extension of FILE, otherwise csv.
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<TableFormat>,
    /// File to write [default: stdout]
    ///
    /// The file appears under this name only when it is complete.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum TableFormat {
    Csv,
    Parquet,
}

/// A point in time, absolute or relative to now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Moment {
    At(WallTime),
    Ago(Duration),
}

impl Moment {
    pub(crate) fn before(self, now: WallTime) -> WallTime {
        match self {
            Moment::At(time) => time,
            Moment::Ago(ago) => WallTime(now.0.saturating_sub(ago.as_nanos())),
        }
    }
}

/// The period between two moments. Without `to`, it ends now.
pub(crate) fn period(from: Moment, to: Option<Moment>) -> Period {
    let now = wall_now();
    Period { from: from.before(now), to: to.map_or(now, |to| to.before(now)) }
}

impl std::str::FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const HOUR_NS: u64 = 3_600_000_000_000;
        let long = [("h", HOUR_NS), ("d", 24 * HOUR_NS), ("w", 168 * HOUR_NS)];
        let whole = long.iter().find_map(|(unit, nanos)| {
            text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(*nanos).map(Duration::from_nanos)
        });
        if let Some(ago) = whole.or_else(|| text.parse().ok()) {
            return Ok(Moment::Ago(ago));
        }
        text.parse()
            .map(Moment::At)
            .map_err(|error| format!("{error}, or how long ago, as in 90min, 24h or 7d"))
    }
}

/// A day in UTC, or the period between two moments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub(crate) from: Moment,
    pub(crate) to: Moment,
}

impl std::str::FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const DAY_NS: u64 = 86_400_000_000_000;
        if let Some((from, to)) = text.split_once("..") {
            return Ok(Range { from: from.parse()?, to: to.parse()? });
        }
        let is_date = text.len() == 10;
        match text.parse() {
            Ok(from @ WallTime(start)) if is_date => {
                Ok(Range { from: Moment::At(from), to: Moment::At(WallTime(start.saturating_add(DAY_NS))) })
            }
            _ => Err("invalid period (expected a day such as 2026-11-23, or FROM..TO such as 7d..6d)".into()),
        }
    }
}
