//! RED as in Linux, in integers.
use super::{MAX_WEIGHT_LOG, RedParams, Signal};
use fathom_units::{Bytes, Duration, Rng, Time};

/// The unit of Linux's scheduler clock is 2^6 ns.
const TICK_SHIFT: u32 = 6;
const CELLS: usize = 256;
/// Largest shift in the table.
const MAX_SHIFT: f64 = 31.0;
/// Cells are wide enough that fewer than this many reach [`MAX_SHIFT`].
const CELLS_TO_MAX: f64 = 512.0;
/// One percent of 2^32, which represents a probability of 1.
const PERCENT: u64 = ((1 << 32) + 50) / 100;

pub(super) struct Linux {
    /// Average backlog in units of 2^-weight_log bytes, like `min` and `max`.
    average: u64,
    min: u64,
    max: u64,
    weight_log: u32,
    /// How far to shift the average, by idle time.
    shifts: [u8; CELLS],
    cell_log: u32,
    /// In units of 2^-32.
    max_probability: u64,
    /// `max_probability` divided by `width`.
    slope: u64,
    /// Bytes from `min` to `max`.
    width: u64,
    /// Packets since the random number was drawn; -1 below `min`.
    count: i64,
    random: u64,
}

/// Start and end of an idle period of the link.
type Idle = Option<(Time, Time)>;

impl Linux {
    pub(super) fn new(params: &RedParams) -> Self {
        let weight_log = params.weight_log().unwrap_or(MAX_WEIGHT_LOG);
        let (cell_log, shifts) = idle_table(params, weight_log);
        let width = (params.max.get().saturating_sub(params.min.get())).max(1);
        let max_probability = (params.probability.0 * (1_u64 << 32) as f64) as u64;
        Linux {
            average: 0,
            min: params.min.get() << weight_log,
            max: params.max.get() << weight_log,
            weight_log,
            shifts,
            cell_log,
            max_probability,
            slope: (max_probability / width).max(1),
            width,
            count: -1,
            random: 0,
        }
    }

    pub(super) fn on_arrival(&mut self, backlog: Bytes, idle: Idle, rng: &mut Rng) -> Signal {
        self.average = if idle.is_some() {
            self.after_idle(idle)
        } else {
            self.average + backlog.get() - (self.average >> self.weight_log)
        };
        if self.average < self.min || self.average >= self.max {
            self.count = -1;
            return if self.average < self.min { Signal::None } else { Signal::Forced };
        }
        self.count += 1;
        let excess = (self.average - self.min) >> self.weight_log;
        if self.count > 0 && excess * self.count.unsigned_abs() < self.random {
            return Signal::None;
        }
        let is_due = self.count > 0;
        self.count = 0;
        self.random = (rng.next_u64() >> 32) / self.slope;
        if is_due { Signal::Early } else { Signal::None }
    }

    fn after_idle(&self, idle: Idle) -> u64 {
        let Some((since, until)) = idle else { return self.average };
        let ticks = (until.as_nanos() >> TICK_SHIFT) - (since.as_nanos() >> TICK_SHIFT);
        let cell = (ticks >> self.cell_log).min(CELLS as u64 - 1) as usize;
        if self.shifts[cell] > 0 {
            return self.average >> self.shifts[cell];
        }
        // Where the table has 0, the average falls linearly, at most to one half.
        let ticks = ticks.min((CELLS as u64 - 1) << self.cell_log);
        let loss = (u128::from(self.average) * u128::from(ticks)) >> self.cell_log;
        self.average - (loss as u64).min(self.average - (self.average >> 1))
    }

    pub(super) fn adapt(&mut self, idle: Idle) {
        let average = self.after_idle(idle) >> self.weight_log;
        let fifth = self.width / 5;
        let min = self.min >> self.weight_log;
        if average > min + 3 * fifth && self.max_probability <= 50 * PERCENT {
            self.max_probability += PERCENT.min(self.max_probability / 4);
        } else if average < min + 2 * fifth && self.max_probability >= PERCENT {
            self.max_probability = self.max_probability / 10 * 9;
        }
        self.slope = ((self.max_probability + self.width / 2) / self.width).max(1);
    }
}

/// tc's Scell_log and its table: see [`super::Red`].
fn idle_table(params: &RedParams, weight_log: u32) -> (u32, [u8; CELLS]) {
    let weight = 1.0 / (1_u64 << weight_log) as f64;
    // tc truncates the packet time to microseconds.
    let packet = params.rate.serialization_time(params.avpkt).as_nanos() / 1000 * 1000;
    let packet_ticks = (Duration::from_nanos(packet).as_nanos() >> TICK_SHIFT).max(1);
    let per_tick = -libm::log(1.0 - weight) / packet_ticks as f64;
    let fits = |log: &u32| MAX_SHIFT / per_tick / ((1_u64 << log) as f64) < CELLS_TO_MAX;
    let cell_log = (0..MAX_WEIGHT_LOG).find(fits).unwrap_or(MAX_WEIGHT_LOG);
    let mut shifts = [MAX_SHIFT as u8; CELLS];
    for (cell, shift) in shifts.iter_mut().enumerate().take(CELLS - 1) {
        *shift = (((cell as u64) << cell_log) as f64 * per_tick).min(MAX_SHIFT) as u8;
    }
    (cell_log, shifts)
}
