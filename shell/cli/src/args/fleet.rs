//! Flags of `fathom fleet`.
mod page;
mod question;

use super::Moment;
use clap::{Args, Subcommand};
use fathom_fleet_app::gateway::SiteName;
use fathom_units::Duration;
pub(crate) use page::FleetPageArgs;
pub(crate) use question::{
    FleetBuffersArgs, FleetChangesArgs, FleetPlaceArgs, FleetScopeArgs, FleetSiteArgs, FleetSitesArgs,
    FleetTogetherArgs, FleetTrendArgs,
};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Operate many lines: enroll their watches, and find the slow ones
///
/// Each line has a `fathom watch` with a site name. They send to a gateway, which forwards to your
/// Prometheus, VictoriaMetrics, Thanos, Cortex or Mimir, and stores samples and results. Questions
/// are answered by the engine, by the stored files, or by the watch of this machine alone.
/// docs/fleet.md explains the parts.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub(crate) action: FleetAction,
}

#[derive(Subcommand, Debug)]
pub(crate) enum FleetAction {
    Sites(FleetSitesArgs),
    Site(FleetSiteArgs),
    Buffers(FleetBuffersArgs),
    Changes(FleetChangesArgs),
    Trend(FleetTrendArgs),
    Together(FleetTogetherArgs),
    Page(FleetPageArgs),
    Gateway(Box<FleetGatewayArgs>),
    Token(FleetTokenArgs),
    Enrolled(FleetEnrolledArgs),
    Revoke(FleetRevokeArgs),
}

/// Folder of a gateway.
#[derive(Args, Debug)]
pub(crate) struct StateArgs {
    /// Folder of the gateway's registry
    #[arg(long, value_name = "DIR", required = true)]
    pub(crate) state: PathBuf,
}

/// Credentials for an engine.
#[derive(Args, Debug)]
pub(crate) struct EngineAccessArgs {
    /// File with a bearer token for the engine
    #[arg(long, value_name = "FILE", requires = "engine")]
    pub(crate) token_file: Option<PathBuf>,
    /// Authorities of the engine (PEM)
    #[arg(long, value_name = "FILE", requires = "engine")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Header for the engine (repeatable)
    #[arg(long, value_name = "NAME: VALUE", requires = "engine", value_parser = header)]
    pub(crate) header: Vec<(String, String)>,
}

/// Receive from watches, and forward to an engine
///
/// Authenticates each site, checks its series and limits, and forwards them. Runs until Ctrl-C.
#[derive(Args, Debug)]
pub(crate) struct FleetGatewayArgs {
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// Listen address
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8078")]
    pub(crate) listen: SocketAddr,
    /// URL of the engine's remote-write receiver
    ///
    /// As in http://127.0.0.1:9090/api/v1/write. Without it, series are refused.
    #[arg(long, value_name = "URL")]
    pub(crate) engine: Option<String>,
    #[command(flatten)]
    pub(crate) access: EngineAccessArgs,
    /// Folder for samples and results
    ///
    /// Without it, they are refused.
    #[arg(long, value_name = "DIR")]
    pub(crate) objects: Option<PathBuf>,
    /// Certificate chain (PEM)
    ///
    /// Default: a self-signed one in the folder of the registry.
    #[arg(long, value_name = "FILE", requires = "key_file")]
    pub(crate) certificate_file: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "certificate_file")]
    pub(crate) key_file: Option<PathBuf>,
    /// Serve HTTP, for a proxy that does TLS
    #[arg(long, conflicts_with = "certificate_file")]
    pub(crate) no_tls: bool,
    /// File with the password of /metrics
    ///
    /// Without it, only loopback may read them.
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    /// Most series of a site
    ///
    /// Those with points in the last two hours.
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    pub(crate) max_series: u64,
    /// Most samples per minute
    ///
    /// Of a site. A histogram counts one per 16 bytes.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) max_samples: u64,
}

/// Print a token that enrolls one watch
///
/// The token can be used once. The watch reads it from a file: `fathom watch enroll`. Only its
/// SHA-256 is stored, so it cannot be shown again.
#[derive(Args, Debug)]
pub(crate) struct FleetTokenArgs {
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// Only for this site
    #[arg(long, value_name = "NAME", value_parser = site)]
    pub(crate) site: Option<SiteName>,
    /// Label of the site (repeatable)
    ///
    /// Without any, the watch names its own.
    #[arg(long, value_name = "LABEL=VALUE", value_parser = label)]
    pub(crate) label: Vec<(String, String)>,
    /// How long it is valid, at most 24h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = life)]
    pub(crate) valid: Duration,
    /// May replace a site that is enrolled
    #[arg(long)]
    pub(crate) replace: bool,
}

/// List the sites of a gateway
///
/// Prints a line for each site: its labels, when it was enrolled or revoked, and whether two
/// machines used its identity. Works while the gateway runs.
#[derive(Args, Debug)]
pub(crate) struct FleetEnrolledArgs {
    #[command(flatten)]
    pub(crate) state: StateArgs,
}

/// Refuse the key of a site from now on
///
/// Works while the gateway runs. The data of the site stays in the engine. A token of `fathom fleet
/// token --replace` enrolls the site again, with another key.
#[derive(Args, Debug)]
pub(crate) struct FleetRevokeArgs {
    #[command(flatten)]
    pub(crate) state: StateArgs,
    /// Name of the site
    #[arg(value_name = "SITE", value_parser = site)]
    pub(crate) site: SiteName,
}

/// A length of time as in `--since`: units of hours are no units of tc.
fn life(text: &str) -> Result<Duration, String> {
    match text.parse()? {
        Moment::Ago(life) => Ok(life),
        Moment::At(_) => Err("invalid time".to_owned()),
    }
}

fn site(text: &str) -> Result<SiteName, String> {
    SiteName::parse(text).map_err(|error| error.to_string())
}

fn header(text: &str) -> Result<(String, String), &'static str> {
    let parts = text.split_once(':').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    parts.filter(|(name, value)| fathom_watch_plan::is_header(name, value)).ok_or("invalid header")
}

fn label(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("invalid label")?;
    Ok((name.to_owned(), value.to_owned()))
}
