//! The law of cake-autorate (lynxthecat/cake-autorate at 94238be, its defaults.sh), reimplemented
//! for the comparison.
use crate::law::{Law, Rates, Seen, ways_ms};
use fathom_shape::autorate::QueueReading;
use fathom_units::{PerDirection, Time};

const WINDOW: usize = 6;

/// Rate factors, from the weakest change to the strongest.
struct Factors {
    weakest: f64,
    strongest: f64,
}

impl Factors {
    fn at(&self, share: f64) -> f64 {
        self.weakest + share * (self.strongest - self.weakest)
    }
}

const CUT: Factors = Factors { weakest: 0.99, strongest: 0.75 };
const RISE: Factors = Factors { weakest: 1.00, strongest: 1.04 };

#[derive(Clone, Copy)]
struct Way {
    rates: Rates,
    rate: f64,
    achieved: f64,
    is_updated: bool,
    counted: u64,
    delayed: [bool; WINDOW],
    deltas: [f64; WINDOW],
    last_cut: f64,
    last_decay: f64,
    cuts: u64,
}

#[derive(Clone, Copy)]
struct Reflector {
    id: u16,
    baseline: PerDirection<f64>,
    ewma: PerDirection<f64>,
}

pub(crate) struct Cake {
    directions: PerDirection<Way>,
    reflectors: Vec<Reflector>,
    index: usize,
    achieved_at: f64,
    compared_at: f64,
}

const DELAY_MS: f64 = 30.0;
const FULL_UP_MS: f64 = 10.0;
const FULL_DOWN_MS: f64 = 60.0;
const EWMA: f64 = 0.095;
const DETECTED: usize = 3;
const HIGH_LOAD: f64 = 0.75;

impl Cake {
    pub(crate) fn new(rates: PerDirection<Rates>) -> Self {
        Cake {
            directions: rates.map(Way::new),
            reflectors: Vec::new(),
            index: 0,
            achieved_at: 0.0,
            compared_at: 0.0,
        }
    }
    fn sample(&mut self, now: f64, id: u16, owd: PerDirection<f64>) {
        let known = self.reflectors.iter().position(|reflector| reflector.id == id);
        let place = known.unwrap_or_else(|| {
            let start = PerDirection { up: 100.0, down: 100.0 };
            self.reflectors.push(Reflector { id, baseline: start, ewma: PerDirection::default() });
            self.reflectors.len() - 1
        });
        let is_light = !self.directions.up.is_high() && !self.directions.down.is_high();
        let reflector = &mut self.reflectors[place];
        let up = follow(&mut reflector.baseline.up, owd.up);
        let down = follow(&mut reflector.baseline.down, owd.down);
        if is_light {
            reflector.ewma.up += EWMA * (up - reflector.ewma.up);
            reflector.ewma.down += EWMA * (down - reflector.ewma.down);
        }
        self.directions.up.sample(now, self.index, up);
        self.directions.down.sample(now, self.index, down);
        self.index = (self.index + 1) % WINDOW;
    }
}

const BASELINE_UP: f64 = 0.001;
const BASELINE_DOWN: f64 = 0.9;

/// Updates the baseline; returns how far the sample is above it.
fn follow(baseline: &mut f64, owd: f64) -> f64 {
    let weight = if owd >= *baseline { BASELINE_UP } else { BASELINE_DOWN };
    *baseline += weight * (owd - *baseline);
    owd - *baseline
}

/// A packet of 1500 bytes plus overhead, in bits.
const PACKET: f64 = 12_304.0;
/// Decay of a rate above the base, and below it.
const DECAY_DOWN: f64 = 0.99;
const DECAY_UP: f64 = 1.01;
const REFRACTORY_S: f64 = 0.3;
const DECAY_EVERY_S: f64 = 1.0;

impl Way {
    fn new(rates: Rates) -> Self {
        Way {
            rates,
            rate: rates.base,
            achieved: 0.0,
            is_updated: false,
            counted: 0,
            delayed: [false; WINDOW],
            deltas: [0.0; WINDOW],
            last_cut: 0.0,
            last_decay: 0.0,
            cuts: 0,
        }
    }
    fn is_high(&self) -> bool {
        self.achieved > self.rate * HIGH_LOAD
    }
    fn achieve(&mut self, queue: QueueReading, span: f64) {
        self.achieved = (queue.sent.get() - self.counted) as f64 * 8.0 / span;
        (self.counted, self.is_updated) = (queue.sent.get(), true);
    }
    fn sample(&mut self, now: f64, index: usize, delta: f64) {
        let one_packet_ms = PACKET / self.rate * 1e3;
        self.delayed[index] = delta > DELAY_MS + one_packet_ms;
        self.deltas[index] = delta;
        let mean = self.deltas.iter().sum::<f64>() / WINDOW as f64 - one_packet_ms;
        if self.delayed.iter().filter(|is_delayed| **is_delayed).count() >= DETECTED {
            if now > self.last_cut + REFRACTORY_S {
                let depth = ((mean - DELAY_MS) / (FULL_DOWN_MS - DELAY_MS)).clamp(0.0, 1.0);
                self.rate *= CUT.at(depth);
                (self.last_cut, self.last_decay) = (now, now);
                self.cuts += 1;
            }
        } else if self.is_high() {
            if self.is_updated && now > self.last_cut + REFRACTORY_S {
                let share = ((DELAY_MS - mean) / (DELAY_MS - FULL_UP_MS)).clamp(0.0, 1.0);
                self.rate *= RISE.at(share);
                (self.is_updated, self.last_decay) = (false, now);
            }
        } else if now > self.last_decay + DECAY_EVERY_S {
            let base = self.rates.base;
            let is_above = self.rate > base;
            self.rate =
                if is_above { (self.rate * DECAY_DOWN).max(base) } else { (self.rate * DECAY_UP).min(base) };
            self.last_decay = now;
        }
        self.rate = self.rate.clamp(self.rates.min, self.rates.max);
    }
}

const ACHIEVED_EVERY_S: f64 = 0.2;
const COMPARE_EVERY_S: f64 = 60.0;
const WORSE_BASELINE_MS: f64 = 20.0;
const WORSE_DELTA_MS: f64 = 10.0;

impl Law for Cake {
    fn tick(&mut self, seen: &Seen) -> PerDirection<f64> {
        let now = seen.at.as_secs_f64();
        let span = now - self.achieved_at;
        if span > ACHIEVED_EVERY_S - 1e-6 {
            self.directions.up.achieve(seen.queues.up, span);
            self.directions.down.achieve(seen.queues.down, span);
            self.achieved_at = now;
        }
        for sample in seen.delays {
            self.sample(now, sample.reflector, ways_ms(sample.delay));
        }
        PerDirection { up: self.directions.up.rate, down: self.directions.down.rate }
    }
    fn cuts(&self) -> PerDirection<u64> {
        PerDirection { up: self.directions.up.cuts, down: self.directions.down.cuts }
    }
    fn unwanted(&mut self, at: Time) -> Option<u16> {
        if at.as_secs_f64() < self.compared_at + COMPARE_EVERY_S {
            return None;
        }
        self.compared_at = at.as_secs_f64();
        let sum = |reflector: &Reflector| reflector.baseline.up + reflector.baseline.down;
        let worst = |reflector: &Reflector| reflector.ewma.up.max(reflector.ewma.down);
        let min_sum = self.reflectors.iter().map(sum).fold(f64::MAX, f64::min);
        let min_delta = self.reflectors.iter().map(worst).fold(f64::MAX, f64::min);
        let bad = self.reflectors.iter().position(|reflector| {
            sum(reflector) > min_sum + WORSE_BASELINE_MS || worst(reflector) > min_delta + WORSE_DELTA_MS
        })?;
        Some(self.reflectors.remove(bad).id)
    }
}
