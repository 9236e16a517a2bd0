//! Flags of `fathom report` and `fathom compare`.
#[cfg(feature = "full")]
mod history;

use super::OutputArgs;
#[cfg(feature = "full")]
use super::{Moment, Range};
use clap::Args;
#[cfg(feature = "full")]
pub(crate) use history::HistoryArgs;
use std::path::PathBuf;

/// Show a result file, or convert it to HTML, CSV or Flent
///
/// Shows results that `fathom test`, `ping`, `buffer`, `lab` and others have saved, and files of
/// other tools, such as iperf3, irtt, flent and ping (docs/imports.md).
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// Result files, also of other tools
    #[cfg_attr(feature = "full", arg(required_unless_present = "watch", conflicts_with = "watch"))]
    #[arg(required = cfg!(not(feature = "full")), value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[cfg(feature = "full")]
    #[command(flatten)]
    pub(crate) history: HistoryArgs,
    /// Start of the period
    ///
    /// A time in UTC, or how long ago, as in 90min, 24h or 7d.
    #[cfg(feature = "full")]
    #[arg(
        long,
        value_name = "TIME",
        requires = "watch",
        default_value = "24h",
        help_heading = "History of a watch"
    )]
    pub(crate) since: Moment,
    /// End of the period [default: now]
    #[cfg(feature = "full")]
    #[arg(long, value_name = "TIME", requires = "watch", help_heading = "History of a watch")]
    pub(crate) until: Option<Moment>,
    /// Draw rate against buffer size of all results
    ///
    /// As an SVG picture with logarithmic axes and lines of equal delay. Shows nothing else. Only
    /// results with a buffer size are drawn.
    #[arg(
        long,
        value_name = "FILE.svg",
        value_parser = |name: &str| named(name, ".svg"),
        conflicts_with_all = ["json", "output"],
        help_heading = "Output options"
    )]
    pub(crate) scatter: Option<PathBuf>,
    /// Write a page for the provider of the line
    ///
    /// One page to print: when and where, the findings, what was excluded, how to see it without
    /// this program, and what would help. Shows nothing else.
    #[arg(
        long,
        value_name = "FILE.html",
        value_parser = |name: &str| named(name, ".html"),
        conflicts_with_all = ["json", "output", "scatter"],
        help_heading = "Output options"
    )]
    pub(crate) for_provider: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// The name of a file whose format is fixed.
fn named(name: &str, ending: &str) -> Result<PathBuf, String> {
    let fits = name.to_lowercase().ends_with(ending);
    fits.then(|| name.into()).ok_or_else(|| format!("expected a name that ends in {ending}"))
}

/// Compare two or more results side by side
///
/// Shows the metrics of all results in one table, with the change from the first to the last.
#[derive(Args, Debug)]
#[cfg_attr(
    feature = "full",
    command(
        override_usage = "fathom compare [OPTIONS] <FILE> <FILE>...\n       fathom compare [OPTIONS] --watch <TARGET> --period <PERIOD>..."
    )
)]
pub(crate) struct CompareArgs {
    /// Result files, also of other tools; the first is the baseline
    #[cfg_attr(feature = "full", arg(required_unless_present = "watch", conflicts_with = "watch"))]
    #[arg(required = cfg!(not(feature = "full")), num_args = 2.., value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[cfg(feature = "full")]
    #[command(flatten)]
    pub(crate) history: HistoryArgs,
    /// Period to compare (two or more)
    ///
    /// A day in UTC such as 2026-11-23, or FROM..TO with two times.
    #[cfg(feature = "full")]
    #[arg(long, value_name = "PERIOD", requires = "watch", help_heading = "History of a watch")]
    pub(crate) period: Vec<Range>,
    /// Also write the comparison: .html, .svg
    #[arg(short, long, value_name = "FILE", help_heading = "Output options")]
    pub(crate) output: Vec<PathBuf>,
}
