//! What a law of rates is told and asked in the comparison.
pub(crate) mod cake;
pub(crate) mod fathom;
pub(crate) mod sqm;

use fathom_shape::autorate::{Delay, DelaySample, HourOfWeek, QueueReading};
use fathom_units::{PerDirection, Time};

/// A tick.
pub(crate) struct Seen<'a> {
    pub(crate) at: Time,
    pub(crate) hour: HourOfWeek,
    pub(crate) queues: PerDirection<QueueReading>,
    pub(crate) delays: &'a [DelaySample],
}

/// bit/s, of one direction. `base` is where cake-autorate rests; sqm-autorate's name for what carries without delay.
#[derive(Clone, Copy)]
pub(crate) struct Rates {
    pub(crate) min: f64,
    pub(crate) base: f64,
    pub(crate) max: f64,
}

pub(crate) trait Law {
    /// Gives the rates, bit/s.
    fn tick(&mut self, seen: &Seen) -> PerDirection<f64>;
    /// How often delay lowered each rate so far.
    fn cuts(&self) -> PerDirection<u64>;
    /// A reflector that it wants to be replaced.
    fn unwanted(&mut self, at: Time) -> Option<u16>;
}

/// One way in ms, or half of the round trip for both, as both peers take it.
pub(crate) fn ways_ms(delay: Delay) -> PerDirection<f64> {
    match delay {
        Delay::OneWay(ways) => ways.map(|ns| ns as f64 / 1e6),
        Delay::RoundTrip(rtt) => {
            PerDirection { up: rtt.as_millis_f64() / 2.0, down: rtt.as_millis_f64() / 2.0 }
        }
    }
}
