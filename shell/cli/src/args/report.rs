//! Flags of `fathom report` and `fathom compare`.
use super::{Moment, OutputArgs, Range};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use fathom_app::results::ResultSource;
use fathom_app::watch::{HistorySource, Period};
use std::path::PathBuf;

/// Show a result file, or convert it to HTML, CSV or Flent
///
/// Shows results that `fathom test`, `ping`, `buffer`, `lab` and others have saved, and files of
/// other tools, such as iperf3, irtt, flent and ping (docs/imports.md). With --watch, shows a
/// period of the history of a target instead.
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// Result files, also of other tools
    #[arg(required_unless_present = "watch", conflicts_with = "watch", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) history: HistoryArgs,
    /// Start of the period
    ///
    /// A time in UTC, or how long ago, as in 90min, 24h or 7d.
    #[arg(
        long,
        value_name = "TIME",
        requires = "watch",
        default_value = "24h",
        help_heading = "History of a watch"
    )]
    pub(crate) since: Moment,
    /// End of the period [default: now]
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

/// A target of `fathom watch`, and the location of its history.
#[derive(Args, Debug)]
#[command(next_help_heading = "History of a watch")]
pub(crate) struct HistoryArgs {
    /// Use the history of this target instead of files
    #[arg(long, value_name = "TARGET", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) watch: Option<String>,
    /// Configuration of the watch, for its `store`
    #[arg(long, value_name = "CONFIG", requires = "watch")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of the history
    #[arg(long, value_name = "DIR", requires = "watch", conflicts_with = "config")]
    pub(crate) store: Option<PathBuf>,
}

impl HistoryArgs {
    /// The `periods` of a target if `--watch` names one, otherwise `files`.
    pub(crate) fn results(&self, files: &[PathBuf], periods: Vec<Period>) -> ResultSource {
        let history = HistorySource { config: self.config.clone(), store: self.store.clone() };
        self.watch.clone().map_or_else(
            || ResultSource::Files(files.to_vec()),
            |target| ResultSource::Watch { history, target, periods },
        )
    }
}

/// Compare two or more results side by side
///
/// Shows the metrics of all results in one table, with the change from the first to the last. With
/// --watch, compares periods of the history of a target.
#[derive(Args, Debug)]
#[command(
    override_usage = "fathom compare [OPTIONS] <FILE> <FILE>...\n       fathom compare [OPTIONS] --watch <TARGET> --period <PERIOD>..."
)]
pub(crate) struct CompareArgs {
    /// Result files, also of other tools; the first is the baseline
    #[arg(required_unless_present = "watch", conflicts_with = "watch", num_args = 2.., value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) history: HistoryArgs,
    /// Period to compare (two or more)
    ///
    /// A day in UTC such as 2026-11-23, or FROM..TO with two times.
    #[arg(long, value_name = "PERIOD", requires = "watch", help_heading = "History of a watch")]
    pub(crate) period: Vec<Range>,
    /// Also write the comparison: .html, .svg
    #[arg(short, long, value_name = "FILE", help_heading = "Output options")]
    pub(crate) output: Vec<PathBuf>,
}
