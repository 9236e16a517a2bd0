//! The course of a test, without I/O: when each phase starts, when it ends, and why.
//!
//! A phase with load starts on an empty queue. It ends when working latency has stopped growing
//! ([`PhaseControl`]) and the rate at which the load is delivered is stationary, or when a limit of
//! time or bytes is reached.
use crate::delivered::Delivered;
use crate::{Baseline, PhaseControl, PhasePlan, ProbeKind};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use fathom_run::{PhaseEnd, PhaseKind};
use fathom_units::{Direction, Duration, PerDirection, Time};

/// Limits of the wait for an empty queue before a load. A queue takes as long to drain as its last
/// packet waits, so twice the longest delay suffices unless others keep it filled.
const DRAIN_AT_LEAST: Duration = Duration::from_secs(5);
const DRAIN_AT_MOST: Duration = Duration::from_secs(120);
/// Multiple of the longest delay that the wait may take.
const DRAIN_DELAYS: f64 = 2.0;

/// Many lines serve a burst faster than their lasting rate (PowerBoost: up to 20 MB). A load that
/// has carried less in a direction lasts this multiple of its minimum duration.
const BURST_BYTES: u64 = 20_000_000;
const BURST_PATIENCE: u64 = 2;

/// What to do next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Start a phase and its load.
    Start(PhaseKind),
    /// Stop the load; the phase ends.
    End(PhaseKind, PhaseEnd),
    /// The phase is skipped, because the data limit has been reached.
    Omit(PhaseKind),
    /// The phase starts although the queue of the one before it is not empty after this wait.
    Queued(PhaseKind, Duration),
    /// All phases are over.
    Finish,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// Before the next phase.
    Between,
    /// Waiting for the queue to drain before the next phase.
    Draining { since: Time },
    /// In the current phase.
    Running(PhasePlan),
}

/// The sequence of a test. The caller reports observations, and calls [`Course::poll`] regularly.
#[derive(Clone, Debug)]
pub struct Course {
    plans: Vec<PhasePlan>,
    /// Number of phases that have started or were omitted.
    next: usize,
    stage: Stage,
    after_load: bool,
    /// By preference of the probes.
    controls: Vec<(ProbeKind, PhaseControl)>,
    baselines: BTreeMap<ProbeKind, Baseline>,
    longest_s: f64,
    /// Departure of the latest probe that was answered.
    answered_until: Time,
    totals: PerDirection<u64>,
    phase_start: Time,
    /// Totals at the start of the phase.
    before: PerDirection<u64>,
    delivered: PerDirection<Delivered>,
    byte_limit: u64,
    phase_byte_limit: u64,
}

impl Course {
    /// Creates the course of a test with these phases, which transfers at most `byte_limit` bytes
    /// of payload in both directions together.
    pub fn new(plans: Vec<PhasePlan>, byte_limit: u64) -> Self {
        Course {
            plans,
            next: 0,
            stage: Stage::Between,
            after_load: false,
            controls: Vec::new(),
            baselines: BTreeMap::new(),
            longest_s: 0.0,
            answered_until: Time::ZERO,
            totals: PerDirection::default(),
            phase_start: Time::ZERO,
            before: PerDirection::default(),
            delivered: PerDirection::default(),
            byte_limit,
            phase_byte_limit: u64::MAX,
        }
    }
    /// Records the response to a probe sent at `sent`.
    pub fn answered(&mut self, kind: ProbeKind, sent: Time, delay_s: f64) {
        self.longest_s = self.longest_s.max(delay_s);
        self.answered_until = self.answered_until.max(sent);
        let control = self.controls.iter_mut().find(|(k, _)| *k == kind);
        control.into_iter().for_each(|(_, control)| control.answered(sent, delay_s));
    }
    /// Records the total congestion window of the phase's senders and their retransmissions.
    pub fn senders(&mut self, at: Time, window_bytes: u64, retransmits: u64) {
        self.controls.iter_mut().for_each(|(_, control)| control.senders(at, window_bytes, retransmits));
    }
    /// Records the payload that the load of all phases has delivered in a direction.
    pub fn delivered(&mut self, direction: Direction, at: Time, total_bytes: u64) {
        self.totals[direction] = total_bytes;
        self.delivered[direction].count(at, total_bytes);
    }
    /// Payload delivered in both directions together.
    pub fn moved(&self) -> u64 {
        self.totals.up.saturating_add(self.totals.down)
    }
    /// Longest delay of a probe so far, in seconds.
    pub const fn longest_s(&self) -> f64 {
        self.longest_s
    }
    /// Median delay of the probes that determine latency, before the load; zero if unknown.
    pub fn idle(&self) -> Duration {
        let first = self.baselines.iter().min_by_key(|(kind, _)| kind.spec().rank);
        first.map_or(Duration::ZERO, |(_, baseline)| Duration::from_secs_f64(baseline.median_s))
    }
    /// Whether the data limit of the whole test has been reached.
    pub fn is_out_of_bytes(&self) -> bool {
        self.moved() >= self.byte_limit
    }
    /// The next step that is due; `oldest` is when the oldest open probe of a kind was sent.
    pub fn poll(&mut self, now: Time, oldest: impl Fn(ProbeKind) -> Option<Time>) -> Option<Step> {
        match self.stage {
            Stage::Between => self.leave(now),
            Stage::Draining { since } => {
                let end = self.decide(now, &oldest)?;
                let plan = self.plans[self.next];
                self.stage = Stage::Between;
                self.after_load = false;
                (end != PhaseEnd::Settled).then(|| Step::Queued(plan.kind, now.saturating_since(since)))
            }
            Stage::Running(plan) => {
                let end = self.ends(plan, now, &oldest)?;
                self.finish(plan);
                Some(Step::End(plan.kind, end))
            }
        }
    }
    /// Ends the current phase early, for example because the user stopped the test.
    pub fn abort(&mut self) -> Option<PhaseKind> {
        let Stage::Running(plan) = self.stage else { return None };
        self.finish(plan);
        self.next = self.plans.len();
        Some(plan.kind)
    }
    /// Takes the current phase back: it starts again, on an empty queue, with the next
    /// [`Course::poll`]. What it has moved counts towards the data limit.
    pub fn take_back(&mut self) {
        if let Stage::Running(plan) = self.stage {
            self.next -= 1;
            self.after_load |= plan.kind.is_loaded();
        }
        self.stage = Stage::Between;
    }
    fn leave(&mut self, now: Time) -> Option<Step> {
        let Some(plan) = self.plans.get(self.next).copied() else { return Some(Step::Finish) };
        let is_load = plan.kind.is_loaded();
        if is_load && self.is_out_of_bytes() {
            self.next += 1;
            return Some(Step::Omit(plan.kind));
        }
        if is_load && self.after_load {
            let max = self.drain_limit(now);
            self.expect(PhasePlan { kind: PhaseKind::Drain, min: Duration::ZERO, max }, now);
            self.stage = Stage::Draining { since: now };
            return None;
        }
        if is_load {
            // The rest is divided among the remaining phases, so that no phase uses the bytes of
            // later ones.
            let remaining = self.plans[self.next..].iter().filter(|p| p.kind.is_loaded()).count();
            let left = self.byte_limit.saturating_sub(self.moved());
            self.phase_byte_limit = self.moved().saturating_add(left / remaining.max(1) as u64);
        }
        self.next += 1;
        self.expect(plan, now);
        self.stage = Stage::Running(plan);
        Some(Step::Start(plan.kind))
    }
    /// The longest wait for an empty queue. Probes sent after the last answered one may still be in
    /// the queue.
    fn drain_limit(&self, now: Time) -> Duration {
        let waited_s = now.saturating_since(self.answered_until).as_secs_f64();
        let longest = Duration::from_secs_f64(DRAIN_DELAYS * self.longest_s.max(waited_s));
        (DRAIN_AT_LEAST + longest).min(DRAIN_AT_MOST)
    }
    /// Starts judging probes for the end of `plan`.
    fn expect(&mut self, plan: PhasePlan, now: Time) {
        let control = |kind| (kind, PhaseControl::new(plan, now, self.baselines.get(&kind).copied()));
        self.controls = ProbeKind::ALL.into_iter().map(control).collect();
        self.controls.sort_by_key(|(kind, _)| kind.spec().rank);
        self.delivered = PerDirection::default();
        (self.phase_start, self.before) = (now, self.totals);
    }
    fn finish(&mut self, plan: PhasePlan) {
        if plan.kind == PhaseKind::Idle {
            let learned = self.controls.iter().filter_map(|(kind, c)| Some((*kind, c.baseline()?)));
            // A second idle phase has applications.
            for (kind, baseline) in learned {
                self.baselines.entry(kind).or_insert(baseline);
            }
        }
        self.after_load = plan.kind.is_loaded();
        self.stage = Stage::Between;
    }
    fn ends(
        &self,
        plan: PhasePlan,
        now: Time,
        oldest: &impl Fn(ProbeKind) -> Option<Time>,
    ) -> Option<PhaseEnd> {
        let loads = plan.kind.loads();
        if !loads.is_empty() && self.moved() >= self.phase_byte_limit {
            return Some(PhaseEnd::ByteLimit);
        }
        let is_patient = now.saturating_since(self.phase_start) >= plan.min * BURST_PATIENCE;
        let is_stationary = |d: Direction| {
            let carried = self.totals[d].saturating_sub(self.before[d]);
            (is_patient || carried >= BURST_BYTES) && self.delivered[d].is_stationary()
        };
        let has_settled = || loads.iter().all(|d| is_stationary(*d));
        self.decide(now, oldest).filter(|end| *end != PhaseEnd::Settled || has_settled())
    }
    /// The first answered kind of probes in the order of preference decides.
    fn decide(&self, now: Time, oldest: &impl Fn(ProbeKind) -> Option<Time>) -> Option<PhaseEnd> {
        let answered = self.controls.iter().find(|(_, control)| control.baseline().is_some());
        let (kind, control) = answered.or(self.controls.first())?;
        control.decide(now, oldest(*kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line with a deep queue: it fills at `fill` s/s under load and drains at 1 s/s.
    struct Line {
        now_ns: u64,
        queue_s: f64,
        fill: f64,
        load: bool,
        bytes: u64,
    }

    impl Line {
        /// Runs the course for at most `seconds` and returns its steps with their times in seconds,
        /// and the queue at the time.
        fn run(&mut self, course: &mut Course, seconds: u64) -> Vec<(f64, Step, f64)> {
            let mut steps = Vec::new();
            let mut flying: Vec<(Time, f64)> = Vec::new();
            let end = self.now_ns + seconds * 1_000_000_000;
            while self.now_ns < end {
                let now = Time::from_nanos(self.now_ns);
                while let Some(step) = course.poll(now, |_| flying.first().map(|f| f.0)) {
                    steps.push((now.as_secs_f64(), step, self.queue_s));
                    match step {
                        Step::Start(kind) => self.load = kind.is_loaded(),
                        Step::End(..) => self.load = false,
                        Step::Finish => return steps,
                        _ => {}
                    }
                }
                if self.now_ns.is_multiple_of(50_000_000) {
                    flying.push((now, 0.02 + self.queue_s));
                }
                flying.retain(|(sent, delay_s)| {
                    let is_open = now.saturating_since(*sent).as_secs_f64() < *delay_s;
                    if !is_open {
                        course.answered(ProbeKind::Udp, *sent, *delay_s);
                    }
                    is_open
                });
                self.now_ns += 10_000_000;
                self.queue_s = (self.queue_s + if self.load { 0.01 * self.fill } else { -0.01 }).max(0.0);
                self.bytes += if self.load { 2_500 } else { 0 };
                course.delivered(Direction::Down, now, self.bytes);
            }
            steps
        }
    }

    fn plans() -> Vec<PhasePlan> {
        PhasePlan::default_sequence()
    }

    #[test]
    fn each_load_starts_on_an_empty_queue_however_deep_it_was() {
        let mut line = Line { now_ns: 0, queue_s: 0.0, fill: 0.5, load: false, bytes: 0 };
        let steps = line.run(&mut Course::new(plans(), u64::MAX), 400);
        let loads = steps.iter().filter(|(_, s, _)| matches!(s, Step::Start(k) if k.is_loaded()));
        let queues: Vec<f64> = loads.map(|(_, _, queue_s)| *queue_s).collect();
        assert_eq!(queues.len(), 3, "{steps:?}");
        assert!(queues.iter().all(|queue_s| *queue_s < 0.01), "{steps:?}");
        // The queue grows for 30 s to 15 s, more than any fixed pause would allow for.
        let ends = steps.iter().filter(|(_, s, _)| matches!(s, Step::End(_, PhaseEnd::TimeLimit)));
        assert!(ends.clone().count() >= 3 && ends.clone().any(|(_, _, q)| *q > 14.0), "{steps:?}");
        assert!(matches!(steps.last(), Some((_, Step::Finish, _))));
        assert!(!steps.iter().any(|(_, s, _)| matches!(s, Step::Queued(..))));
    }

    #[test]
    fn a_phase_that_is_taken_back_starts_again_on_an_empty_queue() {
        let mut line = Line { now_ns: 0, queue_s: 0.0, fill: 0.5, load: false, bytes: 0 };
        let mut course = Course::new(plans(), u64::MAX);
        let first = line.run(&mut course, 10);
        assert!(matches!(first.last(), Some((_, Step::Start(PhaseKind::Down), _))), "{first:?}");
        course.take_back();
        line.load = false;
        assert!(line.queue_s > 2.0, "{}", line.queue_s);
        let then = line.run(&mut course, 400);
        let (_, step, queue_s) = then[0];
        assert_eq!(step, Step::Start(PhaseKind::Down));
        assert!(queue_s < 0.01, "{queue_s}");
        let ends = then.iter().filter(|(_, s, _)| matches!(s, Step::End(..))).count();
        assert_eq!(ends, 4, "{then:?}");
    }

    #[test]
    fn a_queue_that_others_keep_filled_is_reported_and_does_not_block_the_test() {
        let mut course = Course::new(plans(), u64::MAX);
        let mut line = Line { now_ns: 0, queue_s: 0.0, fill: 0.0, load: false, bytes: 0 };
        let mut steps = line.run(&mut course, 12);
        // From now on, others fill the queue: each probe takes 300 ms.
        let mut n = 0;
        while !matches!(steps.last(), Some((_, Step::Finish, _))) {
            let now = Time::from_nanos(12_000_000_000 + n * 50_000_000);
            course.answered(ProbeKind::Udp, now.saturating_sub(Duration::from_millis(300)), 0.3);
            steps.extend(course.poll(now, |_| None).map(|step| (now.as_secs_f64(), step, 0.3)));
            n += 1;
            assert!(n < 10_000, "{steps:?}");
        }
        let queued: Vec<_> = steps.iter().filter(|(_, s, _)| matches!(s, Step::Queued(..))).collect();
        let [(_, Step::Queued(PhaseKind::Up, waited), _), ..] = queued.as_slice() else {
            panic!("{steps:?}")
        };
        assert!((5.0..10.0).contains(&waited.as_secs_f64()), "{waited}");
    }

    #[test]
    fn a_rate_that_drops_extends_the_phase() {
        let plan = PhasePlan::of(PhaseKind::Down);
        let mut course = Course::new(Vec::from([plan]), u64::MAX);
        let mut total = 0_u64;
        let end = (0..).find_map(|n: u64| {
            let now = Time::from_nanos(n * 50_000_000);
            total += if n < 100 { 50_000 } else { 12_500 };
            course.answered(ProbeKind::Udp, now, 0.02);
            course.delivered(Direction::Down, now, total);
            match course.poll(now, |_| None) {
                Some(Step::End(_, end)) => Some((end, now.as_secs_f64())),
                _ => None,
            }
        });
        let (end, seconds) = end.unwrap();
        assert_eq!(end, PhaseEnd::Settled);
        assert!((12.0..14.0).contains(&seconds), "{seconds} s");
    }

    #[test]
    fn phases_share_the_bytes_and_are_omitted_without() {
        let mut course = Course::new(plans(), 3_000_000);
        let mut line = Line { now_ns: 0, queue_s: 0.0, fill: 0.0, load: false, bytes: 0 };
        let steps = line.run(&mut course, 100);
        let ends = steps.iter().filter(|(_, s, _)| matches!(s, Step::End(_, PhaseEnd::ByteLimit)));
        assert_eq!(ends.count(), 3, "{steps:?}");
        assert!(course.moved() < 3_100_000);
        let mut empty = Course::new(plans(), 0);
        let omitted = Line { now_ns: 0, queue_s: 0.0, fill: 0.0, load: false, bytes: 0 }
            .run(&mut empty, 100)
            .iter()
            .filter(|(_, s, _)| matches!(s, Step::Omit(_)))
            .count();
        assert_eq!(omitted, 3);
    }

    #[test]
    fn an_aborted_test_ends_its_phase() {
        let mut course = Course::new(plans(), u64::MAX);
        assert_eq!(course.abort(), None);
        assert_eq!(course.poll(Time::ZERO, |_| None), Some(Step::Start(PhaseKind::Idle)));
        assert_eq!(course.abort(), Some(PhaseKind::Idle));
        assert_eq!(course.poll(Time::ZERO, |_| None), Some(Step::Finish));
    }
}
