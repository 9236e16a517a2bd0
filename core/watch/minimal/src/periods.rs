//! Counts of probes by the period in which they were sent.
use crate::NANOS_PER_MILLI;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use fathom_probe::{Reply, ReplyKind};
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_samples::{Code, Outcome, Window};

/// Settings of the counts.
#[derive(Clone, Copy, Debug)]
pub struct PeriodConfig {
    /// Length of a period: the time between two points of a series.
    pub interval: Duration,
    /// A reply that took longer is late.
    pub timeout: Duration,
    /// A probe that has no reply after this time is lost, and later replies are not counted. The
    /// point of a period is known this long after its end.
    pub settle: Duration,
}

/// The counts of a target at the end of one period.
#[derive(Clone, PartialEq, Debug)]
pub struct Counted {
    /// Number of the target.
    pub target: usize,
    /// Time and cumulative counts. The first point of a series has no counts, so that those of the
    /// second one are an increase.
    pub points: Vec<(u64, Option<Window>)>,
}

#[derive(Clone, Copy, Debug)]
struct SentProbe {
    at: Time,
    /// End of the period in which it was sent.
    end_ms: u64,
    has_outcome: bool,
}

#[derive(Clone, Default, Debug)]
struct Target {
    total: Window,
    /// Probes of which a reply still counts, in the order of sending.
    probes: VecDeque<SentProbe>,
}

/// The counts of all targets.
///
/// Periods end at multiples of their length in UTC. Delays and waits are measured by the monotonic
/// clock: the clock of a router is often set soon after its start.
#[derive(Clone, Debug)]
pub struct Periods {
    config: PeriodConfig,
    since_ms: u64,
    targets: Vec<Target>,
    /// Counts of the periods that are not complete, by their end; one for each target.
    open: BTreeMap<u64, Vec<Window>>,
    /// Time of the last points.
    closed_ms: u64,
    has_points: bool,
}

impl Periods {
    /// Starts counting.
    pub fn new(config: PeriodConfig, targets: usize, start: WallTime) -> Self {
        let since_ms = start.0 / NANOS_PER_MILLI;
        Periods {
            config,
            since_ms,
            targets: alloc::vec![Target::default(); targets],
            open: BTreeMap::new(),
            closed_ms: since_ms,
            has_points: false,
        }
    }
    /// Start of counting, in milliseconds since 1970-01-01 UTC.
    pub const fn since_ms(&self) -> u64 {
        self.since_ms
    }
    /// A probe was sent.
    pub fn sent(&mut self, target: usize, at: Time, wall: WallTime) {
        let end_ms = self.end_of(wall);
        self.window(end_ms, target);
        if let Some(one) = self.targets.get_mut(target) {
            one.probes.push_back(SentProbe { at, end_ms, has_outcome: false });
        }
    }
    /// A probe was due and could not be sent.
    pub fn failed(&mut self, target: usize, wall: WallTime) {
        let end_ms = self.end_of(wall);
        self.add(end_ms, target, Outcome::Failed);
    }
    /// A reply arrived to the probe that was sent at this time.
    pub fn reply(&mut self, target: usize, sent: Time, reply: &Reply) {
        let Some(one) = self.targets.get_mut(target) else { return };
        let place = one.probes.binary_search_by_key(&sent, |probe| probe.at);
        let Some(probe) = place.ok().and_then(|place| one.probes.get_mut(place)) else { return };
        let end_ms = probe.end_ms;
        if reply.is_first() {
            probe.has_outcome = true;
            let is_late = reply.delay > self.config.timeout;
            let outcome = if is_late { Outcome::Late } else { Outcome::Answered };
            self.add(end_ms, target, outcome(reply.delay));
        }
        let Some(window) = self.window(end_ms, target) else { return };
        window.tally.duplicates += u64::from(reply.kind == ReplyKind::Duplicate);
        window.tally.reordered += u64::from(reply.is_reordered);
    }
    /// Completes the periods that are over, in order, and passes their counts to `take`.
    pub fn complete(&mut self, now: Time, wall: WallTime, take: &mut dyn FnMut(u64, &[Counted])) {
        self.settle(now);
        let settle_ms = self.config.settle.as_nanos() / NANOS_PER_MILLI;
        let over_ms = (wall.0 / NANOS_PER_MILLI).saturating_sub(settle_ms);
        let oldest = self.targets.iter().filter_map(|one| one.probes.front()).map(|probe| probe.end_ms).min();
        while let Some(entry) = self.open.first_entry() {
            let end_ms = *entry.key();
            if end_ms > over_ms || oldest.is_some_and(|oldest| oldest <= end_ms) {
                return;
            }
            let windows = entry.remove();
            self.close(end_ms, &windows, take);
        }
    }
    /// Passes the counts so far to `take`, at the end. Probes without an outcome are left out.
    pub fn finish(&mut self, now: Time, wall: WallTime, take: &mut dyn FnMut(u64, &[Counted])) {
        self.settle(now);
        let now_ms = wall.0 / NANOS_PER_MILLI;
        for (end_ms, windows) in core::mem::take(&mut self.open) {
            self.close(end_ms.min(now_ms), &windows, take);
        }
    }
    /// The end of the period at a time. If the clock was set back, that of the period after the
    /// last complete one, because times that were sent are not sent again.
    fn end_of(&self, wall: WallTime) -> u64 {
        let interval_ms = (self.config.interval.as_nanos() / NANOS_PER_MILLI).max(1);
        let at_ms = (wall.0 / NANOS_PER_MILLI).max(self.closed_ms);
        (at_ms / interval_ms + 1) * interval_ms
    }
    fn window(&mut self, end_ms: u64, target: usize) -> Option<&mut Window> {
        let count = self.targets.len();
        let windows = self.open.entry(end_ms).or_insert_with(|| alloc::vec![Window::default(); count]);
        windows.get_mut(target)
    }
    fn add(&mut self, end_ms: u64, target: usize, outcome: Outcome) {
        if let Some(window) = self.window(end_ms, target) {
            window.add(Code::of(outcome));
        }
    }
    /// Counts the probes as lost that had no reply in time.
    fn settle(&mut self, now: Time) {
        let settle = self.config.settle;
        for target in 0..self.targets.len() {
            let is_old = |probe: &SentProbe| now.saturating_since(probe.at) >= settle;
            while let Some(old) = self.targets.get_mut(target).and_then(|one| pop_if(&mut one.probes, is_old))
            {
                if !old.has_outcome {
                    self.add(old.end_ms, target, Outcome::Lost);
                }
            }
        }
    }
    fn close(&mut self, at_ms: u64, windows: &[Window], take: &mut dyn FnMut(u64, &[Counted])) {
        self.targets.iter_mut().zip(windows).for_each(|(one, window)| one.total.merge(window));
        if at_ms <= self.closed_ms {
            return;
        }
        self.closed_ms = at_ms;
        let zero = (!self.has_points).then(|| (self.since_ms, Some(Window::default())));
        self.has_points = true;
        let point = |(target, one): (usize, &Target)| Counted {
            target,
            points: zero.iter().cloned().chain([(at_ms, Some(one.total.clone()))]).collect(),
        };
        let all: Vec<Counted> = self.targets.iter().enumerate().map(point).collect();
        take(at_ms, &all);
    }
}

fn pop_if(probes: &mut VecDeque<SentProbe>, is_old: impl Fn(&SentProbe) -> bool) -> Option<SentProbe> {
    if probes.front().is_some_and(is_old) { probes.pop_front() } else { None }
}
