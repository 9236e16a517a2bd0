//! What a law of rates is told and asked in the comparison.
use fathom_shape::autorate::{
    Both, Bounds, Config, Controller, Delay, DelaySample, HourOfWeek, Observation, QueueReading,
};
use fathom_units::{Rate, Time};

/// A tick.
pub(crate) struct Seen<'a> {
    pub(crate) at: Time,
    pub(crate) hour: HourOfWeek,
    pub(crate) queues: Both<QueueReading>,
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
    fn tick(&mut self, seen: &Seen) -> Both<f64>;
    /// How often delay lowered each rate so far.
    fn cuts(&self) -> Both<u64>;
    /// A reflector that it wants to be replaced.
    fn unwanted(&mut self, at: Time) -> Option<u16>;
}

/// One way in ms, or half of the round trip for both, as both peers take it.
pub(crate) fn ways_ms(delay: Delay) -> Both<f64> {
    match delay {
        Delay::OneWay(ways) => ways.map(|ns| ns as f64 / 1e6),
        Delay::RoundTrip(rtt) => Both { up: rtt.as_millis_f64() / 2.0, down: rtt.as_millis_f64() / 2.0 },
    }
}

/// Ours.
pub(crate) struct Fathom {
    controller: Controller,
    cuts: Both<u64>,
}

impl Fathom {
    pub(crate) fn new(rates: Both<Rates>) -> Self {
        let rate = |bits: f64| Rate::from_bits_per_second(bits as u64);
        let bounds = rates.map(|of| Bounds { min: rate(of.min), start: rate(of.base), max: rate(of.max) });
        let config = Config::new(bounds).unwrap_or_else(|error| panic!("{error}"));
        Fathom { controller: Controller::new(config), cuts: Both::default() }
    }
}

impl Law for Fathom {
    fn tick(&mut self, seen: &Seen) -> Both<f64> {
        let Seen { at, hour, queues, delays } = *seen;
        let decided = self.controller.observe(&Observation { at, hour, queues, delays });
        self.cuts.up += u64::from(decided.up.reason.is_cut());
        self.cuts.down += u64::from(decided.down.reason.is_cut());
        Both { up: decided.up.rate, down: decided.down.rate }.map(|rate| rate.as_bits_per_second() as f64)
    }
    fn cuts(&self) -> Both<u64> {
        self.cuts
    }
    fn unwanted(&mut self, _: Time) -> Option<u16> {
        self.controller.suspects().next()
    }
}
