//! Flags of the questions about a fleet.
use super::{EngineAccessArgs, label};
use crate::args::Moment;
use clap::Args;
use fathom_units::Direction;
use std::path::PathBuf;

/// What knows the sites.
#[derive(Args, Debug)]
pub(crate) struct FleetPlaceArgs {
    /// URL of an engine
    ///
    /// The part before /api/v1/query, as in http://127.0.0.1:9090.
    #[arg(long, value_name = "URL")]
    pub(crate) engine: Option<String>,
    #[command(flatten)]
    pub(crate) access: EngineAccessArgs,
    /// Folder of an archive
    ///
    /// What `[[archive]]` of the watches writes. With an engine, only the results are read.
    #[arg(long, value_name = "DIR")]
    pub(crate) archive: Option<PathBuf>,
    /// Watch of this machine
    ///
    /// Its configuration. Without an engine and an archive, its history is read, or that of the
    /// default directory.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["engine", "archive"])]
    pub(crate) config: Option<PathBuf>,
}

/// Which sites.
#[derive(Args, Debug)]
pub(crate) struct FleetScopeArgs {
    #[command(flatten)]
    pub(crate) place: FleetPlaceArgs,
    /// Only sites with this label (repeatable)
    #[arg(long, value_name = "LABEL=VALUE", value_parser = label)]
    pub(crate) only: Vec<(String, String)>,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Rank sites by lag when busy
///
/// Values are medians of the tests of the period.
#[derive(Args, Debug)]
pub(crate) struct FleetSitesArgs {
    #[command(flatten)]
    pub(crate) scope: FleetScopeArgs,
    /// Start of the period
    ///
    /// A time in UTC, or how long ago, as in 24h or 7d.
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub(crate) since: Moment,
    /// Group the sites by this label
    #[arg(long, value_name = "LABEL")]
    pub(crate) by: Option<String>,
}

/// Show the tests and results of a site
///
/// Results are the evidence: `fathom report` shows each of them. They come from an archive, or from
/// the watch of this machine.
#[derive(Args, Debug)]
pub(crate) struct FleetSiteArgs {
    /// Name of the site
    #[arg(value_name = "SITE")]
    pub(crate) site: String,
    #[command(flatten)]
    pub(crate) place: FleetPlaceArgs,
    /// Start of the period
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub(crate) since: Moment,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Plot capacity against buffer
///
/// The scatter plot of Netalyzr. A buffer is too deep if it takes 200 ms or more to drain.
#[derive(Args, Debug)]
pub(crate) struct FleetBuffersArgs {
    #[command(flatten)]
    pub(crate) scope: FleetScopeArgs,
    /// Start of the period
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub(crate) since: Moment,
    /// Group the lines by this label
    #[arg(long, value_name = "LABEL")]
    pub(crate) by: Option<String>,
    /// up or down
    #[arg(long, value_name = "DIRECTION", default_value = "up")]
    pub(crate) direction: Direction,
}

/// Compare sites before and after a change
///
/// For example, a fix, or another plan. A site counts as better or worse if its median lag differs
/// by 30 % and 20 ms at least, and if it has five tests before and five after.
#[derive(Args, Debug)]
pub(crate) struct FleetChangesArgs {
    #[command(flatten)]
    pub(crate) scope: FleetScopeArgs,
    /// When it changed
    #[arg(long, value_name = "TIME", required = true)]
    pub(crate) at: Moment,
    /// Period before and after, as in 7d
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = super::life)]
    pub(crate) period: fathom_units::Duration,
}

/// Show how the median lag develops
///
/// By hour, day or week, depending on the period.
#[derive(Args, Debug)]
pub(crate) struct FleetTrendArgs {
    #[command(flatten)]
    pub(crate) scope: FleetScopeArgs,
    /// Start of the period
    #[arg(long, value_name = "TIME", default_value = "28d")]
    pub(crate) since: Moment,
    /// Also by the values of this label
    #[arg(long, value_name = "LABEL")]
    pub(crate) by: Option<String>,
}

/// Find sites that slow down together
///
/// A site is slow while its latency is 20 ms or more above its lowest of a day. What most slow
/// sites share is named: a router on their paths, a host that they probe, or a label.
#[derive(Args, Debug)]
pub(crate) struct FleetTogetherArgs {
    #[command(flatten)]
    pub(crate) scope: FleetScopeArgs,
    /// Start of the period
    #[arg(long, value_name = "TIME", default_value = "24h")]
    pub(crate) since: Moment,
}
