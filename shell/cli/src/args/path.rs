//! Flags of `fathom path`.
use super::{ConnectionArgs, OutputArgs, seconds};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use fathom_units::Duration;

/// Show every hop to a host over time, with load or without
///
/// Probes all routers on the way to a host, like mtr(8), and shows on one time axis how long
/// packets wait on the way to each: probes that expire there, and echo requests to its address.
/// With --load, the line is loaded as by `fathom test`, first down, then up, and the result says
/// between which hops the queue is.
///
/// A router may reply slowly, or not at all, and still forward without delay. So the chart gives a
/// hop only the delay that all later hops share.
///
/// Needs permission for ICMP echo. Ctrl-C ends it with the table of all hops.
#[derive(Args, Debug)]
pub(crate) struct PathArgs {
    /// Host; with --load a server as for `fathom test`
    #[arg(value_name = "HOST", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) host: String,
    /// Load the line between this host and the server
    #[arg(long, conflicts_with_all = ["count", "interval", "deadline"])]
    pub(crate) load: bool,
    /// Stop after N probes to each hop
    ///
    /// Without a terminal, 10 are sent.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) count: Option<u32>,
    /// Time between probes to a hop
    ///
    /// At least 100ms. Linux routers answer one probe per second; with a shorter interval, probes
    /// to them are lost. A number without a unit is in seconds.
    #[arg(short, long, default_value = "1", value_name = "TIME", value_parser = seconds)]
    pub(crate) interval: Duration,
    /// Stop after this time
    ///
    /// A number without a unit is in seconds.
    #[arg(short = 'w', long, value_name = "TIME", value_parser = seconds)]
    pub(crate) deadline: Option<Duration>,
    /// Do not look up the names of routers
    #[arg(short, long)]
    pub(crate) no_names: bool,
    /// Print events as JSON, one per line
    ///
    /// The last line has the document of --json. Their schema is docs/schema/event.schema.json.
    #[arg(long, conflicts_with = "json", help_heading = "Output options")]
    pub(crate) json_lines: bool,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
