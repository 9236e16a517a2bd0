//! Flags of `fathom watch`.
use super::WatchDiagnoseArgs;
use super::export::WatchExportArgs;
use super::{WatchAlertsArgs, WatchTestAlertArgs};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use fathom_watch_app::HistorySource;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Monitor many targets for years, with a web page and alerts
///
/// Probes targets by ICMP, UDP, TCP, TLS, HTTP or DNS, and keeps every result. A web page shows the
/// history, and alerts notify you. Runs until Ctrl-C; SIGHUP makes it read the configuration again.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub(crate) struct WatchArgs {
    #[command(subcommand)]
    pub(crate) action: Option<WatchAction>,
    /// Configuration (TOML)
    #[arg(value_name = "CONFIG", required_unless_present = "target")]
    pub(crate) config: Option<PathBuf>,
    /// Host to probe, without a file (repeatable)
    ///
    /// Probed by ICMP once per second.
    #[arg(long, value_name = "HOST", conflicts_with = "config", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) target: Vec<String>,
    /// Directory of the history
    ///
    /// Default: `store` of the configuration, otherwise fathom/watch in the state directory.
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Address of the web page
    ///
    /// Default: `listen` of the configuration, otherwise 127.0.0.1:8077.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum WatchAction {
    Check(WatchCheckArgs),
    Enroll(WatchEnrollArgs),
    Status(WatchStatusArgs),
    Alerts(WatchAlertsArgs),
    TestAlert(WatchTestAlertArgs),
    Export(WatchExportArgs),
    Diagnose(WatchDiagnoseArgs),
    Verify(WatchVerifyArgs),
    Repair(WatchRepairArgs),
    Backup(WatchBackupArgs),
    /// Import targets, alerts and history from another monitor
    Import {
        #[command(subcommand)]
        from: WatchImport,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum WatchImport {
    Smokeping(WatchSmokepingArgs),
}

/// Import the configuration and databases of SmokePing
///
/// Converts the targets and alerts of SmokePing to a configuration of `fathom watch`. With --rrd,
/// also imports the history. SmokePing's files are only read.
#[derive(Args, Debug)]
pub(crate) struct WatchSmokepingArgs {
    /// Configuration of SmokePing
    ///
    /// Files that it includes are read as well.
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    /// Also import the databases in DIR
    ///
    /// DIR is the `datadir` of SmokePing.
    #[arg(long, value_name = "DIR")]
    pub(crate) rrd: Option<PathBuf>,
    /// Configuration to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Directory of the history
    ///
    /// Default: fathom/watch in the state directory.
    #[arg(long, value_name = "DIR", requires = "rrd")]
    pub(crate) store: Option<PathBuf>,
    /// Only show what would be imported
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Check a configuration, without sending anything
///
/// Reports the first mistake with its line and what to change. Otherwise shows the number of
/// targets and packets per second.
#[derive(Args, Debug)]
pub(crate) struct WatchCheckArgs {
    /// Configuration to check
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
}

/// Enroll the site of a configuration at a gateway
///
/// Uses a token of the operator, and writes the identity of the site next to the history. A push
/// with kind = "gateway" then needs no address and no password.
#[derive(Args, Debug)]
pub(crate) struct WatchEnrollArgs {
    /// Configuration of the watch, which names its site
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    /// URL of the gateway, as in https://192.0.2.1:8078
    #[arg(value_name = "GATEWAY")]
    pub(crate) gateway: String,
    /// File with the token of the operator
    #[arg(long, value_name = "FILE", required = true)]
    pub(crate) token_file: PathBuf,
    /// SHA-256 of the gateway's certificate
    ///
    /// The gateway prints it at its start.
    #[arg(long, value_name = "SHA-256", conflicts_with = "ca_file")]
    pub(crate) fingerprint: Option<String>,
    /// Certificate authorities of the gateway (PEM)
    ///
    /// Default: those of this host.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,
    /// Directory of the history
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
}

/// Location of a history.
#[derive(Args, Debug)]
pub(crate) struct StoreArgs {
    /// Configuration of the watch, for its `store`
    #[arg(value_name = "CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Directory of the history
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    pub(crate) store: Option<PathBuf>,
}

impl StoreArgs {
    pub(crate) fn source(&self) -> HistorySource {
        HistorySource { config: self.config.clone(), store: self.store.clone() }
    }
}

/// Show the last minute of each target
///
/// Reads the history of a running watch.
#[derive(Args, Debug)]
pub(crate) struct WatchStatusArgs {
    #[command(flatten)]
    pub(crate) history: StoreArgs,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}

/// Check a history for damage
///
/// Reads everything and changes nothing, also while a watch is running. Takes about a second per
/// series and year. The exit code is 1 if something is damaged.
#[derive(Args, Debug)]
pub(crate) struct WatchVerifyArgs {
    #[command(flatten)]
    pub(crate) history: StoreArgs,
}

/// Repair a damaged history
///
/// Moves damaged items aside, and saves what can be read of databases that were moved aside
/// earlier. Nothing is deleted. Stop the watch first.
#[derive(Args, Debug)]
pub(crate) struct WatchRepairArgs {
    #[command(flatten)]
    pub(crate) history: StoreArgs,
}

/// Copy a history to one file
///
/// Also while a watch is running. The copy is the state at one moment.
#[derive(Args, Debug)]
pub(crate) struct WatchBackupArgs {
    #[command(flatten)]
    pub(crate) history: StoreArgs,
    /// File to write; it must not exist
    #[arg(short, long, value_name = "FILE", required = true)]
    pub(crate) output: PathBuf,
}
