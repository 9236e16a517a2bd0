//! A link behind our shapers: its samples at each tick, and its rates.
use super::PassiveRtt;
use super::samples::{added_bytes, hour_of_week, samples};
use fathom_os::clock::{Clock, utc_offset_s, wall_now};
use fathom_reflectors::Reflectors;
use fathom_shape::autorate::{DelaySample, HourOfWeek, Observation, QueueReading, Sampler};
use fathom_shaper::{ApplyError, Framing, Side, Transaction};
use fathom_units::{Duration, PerDirection, Rate, Time, WallTime};

/// The shapers of both directions, and the delay sources beyond them.
pub struct ShapedLine {
    clock: Clock,
    reflectors: Reflectors,
    passive: Option<PassiveRtt>,
    sampler: Sampler,
    transaction: Transaction,
    /// Bytes per packet that the shaper includes in its rate but not in its counter.
    added: i64,
}

/// Samples of a tick.
#[derive(Clone, Debug)]
pub struct LineSample {
    /// Time when the queues were read.
    pub at: Time,
    /// The same time on the wall clock.
    pub wall: WallTime,
    /// Hour of the week in local time.
    pub hour: HourOfWeek,
    /// State of our own queues.
    pub queues: PerDirection<QueueReading>,
    /// Rates leaving the queues in the last second, in bit/s.
    pub delivered: PerDirection<f64>,
    /// Replies since the previous sample.
    pub delays: Vec<DelaySample>,
}

impl LineSample {
    /// The sample as input of a controller.
    #[must_use]
    pub fn observation(&self) -> Observation<'_> {
        Observation { at: self.at, hour: self.hour, queues: self.queues, delays: &self.delays }
    }
}

impl ShapedLine {
    /// `transaction` has been applied, with this framing; times of the reflectors refer to `clock`.
    #[must_use]
    pub fn new(
        clock: Clock,
        reflectors: Reflectors,
        transaction: Transaction,
        framing: Framing,
    ) -> ShapedLine {
        ShapedLine {
            clock,
            reflectors,
            passive: None,
            sampler: Sampler::default(),
            transaction,
            added: added_bytes(framing),
        }
    }
    /// Uses passive round-trip times while no reflector replies.
    #[must_use]
    pub fn with_passive_rtt(self, passive: Option<PassiveRtt>) -> ShapedLine {
        ShapedLine { passive, ..self }
    }
    /// Whether the traffic is too low to fill a queue.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.sampler.is_quiet(self.rates())
    }
    /// Time until the next tick.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.sampler.interval(self.rates())
    }
    fn rates(&self) -> PerDirection<Rate> {
        let plan = self.transaction.plan();
        let rate = |side: &Option<Side>| side.as_ref().map_or(Rate::default(), |side| side.shaper.rate);
        PerDirection { up: rate(&plan.up), down: rate(&plan.down) }
    }
    /// Probes the reflectors until `until`, less often if `is_seldom`; then reads the queues.
    ///
    /// # Errors
    /// If the kernel does not answer, or a shaper is missing.
    pub fn sample(&mut self, until: Time, is_seldom: bool) -> Result<LineSample, ApplyError> {
        let answers = samples(&self.reflectors.gather(until, is_seldom));
        let passive = self.passive.as_mut().map(PassiveRtt::take).unwrap_or_default();
        let delays = self.sampler.select(self.clock.now(), answers, passive);
        let counters = self.transaction.look()?.counters();
        let (at, wall) = (self.clock.now(), wall_now());
        let queues = counters.shapers.map(|shaper| {
            shaper.map_or_else(QueueReading::default, |shaper| QueueReading::new(&shaper, self.added))
        });
        self.sampler.note_queues(at, queues);
        let hour = hour_of_week(wall, utc_offset_s(wall));
        Ok(LineSample { at, wall, hour, queues, delivered: self.sampler.throughput(), delays })
    }
    /// Changes the given rates. Queued packets are kept.
    ///
    /// # Errors
    /// If the kernel refuses, for example because a shaper was removed.
    pub fn set_rates(&mut self, rates: PerDirection<Option<Rate>>) -> Result<(), ApplyError> {
        if rates == PerDirection::default() {
            return Ok(());
        }
        self.transaction.set_rates(rates.up, rates.down)
    }
    /// Why the server is not being probed, if so.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.reflectors.problem()
    }
    /// Commits the shapers with their current rates.
    ///
    /// # Errors
    /// As [`Transaction::commit`].
    pub fn commit(self) -> Result<(), ApplyError> {
        self.transaction.commit()
    }
    /// Rolls back all changes.
    ///
    /// # Errors
    /// As [`Transaction::roll_back`].
    pub fn roll_back(self, why: &str) -> Result<(), ApplyError> {
        self.transaction.roll_back(why).map(drop)
    }
}
