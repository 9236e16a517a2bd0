//! Flags of `fathom audit`.
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use fathom_app::audit::NamedRate;
use fathom_units::{Duration, Rate};
use std::path::PathBuf;

/// List every place packets can queue on this host or another
///
/// Lists the queues of network cards, drivers, queue disciplines, sockets and Wi-Fi, with the
/// worst-case delay of each, and the command that fixes it. The numbers of the places are those of
/// docs/audit.md. Only reads; changes nothing.
///
/// Exit code 1: a queue in front of a slow link can hold packets for too long.
#[derive(Args, Debug)]
pub(crate) struct AuditArgs {
    /// Rate of the link beyond this host (repeatable)
    ///
    /// RATE is that of the link beyond the interface with the default route, such as the uplink of
    /// the modem. NAME=RATE sets the rate of one interface.
    #[arg(long, value_name = "[NAME=]RATE", value_parser = named_rate)]
    pub(crate) rate: Vec<NamedRate>,
    /// Observe the queues for this long
    ///
    /// Load the line meanwhile, for example with an upload: the audit then shows which queues
    /// really fill. Ctrl-C ends the observation early.
    #[arg(long, value_name = "TIME", conflicts_with_all = ["host", "root"])]
    pub(crate) observe: Option<Duration>,
    /// Audit another host through its remote shell
    ///
    /// Only reads files there. Installs nothing.
    #[arg(long, value_name = "USER@HOST", conflicts_with = "root", help_heading = "Other hosts", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) host: Option<String>,
    /// Remote shell command
    ///
    /// Like --rsh of rsync.
    #[arg(
        long,
        env = "FATHOM_RSH",
        default_value = "ssh",
        value_name = "COMMAND",
        requires = "host",
        help_heading = "Other hosts"
    )]
    pub(crate) rsh: String,
    /// Maximum time to read the host
    #[arg(long, default_value = "60s", value_name = "TIME", requires = "host", help_heading = "Other hosts")]
    pub(crate) timeout: Duration,
    /// Audit the files that --save has written to DIR
    #[arg(long, value_name = "DIR", help_heading = "Other hosts")]
    pub(crate) root: Option<PathBuf>,
    /// Save the files that were read to DIR
    #[arg(long, value_name = "DIR", help_heading = "Output options")]
    pub(crate) save: Option<PathBuf>,
    /// Show full detail for every place
    ///
    /// Includes places that are fine, and the commands to change and to undo.
    #[arg(long, help_heading = "Output options")]
    pub(crate) all: bool,
    /// Print one JSON document instead of the table
    #[arg(long, help_heading = "Output options")]
    pub(crate) json: bool,
}

/// Reads `RATE` or `NAME=RATE`.
fn named_rate(text: &str) -> Result<NamedRate, String> {
    let (interface, word) =
        text.rsplit_once('=').map_or((None, text), |(name, word)| (Some(name.to_owned()), word));
    let rate: Rate = word.parse().map_err(|error: fathom_units::UnitError| error.to_string())?;
    if rate.as_bits_per_second() == 0 {
        return Err(format!("rate \"{text}\" is zero (expected a rate above 0, such as 20mbit)"));
    }
    Ok(NamedRate { interface, rate })
}
