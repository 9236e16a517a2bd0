//! What sends packets, one after the other.
use crate::boost::{Boost, BoostParams};
use crate::cellular::{Cellular, CellularParams};
use crate::serializer::Serializer;
use crate::trace::{Opportunities, Rates, Trace};
use crate::wifi::WifiParams;
use fathom_units::{Bytes, Duration, Rate, Time};

/// The kinds of links.
#[derive(Clone, PartialEq, Debug)]
pub enum TransmitterParams {
    /// A fixed rate; `None` takes no time.
    Fixed(Option<Rate>),
    /// A higher rate for a limited amount of data.
    Boost(BoostParams),
    /// A recorded rate.
    Trace(Trace),
    /// LTE or UMTS.
    Cellular(CellularParams),
    /// 802.11, in both directions of the hop.
    Wifi(WifiParams),
}

impl TransmitterParams {
    /// The nominal rate: the fixed or sustained rate, the mean of a trace, the maximum of a mobile
    /// link, the PHY rate of 802.11. `None` takes no time.
    pub fn nominal_rate(&self) -> Option<Rate> {
        match self {
            TransmitterParams::Fixed(rate) => *rate,
            TransmitterParams::Boost(params) => Some(params.sustained),
            TransmitterParams::Trace(trace) => Some(trace.nominal_rate()),
            TransmitterParams::Cellular(params) => Some(params.nominal_rate()),
            TransmitterParams::Wifi(params) => Some(params.phy),
        }
    }
}

/// A transmitter that takes one packet at a time. [`crate::wifi`] takes several.
pub(crate) enum Transmitter {
    Fixed(Serializer),
    Boost(Boost),
    Rates(Rates),
    Opportunities(Opportunities),
    Cellular(alloc::boxed::Box<Cellular>),
}

impl Transmitter {
    /// A transmitter that takes no time.
    pub(crate) const IDEAL: Transmitter = Transmitter::Fixed(Serializer::IDEAL);

    /// `None` for 802.11.
    ///
    /// # Panics
    /// If it would never send.
    pub(crate) fn new(params: &TransmitterParams, seed: u64) -> Option<Self> {
        Some(match params {
            TransmitterParams::Fixed(rate) => Transmitter::Fixed(Serializer::new(*rate)),
            TransmitterParams::Boost(params) => Transmitter::Boost(Boost::new(*params)),
            TransmitterParams::Trace(Trace::Rates(trace)) => Transmitter::Rates(Rates::new(trace.clone())),
            TransmitterParams::Trace(Trace::Opportunities(trace)) => {
                Transmitter::Opportunities(Opportunities::new(trace.clone()))
            }
            TransmitterParams::Cellular(params) => Transmitter::Cellular(Cellular::new(params, seed).into()),
            TransmitterParams::Wifi(_) => return None,
        })
    }

    /// True if it may be unable to take a packet although it is free.
    pub(crate) const fn has_times(&self) -> bool {
        !matches!(self, Transmitter::Fixed(_) | Transmitter::Boost(_))
    }
    /// When it can take a packet that has been waiting since `now`; idempotent.
    #[inline]
    pub(crate) fn ready(&mut self, now: Time) -> Time {
        match self {
            Transmitter::Fixed(_) | Transmitter::Boost(_) => now,
            Transmitter::Rates(rates) => rates.ready(now),
            Transmitter::Opportunities(opportunities) => opportunities.ready(now),
            Transmitter::Cellular(cellular) => cellular.ready(now),
        }
    }
    /// Sends `len` bytes from `start` on. Returns when it can be asked again.
    #[inline]
    pub(crate) fn send(&mut self, len: Bytes, start: Time) -> Time {
        match self {
            Transmitter::Fixed(serializer) => serializer.send(len, start),
            Transmitter::Boost(boost) => boost.send(len, start),
            Transmitter::Rates(rates) => rates.send(len, start),
            Transmitter::Opportunities(opportunities) => opportunities.send(len, start),
            Transmitter::Cellular(cellular) => cellular.send(len, start),
        }
    }
    /// Time from the end of the last `send` until its packet is received, without propagation.
    #[inline]
    pub(crate) fn lag(&self) -> Duration {
        match self {
            Transmitter::Cellular(cellular) => cellular.lag(),
            _ => Duration::ZERO,
        }
    }
    /// When the medium is free again after a `send` that ended at `end`.
    pub(crate) fn clear(&self, end: Time) -> Time {
        match self {
            Transmitter::Cellular(cellular) => cellular.clear(),
            _ => end,
        }
    }
}
