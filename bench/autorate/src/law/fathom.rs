//! Fathom's law, as in the product.
use crate::law::{Law, Rates, Seen};
use fathom_shape::autorate::{Bounds, Config, Controller, Observation};
use fathom_units::{PerDirection, Rate, Time};

/// Our controller, and the number of its cuts.
pub(crate) struct Fathom {
    controller: Controller,
    cuts: PerDirection<u64>,
}

impl Fathom {
    pub(crate) fn new(rates: PerDirection<Rates>) -> Self {
        let rate = |bits: f64| Rate::from_bits_per_second(bits as u64);
        let bounds = rates.map(|of| Bounds { min: rate(of.min), start: rate(of.base), max: rate(of.max) });
        let config = Config::new(bounds).unwrap_or_else(|error| panic!("{error}"));
        Fathom { controller: Controller::new(config), cuts: PerDirection::default() }
    }
}

impl Law for Fathom {
    fn tick(&mut self, seen: &Seen) -> PerDirection<f64> {
        let Seen { at, hour, queues, delays } = *seen;
        let decided = self.controller.observe(&Observation { at, hour, queues, delays });
        self.cuts.up += u64::from(decided.up.reason.is_cut());
        self.cuts.down += u64::from(decided.down.reason.is_cut());
        PerDirection { up: decided.up.rate, down: decided.down.rate }
            .map(|rate| rate.as_bits_per_second() as f64)
    }
    fn cuts(&self) -> PerDirection<u64> {
        self.cuts
    }
    fn unwanted(&mut self, _: Time) -> Option<u16> {
        self.controller.suspects().next()
    }
}
