//! Flags of `fathom size`.
use clap::Args;
use fathom_units::{Bytes, Duration, Rate, Ratio};

const SIZE_EXAMPLES: &str = "\
Examples:
  fathom size 256p 10mbit                       what a full ring of 256 packets adds
  fathom size 10mbit 20ms                       the buffer that adds 20 ms
  fathom size 375kB 300ms                       the rate at which it does
  fathom size 1gbit 100ms --flows 10000         the buffer that TCP needs: BDP / sqrt(flows)
  fathom size 1gbit 4mb --overload 1%           how fast it fills
  fathom size 48kb 5mbit --packet 1500b --overhead 8b --atm
  fathom size                                   the sums of the texts that the project began with

Units are tc's: kb, mb and gb are multiples of 1,024 bytes, and mbps are megabytes a second.
What Fathom prints is read as well: kB, MB and GB, in these letters, are multiples of 1,000
bytes, so that 375kB is 375000b, and 20.0 Mbit/s is 20mbit.";

#[derive(Args, Debug)]
#[command(after_help = SIZE_EXAMPLES)]
pub(crate) struct SizeArgs {
    /// What is known: a buffer (256p, 375kB, 4mb), a rate (10mbit), a delay or round trip (20ms), an overload (1%); each once
    #[arg(value_name = "QUANTITY")]
    pub(crate) quantities: Vec<String>,
    /// TCP flows that share the link; the delay is then the round trip of their path
    #[arg(long, value_name = "N")]
    pub(crate) flows: Option<u64>,
    /// What arrives beyond the rate, as a share of it
    #[arg(long, value_name = "SHARE")]
    pub(crate) overload: Option<Ratio>,
    /// The same as the rate that arrives
    #[arg(long, value_name = "RATE", conflicts_with = "overload")]
    pub(crate) arriving: Option<Rate>,
    /// Time in which the buffer fills
    #[arg(long, value_name = "TIME")]
    pub(crate) fill: Option<Duration>,
    /// A packet, with its Ethernet header
    #[arg(long, default_value = "1514b", value_name = "SIZE")]
    pub(crate) packet: Bytes,
    /// What the line adds to each packet
    #[arg(long, default_value = "0b", value_name = "SIZE")]
    pub(crate) overhead: Bytes,
    /// The line is ATM, as of ADSL: cells of 53 bytes that carry 48
    #[arg(long)]
    pub(crate) atm: bool,
    /// Print one JSON document instead
    #[arg(long)]
    pub(crate) json: bool,
}
