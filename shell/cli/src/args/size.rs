//! Flags of `fathom size`.
use clap::Args;
use fathom_units::{Bytes, Duration, Rate, Ratio};

/// Calculate buffer, rate and delay from each other
///
/// Takes what is known and calculates the rest: the delay that a full buffer adds, the buffer that
/// TCP needs, the rate at which a buffer drains in a given time, or how fast it fills under
/// overload. Without quantities, calculates the well-known examples of the literature.
///
/// Units are those of tc: kb, mb and gb are multiples of 1,024 bytes, and mbps are megabytes per
/// second. The units that Fathom prints work as well: kB, MB and GB, with these letters, are
/// multiples of 1,000 bytes, so 375kB is 375000b, and 20.0 Mbit/s is 20mbit.
#[derive(Args, Debug)]
pub(crate) struct SizeArgs {
    /// Known quantities: a buffer, rate, delay, overload
    ///
    /// A buffer (256p, 375kB, 4mb), a rate (10mbit), a delay or round-trip time (20ms), an overload
    /// (1%); at most one of each.
    #[arg(value_name = "QUANTITY")]
    pub(crate) quantities: Vec<String>,
    /// Number of TCP flows that share the link
    ///
    /// The delay is then the round-trip time of their path.
    #[arg(long, value_name = "N")]
    pub(crate) flows: Option<u64>,
    /// Arriving traffic above the rate, as in 1%
    #[arg(long, value_name = "SHARE")]
    pub(crate) overload: Option<Ratio>,
    /// Rate at which traffic arrives
    #[arg(long, value_name = "RATE", conflicts_with = "overload")]
    pub(crate) arriving: Option<Rate>,
    /// Time in which the buffer fills up
    #[arg(long, value_name = "TIME")]
    pub(crate) fill: Option<Duration>,
    /// Packet size, with Ethernet header
    #[arg(long, default_value = "1514b", value_name = "SIZE")]
    pub(crate) packet: Bytes,
    /// Bytes that the link adds to each packet
    #[arg(long, default_value = "0b", value_name = "SIZE")]
    pub(crate) overhead: Bytes,
    /// The link carries ATM cells (ADSL)
    ///
    /// Each cell has 53 bytes, 48 of them payload.
    #[arg(long)]
    pub(crate) atm: bool,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub(crate) json: bool,
}
