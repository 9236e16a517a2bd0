//! Flags of `fathom watch diagnose`.
use super::{Moment, StoreArgs};
use clap::Args;

/// Find patterns in months of history
///
/// Finds hours in which congestion recurs, queueing that the own traffic of this site causes, and
/// permanent changes of the path. Reports only what chance does not explain.
#[derive(Args, Debug)]
pub(crate) struct WatchDiagnoseArgs {
    #[command(flatten)]
    pub(crate) history: StoreArgs,
    /// Start of the period
    ///
    /// A time in UTC such as 2026-11-21T06:00:00Z, or how long ago, as in 90d.
    #[arg(long, value_name = "TIME", default_value = "90d")]
    pub(crate) since: Moment,
    /// Print one JSON document instead of the list
    #[arg(long)]
    pub(crate) json: bool,
}
