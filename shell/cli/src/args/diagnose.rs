//! Flags of `fathom watch diagnose`.
use super::Moment;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub(crate) struct WatchDiagnoseArgs {
    /// The configuration, for its `store`
    #[arg(value_name = "CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of the history
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    pub(crate) store: Option<PathBuf>,
    /// From when on: a time such as 2026-11-21T06:00:00Z, or how long ago, such as 90d
    #[arg(long, value_name = "TIME", default_value = "90d")]
    pub(crate) since: Moment,
    /// Print one JSON document instead
    #[arg(long)]
    pub(crate) json: bool,
}
