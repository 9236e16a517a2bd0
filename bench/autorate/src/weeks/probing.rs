//! Simulated reflectors with realistic defects.
use crate::who::Plan;
use fathom_shape::autorate::{Delay, DelaySample};
use fathom_units::{Duration, PerDirection, Rng};

struct Reflector {
    id: u16,
    base: PerDirection<f64>,
    next: f64,
    bad_until: f64,
    bad: f64,
}

/// A reply in flight: at the bottleneck upstream, then downstream.
struct Pending {
    reflector: u16,
    at: f64,
    up: f64,
    down: Option<f64>,
    extra: PerDirection<f64>,
}

/// Events of the path and of reflectors over time.
pub(crate) struct Probing {
    plan: Plan,
    reflectors: Vec<Reflector>,
    pending: Vec<Pending>,
    next_id: u16,
    silent_until: f64,
    silent_next: f64,
    /// Extra path delay unrelated to the line: its end, and its size in s.
    noise_until: f64,
    noise: PerDirection<f64>,
    /// Delay of a changed route.
    route: PerDirection<f64>,
    route_next: f64,
    rng: Rng,
    world: Rng,
}

/// The line's effect on a probe now.
pub(crate) struct Now {
    pub(crate) at: f64,
    /// Delays at the bottleneck and of the rest of the line, in s.
    pub(crate) delay: PerDirection<f64>,
    pub(crate) is_full: PerDirection<bool>,
    pub(crate) is_idle: bool,
    pub(crate) jitter: f64,
}

impl Probing {
    pub(crate) fn new(plan: Plan, seed: u64) -> Self {
        let mut probing = Probing {
            plan,
            reflectors: Vec::new(),
            pending: Vec::new(),
            next_id: 0,
            silent_until: 0.0,
            silent_next: 3_600.0,
            noise_until: 0.0,
            noise: PerDirection::default(),
            route: PerDirection::default(),
            route_next: 7_200.0,
            rng: Rng::stream(seed, "probes"),
            world: Rng::stream(seed, "path"),
        };
        for place in 0..plan.reflectors {
            let first = plan.every * place as f64 / plan.reflectors as f64;
            probing.add(first);
        }
        probing
    }
    fn add(&mut self, next: f64) {
        let base = 0.004 + 0.008 * self.rng.next_f64();
        let reflector = Reflector {
            id: self.next_id,
            base: PerDirection { up: base, down: base },
            next,
            bad_until: 0.0,
            bad: 0.0,
        };
        self.next_id = self.next_id.wrapping_add(1);
        self.reflectors.push(reflector);
    }
    pub(crate) fn replace(&mut self, id: u16) {
        if let Some(place) = self.reflectors.iter().position(|reflector| reflector.id == id) {
            let old = self.reflectors.remove(place);
            self.add(old.next);
        }
    }
    /// Whether extra path delay is being injected, or may be remembered.
    pub(crate) fn is_noisy(&self, now: f64) -> bool {
        // Includes the time until filters have forgotten it.
        now < self.noise_until + 2.0
    }
    /// One tick: sends probes and returns the replies that arrived.
    pub(crate) fn tick(&mut self, now: &Now, tick: f64) -> Vec<DelaySample> {
        self.mishaps(now, tick);
        self.ask(now);
        self.answers(now)
    }

    fn mishaps(&mut self, now: &Now, tick: f64) {
        let is_due = |rng: &mut Rng, every: f64| rng.chance(tick / every);
        // About once per ten idle minutes, the path is slow for a while.
        if now.is_idle && now.at > self.noise_until + 10.0 && is_due(&mut self.world, 600.0) {
            let length = 5.0 + self.world.exponential(20_000) as f64 / 1e3;
            let high = 0.04 + 0.11 * self.world.next_f64();
            self.noise_until = now.at + length;
            self.noise = match self.world.below(3) {
                0 => PerDirection { up: high, down: 0.0 },
                1 => PerDirection { up: 0.0, down: high },
                _ => PerDirection { up: high, down: high },
            };
        }
        if is_due(&mut self.world, 7_200.0) {
            let place = self.world.below(self.reflectors.len() as u64) as usize;
            self.reflectors[place].bad_until = now.at + 300.0 + 900.0 * self.world.next_f64();
            self.reflectors[place].bad = 0.03 + 0.1 * self.world.next_f64();
        }
        if now.at > self.silent_next {
            self.silent_until = now.at + 5.0 + 115.0 * self.world.next_f64();
            self.silent_next = self.silent_until + self.world.exponential(10_800_000) as f64 / 1e3;
        }
        if now.at > self.route_next {
            let mut longer = || 0.03 * self.world.next_f64();
            self.route = PerDirection { up: longer(), down: longer() };
            self.route_next = now.at + self.world.exponential(7_200_000) as f64 / 1e3;
        }
    }
    fn ask(&mut self, now: &Now) {
        let injected = if now.at < self.noise_until { self.noise } else { PerDirection::default() };
        for reflector in &mut self.reflectors {
            if now.at < reflector.next - 1e-6 {
                continue;
            }
            reflector.next += self.plan.every;
            let is_lost = self.rng.chance(if now.is_full.up { 0.3 } else { 0.005 });
            if is_lost || now.at < self.silent_until {
                continue;
            }
            let bad = if now.at < reflector.bad_until { reflector.bad * self.rng.next_f64() } else { 0.0 };
            let mut jitter = || now.jitter * self.rng.next_f64();
            let up = reflector.base.up + self.route.up + injected.up + jitter();
            let down = reflector.base.down + self.route.down + injected.down + bad + jitter();
            let owd = up + now.delay.up;
            let extra = PerDirection { up, down };
            self.pending.push(Pending {
                reflector: reflector.id,
                at: now.at + owd,
                up: owd,
                down: None,
                extra,
            });
        }
    }
    fn answers(&mut self, now: &Now) -> Vec<DelaySample> {
        let mut samples = Vec::new();
        for pending in &mut self.pending {
            if pending.down.is_none() && pending.at <= now.at {
                let owd = pending.extra.down + now.delay.down;
                pending.down = Some(owd);
                // Probes are sent at the tick after their time; that lateness is not delay.
                pending.at += owd;
            }
        }
        let is_round_trip = self.plan.is_round_trip;
        self.pending.retain(|pending| {
            let Some(down) = pending.down.filter(|_| pending.at <= now.at) else { return true };
            let ns = |s: f64| (s * 1e9) as i64;
            let delay = if is_round_trip {
                Delay::RoundTrip(Duration::from_secs_f64(pending.up + down))
            } else {
                Delay::OneWay(PerDirection { up: ns(pending.up), down: ns(down) })
            };
            samples.push(DelaySample { reflector: pending.reflector, delay });
            false
        });
        samples
    }
}
