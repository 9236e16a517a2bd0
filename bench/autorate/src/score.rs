//! Score of a law.
use fathom_units::PerDirection;

/// Bottleneck delay above which a call suffers, in s: half of the budget of Y.1541's best class for
/// all queues.
const LATE: f64 = 0.030;
/// Queueing delay that a direction's own load explains, in s.
const BLOAT: f64 = 0.015;

/// Table header.
pub(crate) const HEAD: &str = "line      law            above +30 ms: up   down   mean   used: up   down   mean   delay   cuts/h  when idle  for the other";

/// Score of one direction.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Way {
    /// Time with traffic, in s.
    pub(crate) loaded: f64,
    /// Part of that time above the delay limit.
    pub(crate) late: f64,
    /// Integral of bottleneck delay over loaded time, in s².
    pub(crate) delay: f64,
    /// Capacity while bulk traffic was present, and the part that was used, in bytes.
    pub(crate) capacity: f64,
    pub(crate) carried: f64,
    /// Number of cuts.
    pub(crate) cuts: u64,
    /// Cuts while the household was idle and the path slow.
    pub(crate) idle_cuts: u64,
    /// Cuts while this direction was idle and the other's queue full.
    pub(crate) cross_cuts: u64,
}

/// Scores of both directions.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Score {
    pub(crate) hours: f64,
    pub(crate) up: Way,
    pub(crate) down: Way,
}

impl Way {
    /// Adds `dt` s of traffic with a bottleneck delay of `delay` s.
    pub(crate) fn wait(&mut self, dt: f64, delay: f64) {
        self.loaded += dt;
        self.delay += delay * dt;
        if delay > LATE {
            self.late += dt;
        }
    }
    /// Adds `dt` s in which nothing arrived.
    pub(crate) fn lose(&mut self, dt: f64) {
        self.loaded += dt;
        self.late += dt;
    }
    /// Adds bytes that bulk traffic could have used, and those it did use.
    pub(crate) fn carry(&mut self, capacity: f64, carried: f64) {
        self.capacity += capacity;
        self.carried += carried;
    }
    pub(crate) fn late_share(&self) -> f64 {
        self.late / self.loaded.max(1e-9)
    }
    /// Mean bottleneck delay over loaded time, in ms.
    pub(crate) fn mean_delay(&self) -> f64 {
        self.delay / self.loaded.max(1e-9) * 1e3
    }
    pub(crate) fn used_share(&self) -> f64 {
        self.carried / self.capacity.max(1e-9)
    }
}

impl Score {
    /// The score as a table row.
    pub(crate) fn row(&self, line: &str, law: &str) -> String {
        let Score { hours, up, down } = self;
        let mean = |one: f64, other: f64| (one + other) / 2.0;
        let percent = |share: f64| share * 100.0;
        format!(
            "{line:9} {law:14} {:14.2} % {:5.2} {:6.2} {:8.1} % {:5.1} {:6.1} {:6.1} ms {:8.0} {:10} {:14}",
            percent(up.late_share()),
            percent(down.late_share()),
            percent(mean(up.late_share(), down.late_share())),
            percent(up.used_share()),
            percent(down.used_share()),
            percent(mean(up.used_share(), down.used_share())),
            mean(up.mean_delay(), down.mean_delay()),
            (up.cuts + down.cuts) as f64 / hours,
            up.idle_cuts + down.idle_cuts,
            up.cross_cuts + down.cross_cuts
        )
    }
    pub(crate) fn blame(
        &mut self,
        cuts: PerDirection<u64>,
        is_idle: PerDirection<bool>,
        queues: PerDirection<f64>,
        is_noisy: bool,
    ) {
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
