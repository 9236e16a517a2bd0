//! How a law did.
use crate::fluid::{At, Pipe};
use fathom_shape::autorate::Both;

/// Above this a call suffers, s: half of what Y.1541's best class leaves for all queues.
const LATE: f64 = 0.030;
/// A queue that a direction's own load explains, s.
const BLOAT: f64 = 0.015;

/// One direction.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Way {
    /// With traffic, s.
    pub(crate) loaded: f64,
    /// Of which late.
    pub(crate) late: f64,
    /// Delay at the bottleneck while loaded, s times s.
    pub(crate) delay: f64,
    /// What could be carried while somebody would have filled any line, and what was, bytes.
    pub(crate) capacity: f64,
    pub(crate) carried: f64,
    /// Cuts in all.
    pub(crate) cuts: u64,
    /// While the household was idle and the path was slow.
    pub(crate) idle_cuts: u64,
    /// While this direction was idle and the other's queue was full.
    pub(crate) cross_cuts: u64,
}

/// Both.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Score {
    pub(crate) hours: f64,
    pub(crate) up: Way,
    pub(crate) down: Way,
}

impl Way {
    pub(crate) fn step(&mut self, dt: f64, pipe: &Pipe, at: At, carried: f64) {
        if pipe.flows.is_empty() {
            return;
        }
        self.loaded += dt;
        let delay = pipe.delay(at);
        self.delay += delay * dt;
        if delay > LATE {
            self.late += dt;
        }
        if pipe.flows.iter().any(|flow| flow.is_bulk) {
            self.capacity += at.capacity() / 8.0 * dt;
            self.carried += carried;
        }
    }
    pub(crate) fn late_share(&self) -> f64 {
        self.late / self.loaded.max(1e-9)
    }
    /// At the bottleneck over the loaded time, ms.
    pub(crate) fn mean_delay(&self) -> f64 {
        self.delay / self.loaded.max(1e-9) * 1e3
    }
    pub(crate) fn used_share(&self) -> f64 {
        self.carried / self.capacity.max(1e-9)
    }
}

impl Score {
    pub(crate) fn blame(&mut self, cuts: Both<u64>, is_idle: Both<bool>, queues: Both<f64>, is_noisy: bool) {
        let whole = is_idle.up && is_idle.down;
        for (way, count, idle, other) in [
            (&mut self.up, cuts.up, is_idle.up, queues.down),
            (&mut self.down, cuts.down, is_idle.down, queues.up),
        ] {
            way.cuts += count;
            if whole && is_noisy {
                way.idle_cuts += count;
            }
            if idle && !whole && other > BLOAT && !is_noisy {
                way.cross_cuts += count;
            }
        }
    }
}
