//! How a law did.
use fathom_units::PerDirection;

/// Above this a call suffers, s: half of what Y.1541's best class leaves for all queues.
const LATE: f64 = 0.030;
/// A queue that a direction's own load explains, s.
const BLOAT: f64 = 0.015;

/// Names of what a row has.
pub(crate) const HEAD: &str = "line      law            above +30 ms: up   down   mean   used: up   down   mean   delay   cuts/h  when idle  for the other";

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
    /// `dt` s with traffic, which waited for `delay` s at the bottleneck.
    pub(crate) fn wait(&mut self, dt: f64, delay: f64) {
        self.loaded += dt;
        self.delay += delay * dt;
        if delay > LATE {
            self.late += dt;
        }
    }
    /// `dt` s in which nothing arrived.
    pub(crate) fn lose(&mut self, dt: f64) {
        self.loaded += dt;
        self.late += dt;
    }
    /// Somebody would have filled any line: bytes that it could have carried, and those that it did.
    pub(crate) fn carry(&mut self, capacity: f64, carried: f64) {
        self.capacity += capacity;
        self.carried += carried;
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
    /// As a row of the table.
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
