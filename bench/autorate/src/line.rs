//! Variable-rate lines: their capacity per direction at each time of the week.
mod kind;

use fathom_units::{PerDirection, Rng};
pub(crate) use kind::{Facts, Kind};

/// Interval between new radio rates in s, as for mobile lines in core/emulate/link.
const STEP: f64 = 0.1;

/// State of the bottleneck at a time.
#[derive(Clone, Copy)]
pub(crate) struct At {
    /// Capacity in bit/s, without outages.
    pub(crate) open: f64,
    /// Remaining time of an outage in s.
    pub(crate) stall: f64,
}

impl At {
    pub(crate) fn capacity(self) -> f64 {
        if self.stall > 0.0 { 0.0 } else { self.open }
    }
}

/// A line over time.
pub(crate) struct Line {
    kind: Kind,
    rng: Rng,
    drawn: u64,
    walk: PerDirection<f64>,
    slot: PerDirection<f64>,
    /// Delay per direction above the minimum in s, without jitter.
    pub(crate) offset: PerDirection<f64>,
    outage_until: f64,
    outage_next: f64,
    tokens: PerDirection<f64>,
    filled: f64,
    congestion: f64,
}

/// PowerBoost: credit in bytes, and its rate on top of the plan's.
const BOOST_BYTES: PerDirection<f64> = PerDirection { up: 5e6, down: 20e6 };
const BOOST: f64 = 1.2;
const PLAN: PerDirection<f64> = PerDirection { up: 10e6, down: 100e6 };

impl Line {
    pub(crate) fn new(kind: Kind, seed: u64) -> Self {
        let mut rng = Rng::stream(seed, "line");
        let walk = PerDirection { up: rng.next_f64(), down: rng.next_f64() };
        let slot = PerDirection { up: 12e6, down: 100e6 };
        Line {
            kind,
            rng,
            drawn: 0,
            walk,
            slot,
            offset: PerDirection::default(),
            outage_until: 0.0,
            outage_next: 60.0,
            tokens: BOOST_BYTES,
            filled: 0.0,
            congestion: 1.0,
        }
    }
    /// Capacity per direction at `now`, which must not decrease.
    pub(crate) fn at(&mut self, now: f64) -> PerDirection<At> {
        let stall = (self.outage_until - now).max(0.0);
        self.open(now).map(|open| At { open, stall })
    }
    fn open(&mut self, now: f64) -> PerDirection<f64> {
        let step = (now / STEP) as u64;
        if step > self.drawn {
            self.draw(step - self.drawn, now);
            self.drawn = step;
        }
        match self.kind {
            Kind::Lte => PerDirection { up: 2e6 + 13e6 * self.walk.up, down: 5e6 + 35e6 * self.walk.down },
            Kind::Starlink => {
                let wobble =
                    PerDirection { up: self.walk.up, down: self.walk.down }.map(|place| 0.85 + 0.3 * place);
                let busy = evening(now, 0.7);
                let up = (self.slot.up * wobble.up * busy).clamp(3e6, 25e6);
                PerDirection { up, down: (self.slot.down * wobble.down * busy).clamp(20e6, 250e6) }
            }
            Kind::Docsis => {
                let boost = |tokens: f64| if tokens > 0.0 { BOOST } else { 1.0 };
                let busy = self.congestion;
                let up = PLAN.up * boost(self.tokens.up) * (0.5 + 0.5 * busy);
                PerDirection { up, down: PLAN.down * boost(self.tokens.down) * busy }
            }
            Kind::Dsl => PerDirection { up: 9e6, down: 45e6 },
        }
    }
    /// Records the bytes carried by the bottleneck until `now`.
    pub(crate) fn carried(&mut self, now: f64, carried: PerDirection<f64>) {
        let elapsed = now - self.filled;
        self.filled = now;
        let left = |tokens: f64, plan: f64, sent: f64, most: f64| {
            (tokens + plan / 8.0 * elapsed - sent).clamp(0.0, most)
        };
        self.tokens.up = left(self.tokens.up, PLAN.up, carried.up, BOOST_BYTES.up);
        self.tokens.down = left(self.tokens.down, PLAN.down, carried.down, BOOST_BYTES.down);
    }
    fn draw(&mut self, steps: u64, now: f64) {
        // After some hundred steps, the past has no influence.
        for _ in 0..steps.min(200) {
            let reach = if self.kind == Kind::Starlink { 0.05 } else { 0.1 };
            self.walk.up = reflected(self.walk.up + (self.rng.next_f64() * 2.0 - 1.0) * reach);
            self.walk.down = reflected(self.walk.down + (self.rng.next_f64() * 2.0 - 1.0) * reach);
        }
        match self.kind {
            Kind::Lte if now > self.outage_next => {
                self.outage_until = now + self.rng.exponential(300) as f64 / 1e3;
                self.outage_next = self.outage_until + self.rng.exponential(120_000) as f64 / 1e3;
            }
            Kind::Starlink if (now / 15.0) as u64 > ((now - STEP * steps as f64) / 15.0) as u64 => {
                self.reconfigure()
            }
            Kind::Docsis => {
                // Half of the neighbors' load changes after a minute or two.
                let goal = evening(now, 0.4);
                let noise = (self.rng.next_f64() - 0.5) * 0.03;
                self.congestion += (goal - self.congestion) * 0.002 * steps.min(400) as f64 + noise;
                self.congestion = self.congestion.clamp(0.4, 1.0);
            }
            _ => {}
        }
    }
    fn reconfigure(&mut self) {
        let mut draw = |low: f64, high: f64| low * (high / low).powf(self.rng.next_f64());
        self.slot = PerDirection { up: draw(5e6, 22e6), down: draw(40e6, 230e6) };
        self.offset = PerDirection { up: draw(1.0, 9.0) / 1e3, down: draw(1.0, 9.0) / 1e3 };
    }
}

/// 1 by day and `least` at nine in the evening, interpolated over three hours.
fn evening(now: f64, least: f64) -> f64 {
    let hour = now / 3_600.0 % 24.0;
    let near = (1.0 - (hour - 21.0).abs() / 3.0).clamp(0.0, 1.0);
    1.0 - (1.0 - least) * near
}

fn reflected(place: f64) -> f64 {
    if place < 0.0 {
        -place
    } else if place > 1.0 {
        2.0 - place
    } else {
        place
    }
}
