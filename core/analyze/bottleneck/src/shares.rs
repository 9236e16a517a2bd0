//! Flows that filled the queue, and flows that waited in it.
use alloc::vec::Vec;
use fathom_capture::Address;
use fathom_flow::{FlowId, ProbeKind};
use fathom_stats::percentile;

/// Share of a flow in a queue.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowShare {
    /// The flow.
    pub flow: FlowId,
    /// Share of the bytes that passed while the queue was present.
    pub passed_ratio: f64,
    /// Mean number of its bytes in the queue. In a shared queue, a flow that sends a tenth of the
    /// traffic holds a tenth of the queue.
    pub queued_bytes: f64,
    /// Maximum number of its bytes in the queue.
    pub max_queued_bytes: f64,
    /// Its bytes in the queue over time, with times in ns since the start of the capture.
    pub over_time: Vec<(f64, f64)>,
}

/// A flow that waited in the queue without filling it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DelayedFlow {
    /// The flow.
    pub flow: FlowId,
    /// Number of intervals with a round-trip time while the queue was present.
    pub round_trips: u64,
    /// Median delay that the queue added to its round-trip time, ns.
    pub added_p50_ns: f64,
    /// 95th percentile of that delay, ns.
    pub added_p95_ns: f64,
}

/// Flows of a few packets, which show the effect of a queue on a handshake.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShortFlows {
    /// Number of flows.
    pub count: u64,
    /// Median delay added to the first round trip, relative to the minimum of the path, ns.
    pub added_p50_ns: f64,
    /// 95th percentile of that delay, ns.
    pub added_p95_ns: f64,
}

/// Intervals with a queue, in at most [`POINTS`] groups, with the traffic of all flows.
#[derive(Clone, Debug, Default)]
pub(crate) struct StandingQueue {
    /// Number of each interval with a queue, and its group.
    groups: Vec<(u32, u32)>,
    /// Center (ns), delay (ns) and bytes of each group.
    all: Vec<(f64, f64, f64)>,
}

/// Maximum number of points of a share over time.
const POINTS: usize = 256;
/// Number of flows with a share over time; the others hold little.
pub(crate) const DETAILED: usize = 64;

impl StandingQueue {
    /// Creates it from intervals: number, center (ns), delay (ns) and bytes.
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
    /// The group of an interval; earlier ones are removed from `groups`.
    fn group(groups: &mut &[(u32, u32)], number: u32) -> Option<usize> {
        while let [first, rest @ ..] = *groups
            && first.0 < number
        {
            *groups = rest;
        }
        groups.first().filter(|first| first.0 == number).map(|first| first.1 as usize)
    }
    /// Index and bytes of a flow for each group, from its bytes per interval in order.
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
    /// Bytes in the queue during a group, of a flow with this traffic.
    fn queued(&self, (group, bytes): (usize, f64), bytes_per_ns: f64) -> f64 {
        self.all.get(group).map_or(0.0, |(_, delay, all)| bytes / all.max(1.0) * delay * bytes_per_ns)
    }
    /// Share of a flow at a bottleneck with this rate, without its time series.
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
    /// Bytes of a flow in the queue over time: ns, bytes.
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

/// Requests and responses of protocols other than TCP that waited in the queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LateProbes {
    /// Client and server.
    pub ends: [Address; 2],
    /// Kind of request.
    pub kind: ProbeKind,
    /// Number of responses while the queue was present.
    pub answers: u64,
    /// Minimum response time in the whole capture, ns.
    pub min_ns: f64,
    /// Maximum response time while the queue was present, ns.
    pub max_ns: f64,
    /// Number of requests without a response in the whole capture.
    pub unanswered: u64,
    /// Median delay added by the queue, ns.
    pub added_p50_ns: f64,
    /// 95th percentile of that delay, ns.
    pub added_p95_ns: f64,
}

/// Number, median and 95th percentile of added delays, ns.
pub(crate) fn added(mut added: Vec<f64>) -> Option<(u64, f64, f64)> {
    Some((added.len() as u64, percentile(&mut added, 0.5)?, percentile(&mut added, 0.95)?))
}
