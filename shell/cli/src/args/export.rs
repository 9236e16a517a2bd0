//! Flags of `fathom watch export`.
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use fathom_units::{Duration, WallTime};
use fathom_watch_store::export::WINDOWS;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  fathom watch export --from 24h --target router             every probe of a day, as CSV
  fathom watch export --from 2026-01-01 --every 1h -o y.parquet

Columns: docs/watch.md.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WatchExportArgs {
    /// The configuration, for its `store`
    #[arg(value_name = "CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of the history
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    pub(crate) store: Option<PathBuf>,
    /// Only this target, or those whose names begin so: `offices/*` (repeatable) [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Vec<String>,
    /// Only this probe, such as icmp or tcp:443 (repeatable) [default: all]
    #[arg(long, value_name = "PROBE")]
    pub(crate) probe: Vec<String>,
    /// From when on: a time in UTC, or how long ago, as in 90min, 24h, 7d
    #[arg(long, value_name = "TIME", default_value = "24h")]
    pub(crate) from: Moment,
    /// Up to when [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<Moment>,
    /// One row a window of this length, instead of one a probe
    #[arg(long, value_name = "LENGTH", value_parser = PossibleValuesParser::new(WINDOWS.map(|(name, _)| name)))]
    pub(crate) every: Option<String>,
    /// What is written [default: by the file's ending, else csv]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<TableFormat>,
    /// The file; it has its name once it is whole [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum, Debug)]
pub(crate) enum TableFormat {
    Csv,
    Parquet,
}

/// A time, or how long ago it was.
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
            .map_err(|error| format!("{error}, or how long ago, as in 90min, 24h, 7d"))
    }
}
