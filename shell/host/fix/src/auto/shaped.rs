//! A line behind shapers of ours: what is seen of it at a tick, and its rates.
use super::Passing;
use super::observe::{added_bytes, hour_of_week, reading, samples};
use fathom_client::Reflectors;
use fathom_os::clock::{Clock, utc_offset_s, wall_now};
use fathom_shape::autorate::{DelaySample, HourOfWeek, Observation, QueueReading};
use fathom_shaper::{ApplyError, Framing, Side, Transaction};
use fathom_units::{Duration, PerDirection, Rate, Time, WallTime};

/// From one look to the next under load, and when nothing is sent. In the lab's LTE the delay was up for 12.2 to 13.1 % of the time with
/// ten looks a second under load (three runs), and for 11.1 to 12.5 % with twenty (five).
const PACE: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(100)];
/// What is told of the traffic is that of so long, s.
const LATELY: f64 = 1.0;
/// Below this share of both rates nothing that is sent can fill a queue.
const QUIET_RATIO: f64 = 0.05;
/// Who is asked, and answered within this, is believed rather than what passes, whose hosts answer when they like.
const ASKED_COUNTS: Duration = Duration::from_secs(1);

/// The shapers of both directions, and who says how long packets take beyond them.
pub struct ShapedLine {
    clock: Clock,
    reflectors: Reflectors,
    passing: Option<Passing>,
    /// Of somebody who was asked.
    answered: Option<Time>,
    transaction: Transaction,
    /// Bytes of a packet that the shaper counts in its rate, and not in its counter.
    added: i64,
    last: Option<(Time, PerDirection<QueueReading>)>,
    delivered: PerDirection<f64>,
}

/// What was seen of it.
#[derive(Clone, Debug)]
pub struct Sight {
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
    /// Answers since the sight before.
    pub delays: Vec<DelaySample>,
}

impl Sight {
    /// As a controller is told it.
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
            passing: None,
            answered: None,
            transaction,
            added: added_bytes(framing),
            last: None,
            delivered: PerDirection::default(),
        }
    }
    /// Has what passes count while nobody answers.
    #[must_use]
    pub fn with_passing(self, passing: Option<Passing>) -> ShapedLine {
        ShapedLine { passing, ..self }
    }
    /// True if nothing is sent that could fill a queue.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let queues = self.last.map_or(PerDirection::default(), |(_, queues)| queues);
        let is_little = |side: &Option<Side>, delivered: f64, queue: QueueReading| {
            let rate = side.as_ref().map_or(Rate::default(), |side| side.shaper.rate);
            queue.backlog.get() == 0 && delivered < rate.as_bits_per_second() as f64 * QUIET_RATIO
        };
        let plan = self.transaction.plan();
        is_little(&plan.up, self.delivered.up, queues.up)
            && is_little(&plan.down, self.delivered.down, queues.down)
    }
    /// How long to wait until the next look.
    #[must_use]
    pub fn pace(&self) -> Duration {
        PACE[usize::from(self.is_quiet())]
    }
    /// Asks the reflectors until then, seldom if that is enough; then reads the queues.
    ///
    /// # Errors
    /// If the kernel does not answer, or a shaper is gone.
    pub fn look(&mut self, until: Time, is_seldom: bool) -> Result<Sight, ApplyError> {
        let answers = samples(&self.reflectors.gather(until, is_seldom));
        let delays = self.delays(answers);
        let look = self.transaction.look()?;
        let (at, wall) = (self.clock.now(), wall_now());
        let queues =
            PerDirection { up: look.up, down: look.down }.map(|stats| reading(stats.as_ref(), self.added));
        self.count(at, queues);
        let hour = hour_of_week(wall, utc_offset_s(wall));
        Ok(Sight { at, wall, hour, queues, delivered: self.delivered, delays })
    }
    /// Those of who was asked, or else of what passed.
    fn delays(&mut self, answers: Vec<DelaySample>) -> Vec<DelaySample> {
        let passed = self.passing.as_mut().map(Passing::take).unwrap_or_default();
        let now = self.clock.now();
        if !answers.is_empty() {
            self.answered = Some(now);
        }
        let is_answered = self.answered.is_some_and(|at| now.saturating_since(at) < ASKED_COUNTS);
        if is_answered { answers } else { passed }
    }
    fn count(&mut self, at: Time, queues: PerDirection<QueueReading>) {
        let Some((then, before)) = self.last.replace((at, queues)) else { return };
        let seconds = at.saturating_since(then).as_secs_f64().max(1e-9);
        let blend = |mean: &mut f64, now: QueueReading, earlier: QueueReading| {
            let rate = now.sent.get().saturating_sub(earlier.sent.get()) as f64 * 8.0 / seconds;
            *mean += (rate - *mean) * (seconds / LATELY).min(1.0);
        };
        blend(&mut self.delivered.up, queues.up, before.up);
        blend(&mut self.delivered.down, queues.down, before.down);
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
