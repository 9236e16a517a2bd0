//! Simulates a household, its line and a law for weeks.
use super::fluid::{Pipe, Step};
use super::probing::{Now, Probing};
use super::traffic::Traffic;
use crate::law::{Law, Seen};
use crate::line::{At, Facts, Kind, Line};
use crate::score::{self, Score};
use crate::who::Plan;
use fathom_shape::autorate::{HourOfWeek, QueueReading};
use fathom_units::{Bytes, PerDirection, Rng, Time};

/// Step of the fluid model and of the laws, in ms.
const STEP_MS: u64 = 10;
const TICK_MS: u64 = 50;
/// ACK traffic relative to data: one of 40 bytes per two packets.
const ACKS: f64 = 0.014;
/// Bytes at the bottleneck that do not count as a queue.
const A_LITTLE: f64 = 10e3;
/// Silence after which a direction counts as idle, in s.
const IDLE: f64 = 1.0;

pub(crate) struct World {
    facts: Facts,
    line: Line,
    pipes: PerDirection<Pipe>,
    traffic: Traffic,
    probing: Probing,
    queues: PerDirection<Counter>,
    rates: PerDirection<f64>,
    last_active: PerDirection<f64>,
    shaped: PerDirection<f64>,
    score: Score,
}

/// Our queue's counters, as in the kernel.
#[derive(Clone, Copy, Default)]
struct Counter {
    sent: f64,
    drops: u64,
    backlog: f64,
}

impl World {
    pub(crate) fn new(kind: Kind, plan: Plan, seed: u64) -> Self {
        let facts = kind.facts();
        let pipe = |is_up, limit, name| Pipe::new(is_up, facts.base, limit, Rng::stream(seed, name));
        let pipes = PerDirection {
            up: pipe(true, facts.limits.up, "pipe up"),
            down: pipe(false, facts.limits.down, "pipe down"),
        };
        let rates = facts.rates.map(|rates| rates.base);
        World {
            facts,
            line: Line::new(kind, seed),
            pipes,
            traffic: Traffic::new(seed),
            probing: Probing::new(plan, seed),
            queues: PerDirection::default(),
            rates,
            last_active: PerDirection::default(),
            shaped: PerDirection::default(),
            score: Score::default(),
        }
    }
    /// Runs `law` for `hours` from Monday 00:00.
    pub(crate) fn run(mut self, law: &mut dyn Law, hours: f64) -> Score {
        let ticks = (hours * 3_600_000.0) as u64 / TICK_MS;
        for tick in 0..ticks {
            let ms = tick * TICK_MS;
            self.begin(ms);
            let is_still = self.pipes.up.is_still() && self.pipes.down.is_still();
            let calls = self.traffic.calls(ms as f64 / 1e3);
            if is_still && calls == 0.0 {
                self.line.carried(ms as f64 / 1e3, PerDirection::default());
            } else {
                (0..TICK_MS / STEP_MS).for_each(|step| self.step(ms + step * STEP_MS, calls));
            }
            self.tick(law, ms + TICK_MS);
        }
        self.score.hours = hours;
        self.score
    }
    fn begin(&mut self, ms: u64) {
        let now = ms as f64 / 1e3;
        let is_free =
            PerDirection { up: self.pipes.up.flows.is_empty(), down: self.pipes.down.flows.is_empty() };
        let flows = self.traffic.begin(now, is_free);
        self.pipes.up.flows.extend(flows.up);
        self.pipes.down.flows.extend(flows.down);
    }
    fn step(&mut self, ms: u64, calls: f64) {
        let now = ms as f64 / 1e3;
        let dt = STEP_MS as f64 / 1e3;
        let here = self.line.at(now);
        let other = calls / 8.0 * dt;
        let acks = PerDirection { up: self.shaped.down * ACKS, down: self.shaped.up * ACKS };
        let up = self.pipes.up.step(dt, here.up, self.rates.up, other + acks.up);
        let down = self.pipes.down.step(dt, here.down, self.rates.down, other + acks.down);
        self.line.carried(now, PerDirection { up: up.carried, down: down.carried });
        self.shaped = PerDirection { up: up.shaped, down: down.shaped };
        count(&mut self.queues.up, up, &self.pipes.up);
        count(&mut self.queues.down, down, &self.pipes.down);
        tally(&mut self.score.up, dt, &self.pipes.up, here.up, up.carried);
        tally(&mut self.score.down, dt, &self.pipes.down, here.down, down.carried);
        let is_active = |pipe: &Pipe| !pipe.flows.is_empty() || pipe.below > A_LITTLE;
        if is_active(&self.pipes.up) {
            self.last_active.up = now;
        }
        if is_active(&self.pipes.down) {
            self.last_active.down = now;
        }
    }
    fn tick(&mut self, law: &mut dyn Law, ms: u64) {
        let at = ms as f64 / 1e3;
        let here = self.line.at(at);
        let queues =
            PerDirection { up: self.pipes.up.delay(here.up), down: self.pipes.down.delay(here.down) };
        let is_idle =
            PerDirection { up: at - self.last_active.up > IDLE, down: at - self.last_active.down > IDLE };
        let delay =
            PerDirection { up: queues.up + self.line.offset.up, down: queues.down + self.line.offset.down };
        let now = Now {
            at,
            delay: delay.map(|s| s.min(5.0)),
            is_full: PerDirection { up: self.pipes.up.is_full(), down: self.pipes.down.is_full() },
            is_idle: is_idle.up && is_idle.down,
            jitter: self.facts.jitter,
        };
        let delays = self.probing.tick(&now, TICK_MS as f64 / 1e3);
        let readings = self.queues.map(Counter::reading);
        let hour = HourOfWeek::new(ms / 3_600_000);
        let before = law.cuts();
        self.rates =
            law.tick(&Seen { at: Time::from_nanos(ms * 1_000_000), hour, queues: readings, delays: &delays });
        let after = law.cuts();
        let cuts = PerDirection { up: after.up - before.up, down: after.down - before.down };
        self.score.blame(cuts, is_idle, queues, self.probing.is_noisy(at));
        if let Some(id) = law.unwanted(Time::from_nanos(ms * 1_000_000)) {
            self.probing.replace(id);
        }
    }
}

fn tally(way: &mut score::Way, dt: f64, pipe: &Pipe, at: At, carried: f64) {
    if pipe.flows.is_empty() {
        return;
    }
    way.wait(dt, pipe.delay(at));
    if pipe.flows.iter().any(|flow| flow.is_bulk) {
        way.carry(at.capacity() / 8.0 * dt, carried);
    }
}

fn count(counter: &mut Counter, step: Step, pipe: &Pipe) {
    counter.sent += step.shaped;
    counter.drops += step.drops;
    counter.backlog = pipe.ours;
}

impl Counter {
    fn reading(self) -> QueueReading {
        let bytes = |count: f64| Bytes(count as u64);
        QueueReading { sent: bytes(self.sent), backlog: bytes(self.backlog), drops: self.drops, marks: 0 }
    }
}
