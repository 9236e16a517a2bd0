//! Open-loop schedule of probes: fixed time slots that do not shift when the caller wakes late.
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::ops::Range;
use fathom_units::{Duration, Time};

/// A watch skips slots that are late by more than this: after the host was suspended or stopped,
/// sending them now would be a burst. Six times the longest tick, so that a host that is merely
/// busy skips none.
const LATEST: Duration = Duration::from_millis(100);
/// A target with a longer interval is also probed once at the start, to know its state soon.
const SEEN_WITHIN: Duration = Duration::from_secs(10);
/// Golden ratio's fractional part in 64 bits. Its multiples modulo 1 are evenly spread for any
/// number of them: no two gaps between neighbors differ by more than a factor of 2.7
/// (three-distance theorem, Sos 1958).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
/// Number of small probes that take as long on the line as a full-size packet; they leave together.
const PACKETS_OF_A_TICK: f64 = 16.0;
const SHORTEST_TICK: Duration = Duration::from_millis(1);
const LONGEST_TICK: Duration = Duration::from_millis(16);

/// Polling interval of the schedule for this rate of packets: long enough to save CPU wake-ups,
/// short enough that probes sent together are no burst.
pub fn tick(packets_per_second: f64) -> Duration {
    let seconds = PACKETS_OF_A_TICK / packets_per_second.max(1.0);
    Duration::from_secs_f64(seconds).clamp(SHORTEST_TICK, LONGEST_TICK)
}

/// When a target is probed: in rounds of one or more probes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Time between the starts of two rounds.
    pub interval: Duration,
    /// Number of probes per round.
    pub probes: u32,
    /// Time between two probes of a round.
    pub gap: Duration,
}

impl Pace {
    /// Probes per second.
    pub fn per_second(&self) -> f64 {
        f64::from(self.probes) / self.interval.as_secs_f64()
    }
}

/// How to handle slots that passed without a poll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LatePolicy {
    /// Send the last one, however late; earlier ones are missed.
    SendLast,
    /// Skip those that are later than this.
    SkipAfter(Duration),
}

/// A probe that is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Due {
    /// Number under which the target was added.
    pub target: u32,
    /// Scheduled send time.
    pub slot: Time,
    /// Number of missed slots of this target immediately before this one.
    pub missed: u32,
}

impl Due {
    const fn at(target: u32, slot: Time) -> Self {
        Due { target, slot, missed: 0 }
    }
}

/// All targets with the same interval. A probed target moves to the end of the queue, which
/// therefore stays sorted: the cost per probe does not depend on the number of targets.
#[derive(Clone, Default, Debug)]
struct IntervalQueue {
    queue: VecDeque<Due>,
    /// Number of targets added so far; determines the phase of the next one.
    added: u64,
    in_order: bool,
}

/// The slots of all targets.
#[derive(Clone, Debug)]
pub struct Schedule {
    seed: u64,
    late: LatePolicy,
    /// Queues by interval; interval zero holds targets that are probed once.
    queues: BTreeMap<Duration, IntervalQueue>,
    missed: u64,
}

impl Schedule {
    /// Creates the schedule of a watch, without targets. Slots that are late by more than 100 ms
    /// are skipped. The seed only determines the phases.
    pub const fn new(seed: u64) -> Self {
        Schedule { seed, late: LatePolicy::SkipAfter(LATEST), queues: BTreeMap::new(), missed: 0 }
    }
    /// Creates the schedule of a test: each of `targets` is probed every `interval` from `start`,
    /// evenly spread so that no two are sent together. Of late slots, the last is sent.
    pub fn even(targets: Range<u32>, interval: Duration, start: Time) -> Self {
        let count = targets.len() as u32;
        let slot = |n: u32| start + interval * u64::from(n - targets.start) / u64::from(count.max(1));
        let queue = targets.clone().map(|n| Due::at(n, slot(n))).collect();
        let queue = IntervalQueue { queue, added: u64::from(count), in_order: true };
        let queues = BTreeMap::from([(interval, queue)]);
        Schedule { seed: 0, late: LatePolicy::SendLast, queues, missed: 0 }
    }
    /// Adds a target from `now` on. Existing targets keep their slots.
    pub fn add(&mut self, target: u32, pace: &Pace, now: Time) {
        let interval = pace.interval;
        let queue = self.queues.entry(interval).or_default();
        let turn = self.seed.wrapping_add(interval.as_nanos()).wrapping_mul(GOLDEN);
        let phase = turn.wrapping_add(queue.added.wrapping_mul(GOLDEN));
        queue.added += 1;
        let fraction = |of: Duration| ((u128::from(phase) * u128::from(of.as_nanos())) >> 64) as u64;
        for n in 0..u64::from(pace.probes) {
            let offset = fraction(interval) + (pace.gap * n).as_nanos();
            queue.push(Due::at(target, next_on_grid(offset, interval, now)));
        }
        if interval > SEEN_WITHIN {
            let slot = now + Duration::from_nanos(fraction(SEEN_WITHIN));
            self.queues.entry(Duration::ZERO).or_default().push(Due::at(target, slot));
        }
    }
    /// Removes the targets for which `is_gone` returns true.
    pub fn remove(&mut self, is_gone: impl Fn(u32) -> bool) {
        self.queues.values_mut().for_each(|queue| queue.queue.retain(|due| !is_gone(due.target)));
        self.queues.retain(|_, queue| !queue.queue.is_empty());
    }
    /// Sets the same interval for all targets. A longer one begins after the next slot of each.
    /// With a shorter one the slots move toward `now`, and stay as evenly spread.
    pub fn set_interval(&mut self, interval: Duration, now: Time) {
        if self.queues.len() == 1 && self.queues.contains_key(&interval) {
            return;
        }
        let mut all = IntervalQueue::default();
        for (before, queue) in core::mem::take(&mut self.queues) {
            all.added += queue.added;
            let sooner = |due: Due| {
                let left = scaled(due.slot.saturating_since(now), interval, before);
                Due { slot: due.slot.min(now + left), ..due }
            };
            if interval < before {
                all.queue.extend(queue.queue.into_iter().map(sooner));
            } else {
                all.queue.extend(queue.queue);
            }
        }
        if !all.queue.is_empty() {
            self.queues.insert(interval, all);
        }
    }
    /// Time of the next slot.
    pub fn next_slot(&mut self) -> Option<Time> {
        self.queues.values_mut().filter_map(|queue| queue.front().map(|due| due.slot)).min()
    }
    /// Number of missed slots.
    pub const fn missed(&self) -> u64 {
        self.missed
    }
    /// Appends the probes due at `now` to `found`, ordered within each interval, each once.
    pub fn take_due(&mut self, now: Time, found: &mut Vec<Due>) {
        for (interval, queue) in &mut self.queues {
            self.missed += queue.take_due(*interval, now, self.late, found);
        }
    }
}

impl IntervalQueue {
    fn push(&mut self, due: Due) {
        self.queue.push_back(due);
        self.in_order = false;
    }
    fn sort(&mut self) {
        if !self.in_order {
            self.queue.make_contiguous().sort_unstable_by_key(|due| (due.slot, due.target));
            self.in_order = true;
        }
    }
    fn front(&mut self) -> Option<Due> {
        self.sort();
        self.queue.front().copied()
    }
    /// Returns the number of missed slots.
    fn take_due(&mut self, interval: Duration, now: Time, policy: LatePolicy, found: &mut Vec<Due>) -> u64 {
        let mut missed = 0;
        // Targets with missed slots change the order; they are re-added together and sorted once.
        let mut moved = Vec::new();
        while let Some(due) = self.front().filter(|due| due.slot <= now) {
            self.queue.pop_front();
            let is_once = interval == Duration::ZERO;
            if is_once {
                found.push(due);
                continue;
            }
            let late = now.saturating_since(due.slot);
            match policy {
                LatePolicy::SkipAfter(limit) if late <= limit => {
                    found.push(due);
                    self.queue.push_back(Due { slot: due.slot + interval, ..due });
                }
                LatePolicy::SkipAfter(_) => {
                    // The phase of the slots does not change.
                    let slot = next_on_grid(due.slot.as_nanos(), interval, now);
                    missed += slot.saturating_since(due.slot).as_nanos() / interval.as_nanos();
                    moved.push(Due { slot, ..due });
                }
                LatePolicy::SendLast => {
                    let passed = late.as_nanos() / interval.as_nanos();
                    let slot = due.slot + interval * passed;
                    missed += passed;
                    found.push(Due { slot, missed: u32::try_from(passed).unwrap_or(u32::MAX), ..due });
                    moved.push(Due { slot: slot + interval, ..due });
                }
            }
        }
        self.in_order &= moved.is_empty();
        self.queue.extend(moved);
        missed
    }
}

/// This part of a duration: `numerator` of `denominator`, which is not zero.
fn scaled(whole: Duration, numerator: Duration, denominator: Duration) -> Duration {
    let product = u128::from(whole.as_nanos()) * u128::from(numerator.as_nanos());
    Duration::from_nanos((product / u128::from(denominator.as_nanos())) as u64)
}

/// The first time after `now` that is a multiple of `interval` away from `offset` nanoseconds.
fn next_on_grid(offset: u64, interval: Duration, now: Time) -> Time {
    let (step, now) = (interval.as_nanos().max(1), now.as_nanos());
    let phase = offset % step;
    let before = now.saturating_sub(phase) / step;
    let slot = before * step + phase;
    Time::from_nanos(if slot > now { slot } else { slot + step })
}
