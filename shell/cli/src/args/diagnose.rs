//! Flags of `fathom watch diagnose`.
use super::{Moment, StoreArgs};
use clap::Args;

#[derive(Args, Debug)]
pub(crate) struct WatchDiagnoseArgs {
    #[command(flatten)]
    pub(crate) history: StoreArgs,
    /// From when on: a time such as 2026-11-21T06:00:00Z, or how long ago, such as 90d
    #[arg(long, value_name = "TIME", default_value = "90d")]
    pub(crate) since: Moment,
    /// Print one JSON document instead
    #[arg(long)]
    pub(crate) json: bool,
}
