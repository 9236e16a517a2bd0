//! Flags of `fathom dut`.
use super::OutputArgs;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use fathom_run::Spacing;
use fathom_units::{Duration, Rate, UnitError};

/// Test a switch: delay, loss and buffers of an overloaded port
///
/// Sends UDP between interfaces of this host that are connected to ports of the switch, the device
/// under test (DUT) of RFC 2544. Overloads the port of the first --out, with pings through it, and
/// shows their delay and loss, the buffer in bytes or packets, and the largest burst without loss
/// (RFC 8239). With two --in, also incast; with two --out, also whether the ports share a buffer,
/// and head-of-line blocking.
///
/// Takes no interface that has an address, a route, or a bridge. Frames are sent from network
/// namespaces; the interfaces stay where they are. Needs root. Takes about a minute.
#[derive(Args, Debug)]
pub(crate) struct DutArgs {
    /// Interface that sends to the switch (repeatable)
    ///
    /// At most two.
    #[arg(long = "in", value_name = "IFACE", value_parser = NonEmptyStringValueParser::new(),
        required_unless_present = "line", requires = "out")]
    pub(crate) ins: Vec<String>,
    /// Interface that receives from the switch (repeatable)
    ///
    /// At most two. The port of the first one must be slower than those of --in together.
    #[arg(long = "out", id = "out", value_name = "IFACE", value_parser = NonEmptyStringValueParser::new(),
        required_unless_present = "line", requires = "ins")]
    pub(crate) outs: Vec<String>,
    /// Emulated line instead of a switch
    ///
    /// The name of a built-in line (see `fathom lab --list`) or a scenario file.
    #[arg(long, value_name = "NAME|FILE", conflicts_with_all = ["ins", "out"])]
    pub(crate) line: Option<String>,
    /// Rate of the overloaded port [default: as measured]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) rate: Option<Rate>,
    /// Load, relative to that rate
    #[arg(long, value_name = "PERCENT", default_value = "110%", value_parser = load)]
    pub(crate) load: f64,
    /// Spacing of the frames of the load
    ///
    /// At even intervals, as hardware sends them, pings are lost more often than frames where the
    /// buffer counts packets.
    #[arg(long, value_enum, value_name = "SPACING", default_value_t = SpacingName::Even)]
    pub(crate) spacing: SpacingName,
    /// How long the full buffer is held
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = hold)]
    pub(crate) duration: Duration,
    /// Random seed of --line
    #[arg(long, default_value_t = 1, value_name = "N", requires = "line")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Names of [`Spacing`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum SpacingName {
    Even,
    Random,
}

impl From<SpacingName> for Spacing {
    fn from(name: SpacingName) -> Self {
        match name {
            SpacingName::Even => Spacing::Even,
            SpacingName::Random => Spacing::Random,
        }
    }
}

/// Least and highest load, in percent. At less, the buffer fills for hours.
const LOAD_PERCENT: std::ops::RangeInclusive<f64> = 100.1..=1000.0;
const LONGEST_HOLD: Duration = Duration::from_secs(3600);

fn rate(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse().map_err(|error: UnitError| error.to_string())?;
    let is_rate = rate > Rate::from_bits_per_second(0);
    is_rate.then_some(rate).ok_or_else(|| "expected more than 0".to_owned())
}

fn load(text: &str) -> Result<f64, String> {
    let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let allowed = percent.filter(|percent| LOAD_PERCENT.contains(percent));
    allowed.map(|allowed| allowed / 100.0).ok_or_else(|| "expected 100.1% to 1000%".to_owned())
}

fn hold(text: &str) -> Result<Duration, String> {
    let hold: Duration = text.parse().map_err(|error: UnitError| error.to_string())?;
    let is_allowed = (Duration::from_secs(1)..=LONGEST_HOLD).contains(&hold);
    is_allowed.then_some(hold).ok_or_else(|| format!("expected 1s to {LONGEST_HOLD}"))
}
