//! The controller of one direction.
use super::bounds::Bounds;
use super::explore::{Ceiling, speed};
use super::flow::{Flow, seconds};
use super::learned::Learned;
use super::observation::{HourOfWeek, QueueReading};
use super::reason::Reason;
use super::reflectors::ExcessDelay;
use fathom_units::{Direction, Duration, Time};

/// Span for judging load and delivery, s: round trips to a nearby host, two ticks at 5 Hz.
const LATELY: f64 = 0.3;
/// Share of its rate at which a direction counts as loaded. With the 0.8 of the table of causes, a
/// fast drop of the line's rate would be missed.
const LOADED: f64 = 0.6;
/// Below this share of `min` a direction cannot fill a queue on a line that carries `min`.
const QUIET: f64 = 0.8;
/// Share of readings with a backlog at which the shaper counts as the bottleneck.
const HELD: f64 = 0.8;
/// Minimum share of readings within half a second at which an irregular load counts.
const SOME: f64 = 0.3;
const HALF_A_SECOND: f64 = 0.5;
/// After this time, s, delay beyond a full shaper queue is an overrun: senders had ten round trips.
const OVERRUN: f64 = 1.0;
/// A delay not explained by load becomes the baseline after this time, s.
const NOISE: f64 = 8.0;
/// The queue beyond the shaper should be drained in this time, s. This determines how far the rate
/// is cut below the delivered rate, as a share of it from `LEAST_DEPTH` to `MOST_DEPTH`. The next
/// rate is the delivered rate, because the queue is empty then.
const DRAIN: f64 = 0.12;
const LEAST_DEPTH: f64 = 0.055;
const MOST_DEPTH: f64 = 0.31;
/// Draining ends below this share of the threshold, because some lines never empty.
const DRAINED: f64 = 0.9;
/// Time until the delay reflects a new rate, s: a round trip, and the median of reflectors.
const FEEDBACK: f64 = 0.19;
/// Covers the previous tick, or the last two at 20 Hz, s.
const LATEST: f64 = 0.09;
/// Growth of the delay is extrapolated by this time, s. It is measured over `GROWTH` s.
const AHEAD: f64 = 0.16;
const GROWTH: f64 = 0.2;
/// Exploring slows down until the delay reaches this share of the threshold.
const ROOM: f64 = 0.7;
/// Exploring pauses if this share of that margin was used within `LATELY`.
const HASTY_RATIO: f64 = 0.6;
/// Time span for measuring the capacity of a bottleneck from the delivered bytes, s: for upload,
/// where the delays at both ends of the span matter, and for download.
const READ_UP: f64 = 0.4;
const READ_DOWN: f64 = 0.25;
/// If less than this share of what left the shaper's queue has arrived, the queue is emptying.
const REFILLED: f64 = 0.98;
/// Draining had no effect if this share of the delay remains, unless the decrease exceeds the
/// threshold: at the minimum rate, a long queue drains slowly.
const NO_EFFECT: f64 = 0.8;
/// After this time without demand, s, the rate may be outdated: fading lasts for seconds, changes
/// of cells and beams for tens of seconds.
const PAUSE: f64 = 20.0;
/// Starved: sends below this share of its rate over `STARVED_SPAN` s despite a full queue.
const STARVED: f64 = 0.8;
const STARVED_SPAN: f64 = 1.0;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    pub(crate) at: Time,
    /// Time since the previous tick, s.
    pub(crate) elapsed: f64,
    pub(crate) hour: HourOfWeek,
    pub(crate) delay: Option<ExcessDelay>,
    pub(crate) other: Load,
}

/// Load of a direction, for attributing a queue if only round-trip times are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// How likely it causes a queue: its load, reduced if packets wait in the shaper.
    strain: f64,
    is_loaded: bool,
    can_fill: bool,
}

#[derive(Clone, Copy, Debug)]
struct Noise {
    since: Time,
    /// Its maximum while the direction was quiet, s.
    known: f64,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Steady,
    Draining(Drain),
}

/// A cut that lasts until the queue beyond the shaper is empty.
#[derive(Clone, Copy, Debug)]
struct Drain {
    since: Time,
    until: Time,
    /// Delay above the baseline at the cut, s.
    excess: f64,
    /// Maximum since the cut, s.
    most: f64,
    /// Rate after draining, bit/s.
    next: f64,
    /// Rate before the first cut for this queue, bit/s.
    before: f64,
    /// The previous cut had no effect, although packets waited in the shaper's queue.
    is_second_try: bool,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Outcome {
    pub(crate) reason: Reason,
    /// Increase of the path's delay, s.
    pub(crate) shift: Option<f64>,
}

/// State of one direction. Rates in bit/s.
#[derive(Clone, Debug)]
pub(crate) struct DirectionController {
    direction: Direction,
    min: f64,
    max: f64,
    pub(crate) rate: f64,
    pub(crate) learned: Learned,
    pub(crate) flow: Flow,
    phase: Phase,
    ceiling: Option<Ceiling>,
    last_demand: Option<Time>,
    /// Since when there has been a delay beyond a full shaper queue.
    overrun_since: Option<Time>,
    noise: Option<Noise>,
    /// Until then the delay reflects an earlier rate.
    feedback_from: Time,
}

impl DirectionController {
    pub(crate) fn new(direction: Direction, bounds: Bounds) -> Self {
        let [min, start, max] = [bounds.min, bounds.start, bounds.max].map(|r| r.as_bits_per_second() as f64);
        DirectionController {
            direction,
            min,
            max,
            rate: start,
            learned: Learned::default(),
            flow: Flow::default(),
            phase: Phase::Steady,
            ceiling: None,
            last_demand: None,
            overrun_since: None,
            noise: None,
            feedback_from: Time::ZERO,
        }
    }
    pub(crate) fn read(&mut self, at: Time, queue: QueueReading) {
        self.flow.read(at, queue, self.rate);
    }
    /// Whether its traffic cannot cause any delay.
    pub(crate) fn is_quiet(&self) -> bool {
        let most = self.flow.delivered(LATELY).max(self.flow.delivered(1.0));
        most < self.min * QUIET && self.flow.busy(1.0) == 0.0 && matches!(self.phase, Phase::Steady)
    }
    pub(crate) fn load(&self) -> Load {
        let share = self.flow.delivered(LATELY) / self.rate;
        Load {
            strain: share.min(1.0) - 0.3 * self.flow.busy(LATELY),
            is_loaded: self.is_loaded(),
            can_fill: self.can_fill(),
        }
    }
    /// Sets a rate saved by an earlier run.
    pub(crate) fn resume(&mut self, rate: f64) {
        self.set(rate);
    }

    /// Adjusts the rate and returns the reason.
    pub(crate) fn decide(&mut self, tick: &Tick) -> Outcome {
        let Some(delay) = tick.delay else { return kept(self.silent()) };
        self.flow.note_excess(delay.excess);
        match self.phase {
            Phase::Draining(mut drain) => {
                drain.most = drain.most.max(delay.excess);
                self.phase = Phase::Draining(drain);
                self.drain(tick, delay, drain)
            }
            Phase::Steady if self.ahead(delay) > self.tolerated(delay) => self.delayed(tick, delay),
            Phase::Steady => {
                (self.overrun_since, self.noise) = (None, None);
                kept(self.undelayed(tick, delay))
            }
        }
    }

    /// Predicted delay above the baseline if it continues to grow.
    fn ahead(&self, delay: ExcessDelay) -> f64 {
        delay.excess + self.flow.growth(GROWTH).max(0.0) / GROWTH * AHEAD
    }
    /// Tolerated excess delay; less if the shaper's queue empties into an upstream queue.
    fn tolerated(&self, delay: ExcessDelay) -> f64 {
        let share =
            if self.direction == Direction::Down && self.is_busy() && self.runs_empty() { ROOM } else { 1.0 };
        delay.threshold * share
    }
    /// Ends draining, because its end cannot be observed.
    fn silent(&mut self) -> Reason {
        if let Phase::Draining(drain) = self.phase {
            self.go_on(drain.next);
        }
        (self.overrun_since, self.noise) = (None, None);
        Reason::Silent
    }

    fn delayed(&mut self, tick: &Tick, delay: ExcessDelay) -> Outcome {
        if tick.at < self.feedback_from {
            return kept(Reason::InControl);
        }
        if !delay.is_one_way && self.is_others(tick.other) {
            return kept(Reason::OtherDirection);
        }
        // Delay that existed before the load is not caused by it.
        let known = self.noise.map_or(0.0, |noise| noise.known);
        let is_unexplained = !self.can_fill();
        if is_unexplained || (known > 0.0 && delay.excess < known + delay.threshold) {
            return self.noise(tick, delay);
        }
        self.noise = None;
        if !self.holds() {
            return kept(self.cut(tick, delay, Reason::BottleneckBelow));
        }
        let since = *self.overrun_since.get_or_insert(tick.at);
        if seconds(since, tick.at) < OVERRUN {
            return kept(Reason::InControl);
        }
        kept(self.cut(tick, delay, Reason::Overrun))
    }
    /// Whether its traffic may have filled a queue on a line that carries `min`.
    fn can_fill(&self) -> bool {
        self.flow.delivered(LATELY) > self.min * QUIET || self.flow.busy(HALF_A_SECOND) > SOME
    }
    /// Whether it is loaded now, or was before the delay rose and the line's rate dropped.
    fn is_loaded(&self) -> bool {
        let most = self.flow.delivered(LATELY).max(self.flow.between(1.5, 0.5));
        self.can_fill() && (self.flow.busy(HALF_A_SECOND) > SOME || most > self.rate * LOADED)
    }
    /// Whether the other direction is the cause. If both or neither are loaded, it is the one that
    /// uses more of its rate and has less in the shaper's queue.
    fn is_others(&self, other: Load) -> bool {
        let own = self.load();
        if own.is_loaded != other.is_loaded {
            other.is_loaded
        } else {
            other.can_fill && own.strain < other.strain
        }
    }
    /// Whether the shaper is the bottleneck: it sends at its rate and its queue holds packets. For
    /// upload, the delay beyond it must not grow. For download, the other queue is upstream; if
    /// that were the bottleneck, the shaper's queue would empty.
    fn holds(&self) -> bool {
        let is_held = self.is_busy() && self.flow.delivered(LATELY) > self.rate * 0.9;
        let is_elsewhere = if self.direction == Direction::Up {
            self.flow.growth(LATELY) >= 0.002
        } else {
            self.runs_empty()
        };
        is_held && !is_elsewhere
    }
    fn is_busy(&self) -> bool {
        self.flow.busy(LATELY) >= HELD
    }
    /// Whether more leaves the shaper's queue than arrives.
    fn runs_empty(&self) -> bool {
        self.flow.came(LATELY) < self.flow.delivered(LATELY) * REFILLED
    }
    fn noise(&mut self, tick: &Tick, delay: ExcessDelay) -> Outcome {
        let is_quiet = self.is_quiet();
        let noise = self.noise.get_or_insert(Noise { since: tick.at, known: 0.0 });
        // A load that has just started is not visible yet.
        if is_quiet && seconds(noise.since, tick.at) > LATELY {
            noise.known = noise.known.max(delay.excess);
        }
        let is_lasting = seconds(noise.since, tick.at) > NOISE;
        if is_lasting {
            self.noise = None;
        }
        Outcome { reason: Reason::PathNoise, shift: is_lasting.then_some(delay.excess) }
    }

    fn cut(&mut self, tick: &Tick, delay: ExcessDelay, reason: Reason) -> Reason {
        self.overrun_since = None;
        let before = match self.phase {
            Phase::Draining(drain) => drain.before,
            Phase::Steady => self.rate,
        };
        let excess = delay.excess;
        let seen = if self.direction == Direction::Up {
            self.flow.dispersed(READ_UP)
        } else {
            self.flow.delivered_under_load(READ_DOWN)
        };
        let capacity = seen.clamp(self.min, self.rate.max(self.min));
        self.learned.sample(tick.hour, capacity);
        self.ceiling = Some(Ceiling::new(capacity, tick.at));
        let depth = (excess / DRAIN).clamp(LEAST_DEPTH, MOST_DEPTH);
        self.set((capacity * (1.0 - depth)).min(self.rate));
        let until = tick.at + Duration::from_secs_f64(excess / depth + FEEDBACK);
        let next = capacity;
        self.phase = Phase::Draining(Drain {
            since: tick.at,
            until,
            excess,
            most: excess,
            next,
            before,
            is_second_try: false,
        });
        reason
    }
    fn drain(&mut self, tick: &Tick, delay: ExcessDelay, drain: Drain) -> Outcome {
        if delay.excess < delay.threshold * DRAINED {
            self.go_on(drain.next);
            self.feedback_from = tick.at + Duration::from_secs_f64(FEEDBACK);
            return kept(Reason::Drained);
        }
        if tick.at < drain.until && !self.is_too_high(tick, delay, drain) {
            return kept(Reason::Draining);
        }
        let fell = drain.most - delay.excess;
        if fell < (drain.most * (1.0 - NO_EFFECT)).min(delay.threshold) && self.holds() {
            return self.without_effect(tick, delay, drain);
        }
        let delivered = self.flow.delivered(LATELY);
        let is_unused = delivered < if self.rate > self.min { self.rate * 0.5 } else { self.min * QUIET };
        if is_unused {
            self.go_on(drain.next);
            return kept(Reason::PathNoise);
        }
        if self.rate <= self.min {
            return kept(Reason::Draining);
        }
        kept(self.cut(tick, delay, Reason::BottleneckBelow))
    }

    /// Whether the cut was too small because the capacity fell further: for upload, the delay is
    /// still growing; for download, the shaper's queue is empty.
    fn is_too_high(&self, tick: &Tick, delay: ExcessDelay, drain: Drain) -> bool {
        let has_shown = seconds(drain.since, tick.at) >= FEEDBACK && delay.excess >= drain.excess;
        let is_so = if self.direction == Direction::Up {
            self.flow.growth(LATEST) > 0.0
        } else {
            self.flow.busy(FEEDBACK) == 0.0 && self.flow.delivered(FEEDBACK) < self.rate * 0.9
        };
        has_shown && is_so
    }
    /// Handles a cut without effect. The first one may have hit exactly the capacity. If a deeper
    /// cut has no effect either, the path is longer.
    fn without_effect(&mut self, tick: &Tick, delay: ExcessDelay, drain: Drain) -> Outcome {
        if drain.is_second_try || self.rate <= self.min {
            self.go_on(drain.before);
            return Outcome { reason: Reason::Rebased, shift: Some(delay.excess) };
        }
        let reason = self.cut(tick, delay, Reason::BottleneckBelow);
        if let Phase::Draining(again) = &mut self.phase {
            (again.is_second_try, again.next) = (true, drain.next);
        }
        kept(reason)
    }

    fn undelayed(&mut self, tick: &Tick, delay: ExcessDelay) -> Reason {
        if self.flow.busy(LATELY) == 0.0 {
            return Reason::Unused;
        }
        let paused = self.last_demand.is_some_and(|last| seconds(last, tick.at) > PAUSE);
        self.last_demand = Some(tick.at);
        if paused && self.recall(tick.hour) {
            return Reason::Recalled;
        }
        if self.flow.use_of_rate(STARVED_SPAN) < STARVED && self.flow.busy(STARVED_SPAN) >= 1.0 {
            return Reason::Starved;
        }
        let goal = delay.threshold * ROOM;
        let is_hasty = self.flow.growth(LATELY) > goal * HASTY_RATIO;
        if delay.excess >= goal || is_hasty || self.rate >= self.max || tick.at < self.feedback_from {
            return Reason::InControl;
        }
        let room = 1.0 - (delay.excess / goal).max(0.0);
        let speed = speed(self.ceiling, self.learned.at(tick.hour), self.rate, tick.at);
        self.set(self.rate * (1.0 + speed * room * tick.elapsed.min(0.25)));
        Reason::Exploring
    }
    /// Lowers the rate to the hour's usual maximum; returns whether it was above.
    fn recall(&mut self, hour: HourOfWeek) -> bool {
        let Some(known) = self.learned.at(hour).copied().filter(|known| known.high < self.rate) else {
            return false;
        };
        self.set(known.high);
        true
    }

    fn go_on(&mut self, rate: f64) {
        self.phase = Phase::Steady;
        self.set(rate.max(self.rate));
    }
    fn set(&mut self, rate: f64) {
        self.rate = rate.clamp(self.min, self.max);
    }
}

const fn kept(reason: Reason) -> Outcome {
    Outcome { reason, shift: None }
}
