//! Flags of `fathom buffer`.
use super::{ConnectionArgs, OutputArgs, direction};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use fathom_client::{DEFAULT_BUDGET, LEAST_BUDGET};
use fathom_units::{Bytes, Direction, UnitError};

/// Measure the buffers of a line: size, kind of limit, AQM
///
/// Sends short bursts of UDP in three packet sizes to a machine that runs `fathom serve`, and from
/// it. Each overfills the buffer in front of the slowest link. Where packets are lost, and how long
/// the others wait, shows the rate of the link, the size of the buffer in bytes or packets, and how
/// it drops: tail drop, an AQM, or a policer. Each direction takes a few seconds, on a line with an
/// AQM half a minute, and where a full buffer takes many seconds to empty some minutes. The line is
/// slow for others meanwhile.
///
/// Without such a machine, echo requests to any host measure the upload: icmp://HOST, or
/// udp-echo://HOST for the UDP service on port 7 (RFC 862).
#[derive(Args, Debug)]
pub(crate) struct BufferArgs {
    /// HOST that runs `fathom serve`; icmp://HOST, udp-echo://HOST
    ///
    /// The first as HOST or HOST:PORT. The others are any host that answers echo requests.
    #[arg(value_name = "SERVER", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) server: String,
    /// Measure only this direction
    #[arg(long, value_name = "DIRECTION", value_parser = direction())]
    pub(crate) only: Option<Direction>,
    /// Data cap of each direction
    ///
    /// A buffer that it does not fill is reported as at least what was in it.
    #[arg(long, value_name = "SIZE", default_value_t = DEFAULT_BUDGET, value_parser = budget)]
    pub(crate) max_bytes: Bytes,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

fn budget(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes = text.parse().map_err(|error: UnitError| error.to_string())?;
    let is_enough = bytes >= LEAST_BUDGET;
    is_enough.then_some(bytes).ok_or_else(|| format!("expected at least {LEAST_BUDGET}: the first burst"))
}
