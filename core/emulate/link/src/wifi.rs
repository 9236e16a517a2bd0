//! 802.11: stations contend for a medium and send an aggregate when they win it.
//!
//! Sources: IEEE Std 802.11-2016, clauses 10 (DCF, block acknowledgment), 17 (OFDM), 19 (HT,
//! 802.11n) and 21 (VHT, 802.11ac); Bianchi, IEEE JSAC 18(3), 2000, for saturation throughput.
mod contention;
mod medium;
mod station;
mod timing;

pub(crate) use contention::Contention;
pub(crate) use medium::WifiMedium;
pub(crate) use station::{Outcome, Station};
pub use timing::{airtime, exchange};

use fathom_units::{Bytes, Duration, Rate, Ratio};

/// One direction of an 802.11 link. The other direction uses the same medium.
#[derive(Clone, PartialEq, Debug)]
pub struct WifiParams {
    /// PHY rate of the data, such as 300 Mbit/s.
    pub phy: Rate,
    /// Number of other stations on the medium, which are always backlogged.
    pub stations: u8,
    /// PHY rate of the other stations.
    pub station_phy: Rate,
    /// MPDU error ratio, below 1. Each is sent up to [`WifiParams::MAX_ATTEMPTS`] times.
    pub error: Ratio,
    /// Limits of an aggregate.
    pub aggregate: AggregateLimits,
}

/// Limits of an A-MPDU; the first packet always fits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AggregateLimits {
    /// At most [`AggregateLimits::MAX_PACKETS`]; 1 disables aggregation.
    pub packets: u8,
    /// Including headers, delimiters and padding.
    pub bytes: Bytes,
    /// Airtime of preamble and data.
    pub airtime: Duration,
}

impl WifiParams {
    /// dot11ShortRetryLimit, which drivers use for frames in an A-MPDU; dot11LongRetryLimit is 4.
    pub const MAX_ATTEMPTS: u8 = 7;
}

impl AggregateLimits {
    /// The window of a block acknowledgment: a bitmap of 64.
    pub const MAX_PACKETS: u8 = 64;
    /// HT's largest A-MPDU (length exponent 3) and VHT's longest PPDU (aPPDUMaxTime).
    pub const DEFAULT: AggregateLimits =
        AggregateLimits { packets: 32, bytes: Bytes(65_535), airtime: Duration::from_micros(5484) };
}
