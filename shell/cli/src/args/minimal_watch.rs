//! Flags of `fathom watch` in a build for routers.
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use fathom_units::Duration;
use fathom_watch_plan::is_header;

/// Probe hosts, and send the counts to another machine
///
/// Probes targets by ICMP, and sends their delays and losses to Prometheus, VictoriaMetrics or an
/// OpenTelemetry collector, as `fathom watch` of the full program does. This small build keeps no
/// history and has no page. Runs until Ctrl-C, and then sends what it has.
#[derive(Args, Debug)]
#[command(arg_required_else_help = true)]
pub(crate) struct WatchArgs {
    /// Host to probe (repeatable)
    #[arg(long, value_name = "HOST", required = true, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) target: Vec<String>,
    /// Time between two probes to a host
    #[arg(short, long, default_value = "1", value_name = "TIME", value_parser = super::seconds)]
    pub(crate) interval: Duration,
    /// URL of the receiver, without TLS
    ///
    /// While it is away, up to 1 MB of data wait in memory.
    #[arg(long, value_name = "URL", required = true)]
    pub(crate) push: String,
    /// What the receiver takes
    #[arg(long, value_enum, default_value_t = PushFormat::RemoteWrite, value_name = "FORMAT")]
    pub(crate) push_format: PushFormat,
    /// Time between two points of a series
    #[arg(long, default_value = "60", value_name = "TIME", value_parser = super::seconds)]
    pub(crate) push_interval: Duration,
    /// Header of all requests (repeatable)
    #[arg(long, value_name = "NAME: VALUE", value_parser = header)]
    pub(crate) push_header: Vec<(String, String)>,
    /// Label of all series (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = label)]
    pub(crate) label: Vec<(String, String)>,
}

/// The format of what is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum PushFormat {
    /// Prometheus remote-write 1.0, with native histograms
    RemoteWrite,
    /// The same with classic histograms, as for VictoriaMetrics
    RemoteWriteClassic,
    /// OTLP
    Otlp,
}

fn header(text: &str) -> Result<(String, String), &'static str> {
    let parts = text.split_once(':').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
    parts.filter(|(name, value)| is_header(name, value)).ok_or("invalid header")
}

fn label(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("invalid label")?;
    Ok((name.to_owned(), value.to_owned()))
}
