//! Flags that select periods of a watch instead of files.
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use fathom_app::results::ResultSource;
use fathom_watch_app::{HistorySource, Period};
use std::path::PathBuf;

/// A target of `fathom watch`, and the location of its history.
#[derive(Args, Debug)]
#[command(next_help_heading = "History of a watch")]
pub(crate) struct HistoryArgs {
    /// Use the history of this target instead of files
    ///
    /// A target of `fathom watch`, in the periods that other flags select.
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
