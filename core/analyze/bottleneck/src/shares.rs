//! Who filled the queue, and who waited in it.
use alloc::vec::Vec;
use fathom_capture::Address;
use fathom_flow::{FlowId, ProbeKind};
use fathom_stats::percentile;

/// What one flow had in a queue that it shared.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowShare {
    /// The flow.
    pub flow: FlowId,
    /// Its share of the bytes that passed while the queue stood.
    pub passed_ratio: f64,
    /// Its bytes in the queue on average over that time: in a queue that all share, who sends a tenth holds a tenth.
    pub queued_bytes: f64,
    /// The most of them.
    pub max_queued_bytes: f64,
    /// Over time: when (ns since the capture began), and its bytes in the queue.
    pub over_time: Vec<(f64, f64)>,
}

/// A flow that waited without having filled the queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DelayedFlow {
    /// The flow.
    pub flow: FlowId,
    /// In how many short times its round trips were seen while the queue stood.
    pub round_trips: u64,
    /// What the queue added to its round trips: median, ns.
    pub added_p50_ns: f64,
    /// 95th percentile.
    pub added_p95_ns: f64,
}

/// Flows of a few packets, which show what a queue does to a handshake.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShortFlows {
    /// How many.
    pub count: u64,
    /// What was added to the first round trip, above the least of the path: median, ns.
    pub added_p50_ns: f64,
    /// 95th percentile.
    pub added_p95_ns: f64,
}

/// Equal times while the queue stood, joined to [`POINTS`] at most: what all flows together passed in them, and the queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct StandingQueue {
    /// Number of each time with a queue, and the group that it belongs to.
    groups: Vec<(u32, u32)>,
    /// Middle (ns), delay (ns) and bytes of each group.
    all: Vec<(f64, f64, f64)>,
}

/// Points of a share over time.
const POINTS: usize = 256;
/// Flows whose share over time is told: the others hold little.
pub(crate) const DETAILED: usize = 64;

impl StandingQueue {
    /// Of times with their number, middle (ns), delay (ns) and bytes.
    pub(crate) fn new(times: &[(u32, f64, f64, f64)]) -> Self {
        let size = times.len().div_ceil(POINTS).max(1);
        let mut standing = StandingQueue::default();
        for (number, group) in times.chunks(size).enumerate() {
            let n = group.len() as f64;
            let sum = |of: fn(&(u32, f64, f64, f64)) -> f64| group.iter().map(of).sum::<f64>();
            standing.groups.extend(group.iter().map(|time| (time.0, number as u32)));
            standing.all.push((sum(|time| time.1) / n, sum(|time| time.2) / n, sum(|time| time.3)));
        }
        standing
    }
    /// The group of a time; those before it are taken off `groups`.
    fn group(groups: &mut &[(u32, u32)], number: u32) -> Option<usize> {
        while let [first, rest @ ..] = *groups
            && first.0 < number
        {
            *groups = rest;
        }
        groups.first().filter(|first| first.0 == number).map(|first| first.1 as usize)
    }
    /// What a flow which passed `passed` (number of the time, bytes; in order) passed in each group: its place, and the bytes.
    fn passed(&self, passed: impl Iterator<Item = (u32, f64)>) -> Vec<(usize, f64)> {
        let mut groups: Vec<(usize, f64)> = Vec::new();
        let mut rest = self.groups.as_slice();
        for (number, bytes) in passed {
            let Some(group) = StandingQueue::group(&mut rest, number) else { continue };
            match groups.last_mut().filter(|last| last.0 == group) {
                Some(last) => last.1 += bytes,
                None => groups.push((group, bytes)),
            }
        }
        groups
    }
    /// Bytes in the queue in a group, of who passed `bytes`.
    fn queued(&self, (group, bytes): (usize, f64), bytes_per_ns: f64) -> f64 {
        self.all.get(group).map_or(0.0, |(_, delay, all)| bytes / all.max(1.0) * delay * bytes_per_ns)
    }
    /// The share of a flow, before a bottleneck of `bytes_per_ns`; not yet over time.
    pub(crate) fn share(
        &self,
        flow: FlowId,
        passed: impl Iterator<Item = (u32, f64)>,
        bytes_per_ns: f64,
    ) -> FlowShare {
        let own = self.passed(passed);
        let queued = |part: &(usize, f64)| self.queued(*part, bytes_per_ns);
        let total: f64 = self.all.iter().map(|group| group.2).sum();
        FlowShare {
            flow,
            passed_ratio: own.iter().map(|part| part.1).sum::<f64>() / total.max(1.0),
            queued_bytes: own.iter().map(queued).sum::<f64>() / self.all.len().max(1) as f64,
            max_queued_bytes: own.iter().map(queued).fold(0.0, f64::max),
            over_time: Vec::new(),
        }
    }
    /// What a flow had in the queue over time: ns, bytes.
    pub(crate) fn over_time(
        &self,
        passed: impl Iterator<Item = (u32, f64)>,
        bytes_per_ns: f64,
    ) -> Vec<(f64, f64)> {
        let mut over_time: Vec<(f64, f64)> = self.all.iter().map(|group| (group.0, 0.0)).collect();
        for part in self.passed(passed) {
            if let Some(point) = over_time.get_mut(part.0) {
                point.1 = self.queued(part, bytes_per_ns);
            }
        }
        over_time
    }
}

/// Questions and answers outside TCP that waited in the queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LateProbes {
    /// Who asked, and who was asked.
    pub ends: [Address; 2],
    /// How.
    pub kind: ProbeKind,
    /// Answers that came while the queue stood.
    pub answers: u64,
    /// The least that an answer took in the whole capture, ns.
    pub min_ns: f64,
    /// The most that one took while the queue stood, ns.
    pub max_ns: f64,
    /// Those without an answer in the whole capture.
    pub unanswered: u64,
    /// What the queue added: median, ns.
    pub added_p50_ns: f64,
    /// 95th percentile.
    pub added_p95_ns: f64,
}

/// Number, median and 95th percentile of what was added, ns.
pub(crate) fn added(mut added: Vec<f64>) -> Option<(u64, f64, f64)> {
    Some((added.len() as u64, percentile(&mut added, 0.5)?, percentile(&mut added, 0.95)?))
}
