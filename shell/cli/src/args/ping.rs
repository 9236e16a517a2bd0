//! Flags of `fathom ping`.
use super::{ConnectionArgs, seconds};
use clap::Args;
use fathom_units::Duration;
use std::path::PathBuf;

/// Ping hosts by ICMP, UDP, TCP, TLS, HTTP or DNS
///
/// Sends a probe to each host per interval, whether earlier ones were answered or not, and prints
/// the replies: with their delay from the kernel's timestamps, also late, duplicate and reordered
/// ones. No reply is too late while the program runs. Options and output are those of ping(8), and
/// for several hosts those of fping(8); a terminal shows several hosts as a table on one time axis.
///
/// Ctrl-C ends it with the summary.
#[derive(Args, Debug)]
pub(crate) struct PingArgs {
    /// Host for ICMP, or a URL for another probe (repeatable)
    #[arg(value_name = "HOST", required = true)]
    pub(crate) hosts: Vec<String>,
    /// Stop after N probes to each host
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) count: Option<u32>,
    /// Time between probes to a host
    ///
    /// At least 1ms. A number without a unit is in seconds, as for ping(8).
    #[arg(short, long, default_value = "1", value_name = "TIME", value_parser = seconds)]
    pub(crate) interval: Duration,
    /// Time to wait for the last replies
    ///
    /// After -c probes, the longest wait for replies: as with ping(8), once a host has answered,
    /// twice its longest delay is enough. A reply that took longer than this time is marked as
    /// late. A number without a unit is in seconds.
    #[arg(short = 'W', long, default_value = "10", value_name = "TIME", value_parser = seconds)]
    pub(crate) timeout: Duration,
    /// Stop after this time
    ///
    /// A number without a unit is in seconds.
    #[arg(short = 'w', long, value_name = "TIME", value_parser = seconds)]
    pub(crate) deadline: Option<Duration>,
    /// Print the time before each line
    ///
    /// Seconds since 1970, with microseconds.
    #[arg(short = 'D', long)]
    pub(crate) timestamps: bool,
    /// Show a table with a chart of each host
    ///
    /// This is what several hosts show on a terminal anyway.
    #[arg(long)]
    pub(crate) live: bool,
    /// DSCP of the probes: 0 to 63, or a name such as ef
    #[arg(long, default_value = "0", value_parser = super::test::dscp, value_name = "CLASS", hide_default_value = true)]
    pub(crate) dscp: u8,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    /// Print events as JSON, one per line
    ///
    /// The last line has the document of the result. Their schema is docs/schema/event.schema.json.
    #[arg(long, conflicts_with = "live", help_heading = "Output options")]
    pub(crate) json_lines: bool,
    #[arg(short, long, value_name = "FILE", help = "Also write the result to FILE (repeatable)",
        long_help = super::output_help(), help_heading = "Output options")]
    pub(crate) output: Vec<PathBuf>,
}
