//! Flags of `fathom audit`.
use clap::Args;
use fathom_units::{Duration, Rate};
use std::path::PathBuf;

const AUDIT_EXAMPLES: &str = "\
Examples:
  fathom audit                              where packets may wait on this host
  fathom audit --rate 20mbit                the same, behind it a line of 20 Mbit/s
  fathom audit --rate wlan0=60mbit --observe 10s
  fathom audit --host root@router           a router's: by its shell, which only reads files
  fathom audit --save before                keep what was read; fathom audit --root before shows it again

Each place has the number of the list in docs/audit.md. Exit code 1: a bloated queue stands in front of a slow link.";

#[derive(Args, Debug)]
#[command(after_help = AUDIT_EXAMPLES)]
pub(crate) struct AuditArgs {
    /// Rate of the line behind the way out; NAME=RATE is an interface's own (repeatable)
    #[arg(long, value_name = "[NAME=]RATE")]
    pub(crate) rate: Vec<NamedRate>,
    /// Watch for this time what waits in queues, while something loads the host
    #[arg(long, value_name = "TIME", conflicts_with_all = ["host", "root"])]
    pub(crate) observe: Option<Duration>,
    /// Another host: its shell reads the files, and nothing is installed there
    #[arg(long, value_name = "USER@HOST", conflicts_with = "root")]
    pub(crate) host: Option<String>,
    /// The program that goes to the host
    #[arg(long, env = "FATHOM_RSH", default_value = "ssh", value_name = "COMMAND", requires = "host")]
    pub(crate) rsh: String,
    /// How long the host may take
    #[arg(long, default_value = "60s", value_name = "TIME", requires = "host")]
    pub(crate) timeout: Duration,
    /// Files of a host in a folder, as --save leaves them
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Keep what was read in a folder
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// Tell every place at length, with its fix and undo, those that are no problem too
    #[arg(long)]
    pub(crate) all: bool,
    /// Print one JSON document instead
    #[arg(long)]
    pub(crate) json: bool,
}

/// A rate, of an interface or of the line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NamedRate {
    pub(crate) name: Option<String>,
    pub(crate) rate: Rate,
}

impl std::str::FromStr for NamedRate {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, word) =
            text.rsplit_once('=').map_or((None, text), |(name, word)| (Some(name.to_owned()), word));
        let rate: Rate = word.parse().map_err(|error: fathom_units::UnitError| error.to_string())?;
        if rate.as_bits_per_second() == 0 {
            return Err(format!("rate \"{text}\" is zero: nothing would ever leave"));
        }
        Ok(NamedRate { name, rate })
    }
}
