//! A mobile link: intervals, grants after idle times, HARQ retransmissions, a varying rate,
//! outages.
//!
//! Sources: 3GPP TS 36.321 (LTE: scheduling requests, 8 HARQ processes), TS 25.309 (UMTS E-DCH: 8
//! at 2 ms, 4 at 10 ms), TS 36.322 and 25.322 (RLC acknowledged mode: in-order and lossless).
mod harq;
mod outage;
mod supply;

use crate::trace::{RateTrace, Volume, volume};
use alloc::sync::Arc;
use fathom_units::{Bytes, Duration, Rate, Ratio, Rng, Time};
use harq::Harq;
use outage::Outages;
use supply::Supply;

/// The smallest useful remainder of an interval.
const BYTE: Volume = 8_000_000_000;
/// Intervals that an unused grant stays valid: the queue may have dropped the packet it was for.
const GRANT_KEPT: u64 = 100;

/// A mobile link in one direction.
#[derive(Clone, PartialEq, Debug)]
pub struct CellularParams {
    /// Transmission time interval: 1 ms in LTE, 2 or 10 ms in UMTS.
    pub tti: Duration,
    /// Time from an arrival at an idle link to the first interval in which it may be sent.
    pub grant: Duration,
    /// Fraction of transmissions that are repeated, below 1.
    pub harq: Ratio,
    /// Rate of the link.
    pub rate: CellularRate,
    /// Outages, if any.
    pub outages: Option<OutageParams>,
}

/// The rate of a mobile link over time.
#[derive(Clone, PartialEq, Debug)]
pub enum CellularRate {
    /// A random walk between two inclusive bounds, uniformly distributed in the long run.
    Walk {
        /// Lower bound, above zero.
        low: Rate,
        /// Upper bound, at least `low`.
        high: Rate,
    },
    /// A recorded rate.
    Trace(Arc<RateTrace>),
}

/// Outages with exponentially distributed lengths and gaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutageParams {
    /// Mean time from the end of an outage to the start of the next.
    pub every: Duration,
    /// Mean length.
    pub length: Duration,
}

impl CellularParams {
    /// The upper bound of the walk, or the mean of the trace.
    pub(crate) fn nominal_rate(&self) -> Rate {
        match &self.rate {
            CellularRate::Walk { high, .. } => *high,
            CellularRate::Trace(trace) => trace.nominal_rate(),
        }
    }
}

/// Takes packets at the start of an interval. They are received in order, at the end of the
/// interval that carries their last byte or of its last repetition.
pub(crate) struct Cellular {
    tti: u64,
    grant: Duration,
    supply: Supply,
    outages: Outages,
    harq: Harq,
    /// The interval used last, and its remaining capacity.
    interval: u64,
    left: Volume,
    /// When everything sent so far has been received.
    received: Time,
    /// The interval of an unused grant.
    granted: Option<u64>,
    /// Until then no new grant is needed.
    awake_until: Time,
}

impl Cellular {
    /// # Panics
    /// If the rate can be zero forever.
    pub(crate) fn new(params: &CellularParams, seed: u64) -> Self {
        let stream = |purpose| Rng::stream(seed, purpose);
        Cellular {
            tti: params.tti.as_nanos(),
            grant: params.grant,
            supply: Supply::new(&params.rate, params.tti, stream("walk")),
            outages: Outages::new(params.outages, stream("outages")),
            harq: Harq::new(params.harq, params.tti, stream("harq")),
            interval: 0,
            left: 0,
            received: Time::ZERO,
            granted: None,
            awake_until: Time::ZERO,
        }
    }

    pub(crate) fn ready(&mut self, now: Time) -> Time {
        self.outages.forget(now);
        let from = self.first_from(now);
        if self.is_open(from, now) {
            return now;
        }
        if self.is_begun() && now <= self.awake_until {
            let next = self.usable(from.max(self.interval + 1));
            // The grant keeps the link active if that interval starts after this one ends.
            self.granted = Some(next);
            return self.start(next);
        }
        match self.granted.filter(|granted| from <= granted + GRANT_KEPT) {
            Some(granted) if from <= granted => self.start(granted),
            Some(_) => {
                let next = self.usable(from);
                self.start(next)
            }
            None => {
                let granted = self.usable(self.first_from(now + self.grant));
                self.granted = Some(granted);
                self.start(granted)
            }
        }
    }

    /// Sends a packet. Returns when the next one may be taken, which is in the same interval.
    pub(crate) fn send(&mut self, len: Bytes, start: Time) -> Time {
        let from = self.first_from(start);
        if !self.is_open(from, start) {
            let next = if self.is_begun() { from.max(self.interval + 1) } else { from };
            self.open(next);
        }
        let mut need = volume(len);
        while need > self.left {
            need -= self.left;
            self.open(self.interval + 1);
        }
        self.left -= need;
        self.granted = None;
        self.start(self.interval)
    }

    /// Time from the start of the last used interval until everything sent has been received.
    pub(crate) fn lag(&self) -> Duration {
        self.received - self.start(self.interval)
    }
    /// When the last used interval ends.
    pub(crate) const fn clear(&self) -> Time {
        self.awake_until
    }

    const fn start(&self, interval: u64) -> Time {
        Time::from_nanos(interval.saturating_mul(self.tti))
    }
    /// The first interval that begins at `time` or later.
    const fn first_from(&self, time: Time) -> u64 {
        time.as_nanos().div_ceil(self.tti)
    }
    const fn is_begun(&self) -> bool {
        self.awake_until.as_nanos() > 0
    }
    /// True if the interval that begins `now` has capacity left.
    fn is_open(&self, from: u64, now: Time) -> bool {
        self.is_begun() && from == self.interval && self.start(from) == now && self.left >= BYTE
    }

    /// Begins the first usable interval from `from` on.
    fn open(&mut self, from: u64) {
        self.interval = self.usable(from);
        self.left = self.supply.of(self.interval);
        let last_attempt = self.harq.transmit(self.interval, &mut self.outages);
        self.received = self.received.max(self.start(last_attempt + 1));
        self.awake_until = self.start(self.interval + 1);
    }

    /// The first interval from `from` on in which new data can be sent.
    fn usable(&mut self, from: u64) -> u64 {
        let mut interval = from;
        loop {
            let start = self.start(interval);
            let passing = self.outages.end(start).unwrap_or(start);
            let after = self.first_from(passing);
            let next = self.supply.passing(self.harq.free(after));
            if next == interval {
                return interval;
            }
            interval = next;
        }
    }
}
