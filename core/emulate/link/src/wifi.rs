//! 802.11: a medium that stations contend for, and aggregates that are sent when it is won.
//!
//! Sources: IEEE Std 802.11-2016, clauses 10 (DCF, block acknowledgement), 17 (OFDM), 19 (HT, 802.11n) and 21 (VHT,
//! 802.11ac); Bianchi, IEEE JSAC 18(3), 2000, for what comes out under saturation.
mod contention;
mod medium;
mod station;
mod timing;

pub(crate) use contention::Contention;
pub(crate) use medium::WifiMedium;
pub(crate) use station::{Outcome, Station};
pub use timing::{airtime, exchange};

use fathom_units::{Bytes, Duration, Rate, Ratio};

/// One direction of an 802.11 link. The other direction is the other side of the same medium.
#[derive(Clone, PartialEq, Debug)]
pub struct WifiParams {
    /// Of the data, such as 300 Mbit/s.
    pub phy: Rate,
    /// Other stations on the medium that always have something to send.
    pub stations: u8,
    /// Their PHY rate.
    pub station_phy: Rate,
    /// Share of MPDUs that are not received, below 1. Each is sent up to [`WifiParams::MAX_ATTEMPTS`] times.
    pub error: Ratio,
    /// What is sent at once.
    pub aggregate: AggregateLimits,
}

/// How much an A-MPDU holds; the first packet is always taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AggregateLimits {
    /// At most [`AggregateLimits::MAX_PACKETS`]; 1 is a link without aggregation.
    pub packets: u8,
    /// With headers, delimiters and padding.
    pub bytes: Bytes,
    /// Of preamble and data.
    pub airtime: Duration,
}

impl WifiParams {
    /// dot11LongRetryLimit is 4 and dot11ShortRetryLimit 7; drivers use the latter for frames within an A-MPDU.
    pub const MAX_ATTEMPTS: u8 = 7;
}

impl AggregateLimits {
    /// The window of a block acknowledgement: a bitmap of 64.
    pub const MAX_PACKETS: u8 = 64;
    /// HT's largest A-MPDU (maximum A-MPDU length exponent 3), and the longest PPDU of VHT (aPPDUMaxTime).
    pub const DEFAULT: AggregateLimits =
        AggregateLimits { packets: 32, bytes: Bytes(65_535), airtime: Duration::from_micros(5484) };
}
