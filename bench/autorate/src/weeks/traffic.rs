//! Traffic of the household: pages, videos, copies, calls; little at night.
use super::fluid::Flow;
use fathom_units::{PerDirection, Rng};

/// Activity of the household by time of day: 1 in the evening.
fn activity(now: f64) -> f64 {
    match (now / 3_600.0 % 24.0) as u64 {
        0..7 => 0.02,
        7..17 => 0.4,
        _ => 1.0,
    }
}

/// A video loads 4 s at a time, in bytes: 6 Mbit/s.
const PIECE: f64 = 3e6;
const PIECE_EVERY: f64 = 4.0;
/// A call in both directions, in bit/s and s.
const CALL: f64 = 1e6;
const CALL_S: u64 = 300_000;
/// Mean pauses in the evening, in ms.
const PAUSE: PerDirection<u64> = PerDirection { up: 150_000, down: 60_000 };
const CALLS: u64 = 2_400_000;

/// State of one direction.
struct Way {
    is_up: bool,
    next: f64,
    film_until: f64,
    rng: Rng,
}

/// Both directions, and calls.
pub(crate) struct Traffic {
    directions: PerDirection<Way>,
    call_next: f64,
    call_until: f64,
    rng: Rng,
}

impl Traffic {
    pub(crate) fn new(seed: u64) -> Self {
        let way = |is_up, name| Way { is_up, next: 5.0, film_until: 0.0, rng: Rng::stream(seed, name) };
        let ways = PerDirection { up: way(true, "traffic up"), down: way(false, "traffic down") };
        Traffic { directions: ways, call_next: 100.0, call_until: 0.0, rng: Rng::stream(seed, "calls") }
    }
    /// Flows that start now, where no others are active in a direction.
    pub(crate) fn begin(&mut self, now: f64, is_free: PerDirection<bool>) -> PerDirection<Vec<Flow>> {
        let PerDirection { up, down } = &mut self.directions;
        PerDirection { up: up.begin(now, is_free.up), down: down.begin(now, is_free.down) }
    }
    /// Rate of calls in each direction, in bit/s.
    pub(crate) fn calls(&mut self, now: f64) -> f64 {
        if now > self.call_next {
            self.call_until = now + self.rng.exponential(CALL_S) as f64 / 1e3;
            let pause = self.rng.exponential((CALLS as f64 / activity(now)) as u64) as f64 / 1e3;
            self.call_next = self.call_until + pause;
        }
        if now < self.call_until { CALL } else { 0.0 }
    }
}

impl Way {
    fn begin(&mut self, now: f64, is_free: bool) -> Vec<Flow> {
        if !is_free {
            // The pause starts when the last flow has ended.
            self.next = self.next.max(now + 1e-3);
            return Vec::new();
        }
        if now < self.film_until && now >= self.next {
            self.next = now + PIECE_EVERY;
            return vec![Flow::new(PIECE, f64::MAX)];
        }
        if now < self.next {
            return Vec::new();
        }
        let mean = if self.is_up { PAUSE.up } else { PAUSE.down };
        let pause = self.rng.exponential((mean as f64 / activity(now)) as u64) as f64 / 1e3;
        self.next = now + pause;
        self.kind(now)
    }
    fn kind(&mut self, now: f64) -> Vec<Flow> {
        let seconds = |mean: u64, rng: &mut Rng| rng.exponential(mean * 1_000) as f64 / 1e3;
        match (self.rng.below(100), self.is_up) {
            (0..40, false) => vec![Flow::new(300e3, f64::MAX); 6],
            (40..60, false) => {
                self.film_until = now + seconds(240, &mut self.rng);
                self.next = now;
                Vec::new()
            }
            (0..40, true) => vec![Flow::new(4e6, f64::MAX)],
            _ => {
                let many = 1 + self.rng.below(4) as usize;
                let length = 5.0 + seconds(60, &mut self.rng);
                vec![Flow::new(f64::MAX, length); many]
            }
        }
    }
}
