//! Flags of `fathom watch`.
use super::WatchDiagnoseArgs;
use super::export::WatchExportArgs;
use super::{WatchAlertsArgs, WatchTestAlertArgs};
use clap::{Args, Subcommand};
use fathom_app::watch::HistorySource;
use std::net::SocketAddr;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  fathom watch --target 192.0.2.1 --target example.net    each second by ICMP, page on this machine
  fathom watch check watch.toml                           every mistake, before anything is started
  fathom watch watch.toml                                 until Ctrl-C; SIGHUP reads the file again
  fathom watch status                                     the last minute of each target

A configuration is as short as this (all keys: docs/watch.md):
  [[target]]
  name = \"router\"
  host = \"192.0.2.1\"
  probe = [\"icmp\", \"dns\"]
  interval = \"500ms\"";

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct WatchArgs {
    #[command(subcommand)]
    pub(crate) action: Option<WatchAction>,
    /// What to watch: a TOML file
    #[arg(value_name = "CONFIG", required_unless_present = "target")]
    pub(crate) config: Option<PathBuf>,
    /// Watch this host by ICMP each second, without a file (repeatable)
    #[arg(long, value_name = "HOST", conflicts_with = "config")]
    pub(crate) target: Vec<String>,
    /// Directory of the history [default: the file's `store`, else fathom/watch in the state directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Where the page is served [default: the file's `listen`, else 127.0.0.1:8077]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
}

#[derive(Subcommand, Debug)]
pub(crate) enum WatchAction {
    /// Look for mistakes in a configuration; nothing is sent
    Check(WatchCheckArgs),
    /// Show the last minute of each target, from the history
    Status(WatchStatusArgs),
    /// Show when the alerts would have been raised, from the history
    Alerts(WatchAlertsArgs),
    /// Send a test to those who are told of alerts, and show what they answer
    TestAlert(WatchTestAlertArgs),
    /// Write the history as a table: CSV or Parquet, every probe or windows
    Export(WatchExportArgs),
    /// Find what months of the history say: hours that come back, this house's own queues, changes for good
    Diagnose(WatchDiagnoseArgs),
    /// Bring over what another program watched: its targets, alerts and history
    Import {
        #[command(subcommand)]
        from: WatchImport,
    },
}

#[derive(Subcommand, Debug)]
pub(crate) enum WatchImport {
    /// SmokePing's configuration, and its databases
    Smokeping(WatchSmokepingArgs),
}

#[derive(Args, Debug)]
pub(crate) struct WatchSmokepingArgs {
    /// SmokePing's configuration; what it includes is read too
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
    /// Directory of SmokePing's databases, whose history is brought over too
    #[arg(long, value_name = "DIR")]
    pub(crate) rrd: Option<PathBuf>,
    /// Where the configuration is written [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Directory of the history [default: fathom/watch in the state directory]
    #[arg(long, value_name = "DIR", requires = "rrd")]
    pub(crate) store: Option<PathBuf>,
    /// Read all of it and tell what would become of it; nothing is written
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args, Debug)]
pub(crate) struct WatchCheckArgs {
    /// The configuration
    #[arg(value_name = "CONFIG")]
    pub(crate) config: PathBuf,
}

/// Which history is read.
#[derive(Args, Debug)]
pub(crate) struct StoreArgs {
    /// The configuration, for its `store`
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

#[derive(Args, Debug)]
pub(crate) struct WatchStatusArgs {
    #[command(flatten)]
    pub(crate) history: StoreArgs,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}
