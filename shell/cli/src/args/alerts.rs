//! Flags of `fathom watch alerts` and `fathom watch test-alert`.
use super::Moment;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct WatchAlertsArgs {
    /// The configuration with the alerts
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    /// From when on: a time in UTC, or how long ago, as in 90min, 24h, 7d
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub(crate) since: Moment,
    /// Up to when [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<Moment>,
    /// Only this alert (repeatable) [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) alert: Vec<String>,
    /// Directory of the history [default: the file's `store`, else fathom/watch in the state directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct WatchTestAlertArgs {
    /// The configuration with the receivers
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    /// Only those who are told of this alert [default: all receivers]
    #[arg(long, value_name = "NAME")]
    pub(crate) alert: Option<String>,
}
