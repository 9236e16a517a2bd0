//! A mobile link: time in intervals, grants after idleness, retransmissions, a rate that wanders, outages.
//!
//! Sources: 3GPP TS 36.321 (LTE: scheduling requests, HARQ of 8 processes), TS 25.309 (UMTS E-DCH: 2 ms with 8
//! processes, 10 ms with 4), TS 36.322 and 25.322 (RLC acknowledged mode: in order, and nothing is lost by the link).
mod harq;
mod outage;
mod supply;

use crate::trace::{RateTrace, Volume, volume};
use alloc::sync::Arc;
use fathom_units::{Bytes, Duration, Rate, Ratio, Rng, Time};
use harq::Harq;
use outage::Outages;
use supply::Supply;

/// The least that can be sent.
const BYTE: Volume = 8_000_000_000;
/// Grants that are not used at once are kept for so many intervals: the queue may have dropped what they were for.
const GRANT_KEPT: u64 = 100;

/// A mobile link in one direction.
#[derive(Clone, PartialEq, Debug)]
pub struct CellularParams {
    /// In which the base station divides time: 1 ms in LTE, 2 or 10 ms in UMTS.
    pub tti: Duration,
    /// From a packet's arrival at an idle link to the first interval in which it may be sent.
    pub grant: Duration,
    /// Share of transmissions that must be repeated, below 1.
    pub harq: Ratio,
    /// What an interval carries.
    pub rate: CellularRate,
    /// When nothing passes.
    pub outages: Option<OutageParams>,
}

/// A mobile link's rate over time.
#[derive(Clone, PartialEq, Debug)]
pub enum CellularRate {
    /// A random walk between two bounds, both included; over a long time each rate is as frequent.
    Walk {
        /// Above zero.
        low: Rate,
        /// Not below `low`.
        high: Rate,
    },
    /// As recorded.
    Trace(Arc<RateTrace>),
}

/// Outages; lengths and intervals are exponentially distributed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutageParams {
    /// Mean time from the end of one to the start of the next.
    pub every: Duration,
    /// Mean length.
    pub length: Duration,
}

impl CellularParams {
    /// The highest rate, or a trace's mean.
    pub(crate) fn nominal_rate(&self) -> Rate {
        match &self.rate {
            CellularRate::Walk { high, .. } => *high,
            CellularRate::Trace(trace) => trace.nominal_rate(),
        }
    }
}

/// Takes packets at the start of an interval. They are received at the end of the last interval that has a part of
/// them, or of its last repetition, in order.
pub(crate) struct Cellular {
    tti: u64,
    grant: Duration,
    supply: Supply,
    outages: Outages,
    harq: Harq,
    /// The last interval that was used, and what is left of it.
    interval: u64,
    left: Volume,
    /// When all that was sent is received.
    received: Time,
    /// The interval of the last grant that was not used yet.
    granted: Option<u64>,
    /// Until then no grant need be asked for.
    awake_until: Time,
}

impl Cellular {
    /// # Panics
    /// If the rate can be zero for ever.
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
            // So that it is not idle if that is later than the end of this one.
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

    /// When the next packet may be taken: within the same interval.
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

    /// From then to the reception of the packet that was sent last.
    pub(crate) fn lag(&self) -> Duration {
        self.received - self.start(self.interval)
    }
    /// When the last interval that was used ends.
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
    /// True if something is left of the interval that begins `now`.
    fn is_open(&self, from: u64, now: Time) -> bool {
        self.is_begun() && from == self.interval && self.start(from) == now && self.left >= BYTE
    }

    /// Begins the first usable interval, not before `from`.
    fn open(&mut self, from: u64) {
        self.interval = self.usable(from);
        self.left = self.supply.of(self.interval);
        let last_attempt = self.harq.transmit(self.interval, &mut self.outages);
        self.received = self.received.max(self.start(last_attempt + 1));
        self.awake_until = self.start(self.interval + 1);
    }

    /// The first interval from `from` on in which something new can be sent.
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
