//! The common interface of the compared laws.
pub(crate) mod cake;
pub(crate) mod fathom;
pub(crate) mod sqm;

use fathom_shape::autorate::{Delay, DelaySample, HourOfWeek, QueueReading};
use fathom_units::{PerDirection, Time};

/// Inputs of a tick.
pub(crate) struct Seen<'a> {
    pub(crate) at: Time,
    pub(crate) hour: HourOfWeek,
    pub(crate) queues: PerDirection<QueueReading>,
    pub(crate) delays: &'a [DelaySample],
}

/// Rates of one direction in bit/s. `base` is cake-autorate's resting rate, and sqm-autorate's rate
/// without delay.
#[derive(Clone, Copy)]
pub(crate) struct Rates {
    pub(crate) min: f64,
    pub(crate) base: f64,
    pub(crate) max: f64,
}

pub(crate) trait Law {
    /// Returns the new rates in bit/s.
    fn tick(&mut self, seen: &Seen) -> PerDirection<f64>;
    /// Number of rate cuts because of delay so far.
    fn cuts(&self) -> PerDirection<u64>;
    /// A reflector that the law wants to replace.
    fn unwanted(&mut self, at: Time) -> Option<u16>;
}

/// One-way delays in ms, or half of the round-trip time for both directions, as both other laws do.
pub(crate) fn ways_ms(delay: Delay) -> PerDirection<f64> {
    match delay {
        Delay::OneWay(ways) => ways.map(|ns| ns as f64 / 1e6),
        Delay::RoundTrip(rtt) => {
            PerDirection { up: rtt.as_millis_f64() / 2.0, down: rtt.as_millis_f64() / 2.0 }
        }
    }
}
