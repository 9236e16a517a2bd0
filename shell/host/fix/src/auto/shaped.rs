//! A line behind our shapers: its samples at each tick, and its rates.
use super::PassiveRtt;
use super::samples::{added_bytes, hour_of_week, samples};
use fathom_client::Reflectors;
use fathom_os::clock::{Clock, utc_offset_s, wall_now};
use fathom_shape::autorate::{DelaySample, HourOfWeek, Observation, QueueReading, Sampler};
use fathom_shaper::{ApplyError, Framing, Side, Transaction};
use fathom_units::{Duration, PerDirection, Rate, Time, WallTime};

/// The shapers of both directions, and the sources of delays beyond them.
pub struct ShapedLine {
    clock: Clock,
    reflectors: Reflectors,
    passive: Option<PassiveRtt>,
    sampler: Sampler,
    transaction: Transaction,
    /// Bytes of a packet that the shaper counts in its rate, and not in its counter.
    added: i64,
}

/// What was seen of the line at a tick.
#[derive(Clone, Debug)]
pub struct LineSample {
    /// When the queues were read.
    pub at: Time,
    /// The same moment.
    pub wall: WallTime,
    /// By the household's clock.
    pub hour: HourOfWeek,
    /// Our own queues.
    pub queues: PerDirection<QueueReading>,
    /// What left them in the last second, bit/s.
    pub delivered: PerDirection<f64>,
    /// Answers since the sample before.
    pub delays: Vec<DelaySample>,
}

impl LineSample {
    /// The input of a controller.
    #[must_use]
    pub fn observation(&self) -> Observation<'_> {
        Observation { at: self.at, hour: self.hour, queues: self.queues, delays: &self.delays }
    }
}

impl ShapedLine {
    /// `transaction` has been applied, with this framing; the reflectors' times are on `clock`.
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
    /// Uses passive round trips while no reflector answers.
    #[must_use]
    pub fn with_passive_rtt(self, passive: Option<PassiveRtt>) -> ShapedLine {
        ShapedLine { passive, ..self }
    }
    /// True if nothing is sent that could fill a queue.
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
    /// Asks the reflectors until then, seldom if that is enough; then reads the queues.
    ///
    /// # Errors
    /// If the kernel does not answer, or a shaper is gone.
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
    /// Other rates for those directions that have one here; nothing that waits is lost.
    ///
    /// # Errors
    /// If the kernel refuses, as when somebody took a shaper away.
    pub fn set_rates(&mut self, rates: PerDirection<Option<Rate>>) -> Result<(), ApplyError> {
        if rates == PerDirection::default() {
            return Ok(());
        }
        self.transaction.set_rates(rates.up, rates.down)
    }
    /// Why the server is not asked now, if it is not.
    #[must_use]
    pub fn problem(&self) -> Option<&str> {
        self.reflectors.problem()
    }
    /// The shapers stay, with their last rates.
    ///
    /// # Errors
    /// As [`Transaction::commit`].
    pub fn commit(self) -> Result<(), ApplyError> {
        self.transaction.commit()
    }
    /// All is put back as it was.
    ///
    /// # Errors
    /// As [`Transaction::roll_back`].
    pub fn roll_back(self, why: &str) -> Result<(), ApplyError> {
        self.transaction.roll_back(why).map(drop)
    }
}
