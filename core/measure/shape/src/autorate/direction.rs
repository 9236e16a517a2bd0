//! One direction: what to do at a tick.
use super::bounds::Bounds;
use super::explore::{Ceiling, speed};
use super::flow::{Flow, seconds};
use super::learned::Learned;
use super::observation::{HourOfWeek, QueueReading};
use super::reason::Reason;
use super::reflectors::ExcessDelay;
use fathom_units::{Direction, Duration, Time};

/// Span over which load and delivery are judged, s: some round trips of a near host, and two ticks at 5 Hz.
const LATELY: f64 = 0.3;
/// A direction that delivers this share of its rate is loaded. The table of causes (0.8) lets a fast fall of the line slip.
const LOADED: f64 = 0.6;
/// Below this share of `min` a direction cannot fill any queue of a line that carries `min`.
const QUIET: f64 = 0.8;
/// In so many of the readings our queue holds packets: it is where they wait.
const HELD: f64 = 0.8;
/// And in so many of half a second's it has a load, if a ragged one.
const SOME: f64 = 0.3;
const HALF_A_SECOND: f64 = 0.5;
/// Our queue full and a delay beyond it for so long, s, is an overrun: senders had ten round trips to heed our drops.
const OVERRUN: f64 = 1.0;
/// A delay that no load explains becomes the baseline after so long, s.
const NOISE: f64 = 8.0;
/// The queue beyond ours is to be gone in so long, s. That says how deep the cut goes below what was delivered, as a share of
/// it, from `LEAST_DEPTH` to `MOST_DEPTH`; the next rate is what was delivered, as nothing waits then.
const DRAIN: f64 = 0.12;
const LEAST_DEPTH: f64 = 0.055;
const MOST_DEPTH: f64 = 0.31;
/// A drain is over below this share of the threshold: a line that is never quite empty is never idle.
const DRAINED: f64 = 0.9;
/// From a change of the rate until the delay can show it, s: a round trip, and the middle of the reflectors.
const FEEDBACK: f64 = 0.19;
/// The tick before, or the one before that at 20 Hz, s.
const LATEST: f64 = 0.09;
/// Growth of the delay is taken to go on for so long, s. It is seen over `GROWTH` s.
const AHEAD: f64 = 0.16;
const GROWTH: f64 = 0.2;
/// Exploring goes on up to this share of the threshold, ever slower.
const ROOM: f64 = 0.7;
/// And not where so much of that room was used up within `LATELY`.
const HASTY_RATIO: f64 = 0.6;
/// Span over which a bottleneck's rate is read off the bytes that passed, s: upwards, where delays at both ends count, and
/// downwards.
const READ_UP: f64 = 0.4;
const READ_DOWN: f64 = 0.25;
/// Of what left our queue so much must have come to it again, or it runs empty.
const REFILLED: f64 = 0.98;
/// A drain that left this share of the delay did nothing, unless that is less by a threshold: where the rate is at its least, a long
/// queue goes slowly.
const NO_EFFECT: f64 = 0.8;
/// No demand for so long, s, and the rate may be out of date: fading lasts for seconds, cells and beams for tens of them.
const PAUSE: f64 = 20.0;
/// Our queue full while it sends less than this share of its rate over `STARVED_SPAN` s.
const STARVED: f64 = 0.8;
const STARVED_SPAN: f64 = 1.0;

/// A tick, as one direction sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tick {
    pub(crate) at: Time,
    /// Since the tick before, s.
    pub(crate) elapsed: f64,
    pub(crate) hour: HourOfWeek,
    pub(crate) delay: Option<ExcessDelay>,
    pub(crate) other: Load,
}

/// What a direction shows the other, to tell whose a queue is if round trips are all that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// How likely a queue is this direction's: its load, less so if our own queue holds what waits.
    strain: f64,
    is_loaded: bool,
    can_fill: bool,
}

/// A delay that no load explains.
#[derive(Clone, Copy, Debug)]
struct Noise {
    since: Time,
    /// The most of it while the direction was surely quiet, s.
    known: f64,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Steady,
    Draining(Drain),
}

/// A cut, until the queue beyond ours is empty.
#[derive(Clone, Copy, Debug)]
struct Drain {
    since: Time,
    until: Time,
    /// Excess at the cut, s.
    excess: f64,
    /// The most of it since, s.
    most: f64,
    /// Rate to go on with, bit/s.
    next: f64,
    /// Rate before the first cut of this queue, bit/s.
    before: f64,
    /// The drain before it did nothing, though our own queue held what waits.
    is_second_try: bool,
}

/// What a tick came to.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Outcome {
    pub(crate) reason: Reason,
    /// The path became longer by this, s.
    pub(crate) shift: Option<f64>,
}

/// One direction's law and memory. Rates in bit/s.
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
    /// A delay beyond our full queue.
    overrun_since: Option<Time>,
    noise: Option<Noise>,
    /// Before this the delay still shows an earlier rate.
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
    /// True if what it sends can be the cause of no delay.
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
    /// Sets a rate that was kept from an earlier run.
    pub(crate) fn resume(&mut self, rate: f64) {
        self.set(rate);
    }

    /// Moves the rate, and says why.
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

    /// Excess in a moment, if it goes on growing.
    fn ahead(&self, delay: ExcessDelay) -> f64 {
        delay.excess + self.flow.growth(GROWTH).max(0.0) / GROWTH * AHEAD
    }
    /// Excess from which on it is a queue; less where our own queue runs empty into the one before it.
    fn tolerated(&self, delay: ExcessDelay) -> f64 {
        let share =
            if self.direction == Direction::Down && self.is_busy() && self.runs_empty() { ROOM } else { 1.0 };
        delay.threshold * share
    }
    /// A drain that nobody can see the end of is over.
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
        // What was there before the load is not the load's.
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
    /// True if it may have filled a queue of a line that carries `min`. Whether it has, a cut will show.
    fn can_fill(&self) -> bool {
        self.flow.delivered(LATELY) > self.min * QUIET || self.flow.busy(HALF_A_SECOND) > SOME
    }
    /// Loaded now, or until the delay rose: where the line falls to a tenth, so does the load.
    fn is_loaded(&self) -> bool {
        let most = self.flow.delivered(LATELY).max(self.flow.between(1.5, 0.5));
        self.can_fill() && (self.flow.busy(HALF_A_SECOND) > SOME || most > self.rate * LOADED)
    }
    /// Of two that are loaded, or of none, it is the one that uses more of its rate and holds less in its own queue.
    fn is_others(&self, other: Load) -> bool {
        let own = self.load();
        if own.is_loaded != other.is_loaded {
            other.is_loaded
        } else {
            other.can_fill && own.strain < other.strain
        }
    }
    /// True if our own queue is the bottleneck: it sends at its rate, packets wait in it, and upwards the delay behind it does not
    /// grow. Downwards the other queue lies before ours: were that the bottleneck, ours would run empty.
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
    /// Less came to our queue than left it.
    fn runs_empty(&self) -> bool {
        self.flow.came(LATELY) < self.flow.delivered(LATELY) * REFILLED
    }
    fn noise(&mut self, tick: &Tick, delay: ExcessDelay) -> Outcome {
        let is_quiet = self.is_quiet();
        let noise = self.noise.get_or_insert(Noise { since: tick.at, known: 0.0 });
        // A load that has just begun does not show yet.
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

    /// True if the cut did not go deep enough, as in the meantime the line carried less than that: upwards the delay still grows,
    /// downwards our queue ran empty.
    fn is_too_high(&self, tick: &Tick, delay: ExcessDelay, drain: Drain) -> bool {
        let has_shown = seconds(drain.since, tick.at) >= FEEDBACK && delay.excess >= drain.excess;
        let is_so = if self.direction == Direction::Up {
            self.flow.growth(LATEST) > 0.0
        } else {
            self.flow.busy(FEEDBACK) == 0.0 && self.flow.delivered(FEEDBACK) < self.rate * 0.9
        };
        has_shown && is_so
    }
    /// The first time the cut may have been to just what the line carries. It is the path's if a deeper one does nothing either.
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
    /// True if the rate was above what the hour usually carries.
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
