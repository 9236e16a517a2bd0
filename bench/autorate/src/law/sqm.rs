//! The law of sqm-autorate (sqm-autorate/sqm-autorate at 87e31e2, lib/ratecontroller_ewma.lua and
//! lib/baseliner.lua), reimplemented for the comparison.
use crate::law::{Law, Rates, Seen, ways_ms};
use fathom_shape::autorate::QueueReading;
use fathom_units::{PerDirection, Rng, Time};

struct Way {
    rates: Rates,
    rate: f64,
    safe: Vec<f64>,
    next: usize,
    counted: u64,
    cuts: u64,
}

struct Reflector {
    id: u16,
    heard: f64,
    baseline: PerDirection<f64>,
    recent: PerDirection<f64>,
}

pub(crate) struct Sqm {
    directions: PerDirection<Way>,
    reflectors: Vec<Reflector>,
    ticked: f64,
    selected: f64,
    rng: Rng,
}

const TICK_S: f64 = 0.5;

/// Share of the old value kept at each tick.
fn kept(half_life: f64) -> f64 {
    0.5_f64.powf(TICK_S / half_life)
}

const SAFE_RATES: usize = 100;
const START: f64 = 0.6;
const STALE_S: f64 = 30.0;

impl Sqm {
    pub(crate) fn new(rates: PerDirection<Rates>) -> Self {
        let mut rng = Rng::stream(1, "sqm");
        let ways = rates.map(|rates| Way {
            rates,
            rate: rates.base * START,
            safe: (0..SAFE_RATES).map(|_| (rng.next_f64() * 0.2 + 0.75) * rates.base).collect(),
            next: 0,
            counted: 0,
            cuts: 0,
        });
        Sqm { directions: ways, reflectors: Vec::new(), ticked: 0.0, selected: 0.0, rng }
    }
    fn sample(&mut self, now: f64, id: u16, owd: PerDirection<f64>) {
        let Some(reflector) = self.reflectors.iter_mut().find(|reflector| reflector.id == id) else {
            self.reflectors.push(Reflector { id, heard: now, baseline: owd, recent: owd });
            return;
        };
        if now - reflector.heard > STALE_S {
            (reflector.baseline, reflector.recent) = (owd, owd);
        }
        reflector.heard = now;
        blend(&mut reflector.baseline.up, &mut reflector.recent.up, owd.up);
        blend(&mut reflector.baseline.down, &mut reflector.recent.down, owd.down);
    }
    fn control(&mut self, now: f64, span: f64, queues: PerDirection<QueueReading>) {
        let fresh = || self.reflectors.iter().filter(|reflector| reflector.heard > now - 2.0 * TICK_S);
        let up = third(fresh().map(|reflector| reflector.recent.up - reflector.baseline.up).collect());
        let down = third(fresh().map(|reflector| reflector.recent.down - reflector.baseline.down).collect());
        self.directions.up.control(up, span, queues.up, &mut self.rng);
        self.directions.down.control(down, span, queues.down, &mut self.rng);
    }
}

const SLOW_HALF_LIFE_S: f64 = 135.0;
const FAST_HALF_LIFE_S: f64 = 0.4;

fn blend(baseline: &mut f64, recent: &mut f64, owd: f64) {
    let (slow, fast) = (kept(SLOW_HALF_LIFE_S), kept(FAST_HALF_LIFE_S));
    *baseline = *baseline * slow + owd * (1.0 - slow);
    *recent = *recent * fast + owd * (1.0 - fast);
    *baseline = baseline.min(*recent);
}

/// The third smallest, or the smallest if there are fewer.
fn third(mut deltas: Vec<f64>) -> Option<f64> {
    deltas.sort_by(f64::total_cmp);
    deltas.get(2).or(deltas.first()).copied()
}

const DELAY_MS: f64 = 15.0;
const HIGH_LOAD: f64 = 0.8;

impl Way {
    fn control(&mut self, delta: Option<f64>, span: f64, queue: QueueReading, rng: &mut Rng) {
        let used = (queue.sent.get() - self.counted) as f64 * 8.0 / span;
        self.counted = queue.sent.get();
        let load = used / self.rate;
        let next = match delta {
            None => self.rates.min,
            Some(delta) if delta > DELAY_MS => {
                self.cuts += 1;
                let safe = self.safe[rng.below(SAFE_RATES as u64) as usize];
                (0.9 * self.rate * load).min(safe)
            }
            Some(_) if load > HIGH_LOAD => {
                self.safe[self.next] = self.rate * load;
                self.next = (self.next + 1) % SAFE_RATES;
                let most = self.safe.iter().copied().fold(0.0, f64::max);
                self.rate * (1.0 + 0.1 * (1.0 - self.rate / most).max(0.0)) + 0.03 * self.rates.base
            }
            Some(_) => self.rate,
        };
        self.rate = next.max(self.rates.min);
    }
}

const RESELECT_EVERY_S: f64 = 900.0;

impl Law for Sqm {
    fn tick(&mut self, seen: &Seen) -> PerDirection<f64> {
        let now = seen.at.as_secs_f64();
        for sample in seen.delays {
            self.sample(now, sample.reflector, ways_ms(sample.delay));
        }
        if now - self.ticked > TICK_S - 1e-6 {
            self.control(now, now - self.ticked, seen.queues);
            self.ticked = now;
        }
        PerDirection { up: self.directions.up.rate, down: self.directions.down.rate }
    }
    fn cuts(&self) -> PerDirection<u64> {
        PerDirection { up: self.directions.up.cuts, down: self.directions.down.cuts }
    }
    fn unwanted(&mut self, at: Time) -> Option<u16> {
        if at.as_secs_f64() < self.selected + RESELECT_EVERY_S {
            return None;
        }
        self.selected = at.as_secs_f64();
        let sum = |reflector: &Reflector| reflector.recent.up + reflector.recent.down;
        let worst = (0..self.reflectors.len())
            .max_by(|a, b| sum(&self.reflectors[*a]).total_cmp(&sum(&self.reflectors[*b])))?;
        Some(self.reflectors.remove(worst).id)
    }
}
