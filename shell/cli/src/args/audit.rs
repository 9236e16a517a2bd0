//! Flags of `fathom audit`.
use clap::Args;
use fathom_app::audit::NamedRate;
use fathom_units::{Duration, Rate};
use std::path::PathBuf;

const AUDIT_EXAMPLES: &str = "\
Examples:
  fathom audit                              where packets can queue on this host
  fathom audit --rate 20mbit                the same, with a line of 20 Mbit/s beyond it
  fathom audit --rate wlan0=60mbit --observe 10s
  fathom audit --host root@router           a router, through its shell, which only reads files
  fathom audit --save before                save what was read; fathom audit --root before shows it again

Each queue point has the number of the list in docs/audit.md. Exit code 1: there is a bloated queue in front of a slow link.";

#[derive(Args, Debug)]
#[command(after_help = AUDIT_EXAMPLES)]
pub(crate) struct AuditArgs {
    /// Rate of the link beyond the default-route interface; NAME=RATE for a specific interface (repeatable)
    #[arg(long, value_name = "[NAME=]RATE", value_parser = named_rate)]
    pub(crate) rate: Vec<NamedRate>,
    /// Observe the queues for this long, while something loads the host
    #[arg(long, value_name = "TIME", conflicts_with_all = ["host", "root"])]
    pub(crate) observe: Option<Duration>,
    /// Audit another host: its shell reads the files, and nothing is installed there
    #[arg(long, value_name = "USER@HOST", conflicts_with = "root")]
    pub(crate) host: Option<String>,
    /// Remote shell command (like rsync's --rsh)
    #[arg(long, env = "FATHOM_RSH", default_value = "ssh", value_name = "COMMAND", requires = "host")]
    pub(crate) rsh: String,
    /// Maximum time to read the host
    #[arg(long, default_value = "60s", value_name = "TIME", requires = "host")]
    pub(crate) timeout: Duration,
    /// Directory with the files of a host, as --save writes it
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Save what was read in a directory
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// Show full detail, fix and undo for every queue point, including those that are no problem
    #[arg(long)]
    pub(crate) all: bool,
    /// Print one JSON document instead
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads `RATE` or `NAME=RATE`.
fn named_rate(text: &str) -> Result<NamedRate, String> {
    let (interface, word) =
        text.rsplit_once('=').map_or((None, text), |(name, word)| (Some(name.to_owned()), word));
    let rate: Rate = word.parse().map_err(|error: fathom_units::UnitError| error.to_string())?;
    if rate.as_bits_per_second() == 0 {
        return Err(format!("rate \"{text}\" is zero: nothing would ever leave"));
    }
    Ok(NamedRate { interface, rate })
}
