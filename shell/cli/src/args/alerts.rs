//! Flags of `fathom watch alerts` and `fathom watch test-alert`.
use super::Moment;
use clap::Args;
use std::path::PathBuf;

/// Show when the alerts would have been raised
///
/// Evaluates the alert rules of a configuration over the recorded history. Use it to choose
/// thresholds before you rely on an alert.
#[derive(Args, Debug)]
pub(crate) struct WatchAlertsArgs {
    /// Configuration with the alerts
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    /// Start of the period
    ///
    /// A time in UTC, or how long ago, as in 90min, 24h or 7d.
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub(crate) since: Moment,
    /// End of the period [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<Moment>,
    /// Only this alert (repeatable) [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) alert: Vec<String>,
    /// Directory of the history
    ///
    /// Default: `store` of the configuration, otherwise fathom/watch in the state directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Send a test notification to each receiver
///
/// Shows what each receiver answered. Exit code 3: a receiver could not be notified.
#[derive(Args, Debug)]
pub(crate) struct WatchTestAlertArgs {
    /// Configuration with the receivers
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    /// Only the receivers of this alert [default: all]
    #[arg(long, value_name = "NAME")]
    pub(crate) alert: Option<String>,
}
