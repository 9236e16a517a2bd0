//! Who filled the queue, and who waited in it.
use super::curve::percentile;
use crate::{FlowId, ProbeKind};
use alloc::vec::Vec;
use fathom_capture::Address;

/// What one flow had in a queue that it shared.
#[derive(Clone, PartialEq, Debug)]
pub struct Share {
    /// The flow.
    pub flow: FlowId,
    /// Its share of the bytes that passed while the queue stood.
    pub passed_ratio: f64,
    /// Its bytes in the queue on average over that time: in a queue that all share, who sends a tenth holds a tenth.
    pub queued_bytes: f64,
    /// The most of them.
    pub most_queued_bytes: f64,
    /// Over time: when (ns since the capture began), and its bytes in the queue.
    pub over_time: Vec<(f64, f64)>,
}

/// A flow that waited without having filled the queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Victim {
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
pub(crate) struct Standing {
    /// Number of each time with a queue, and the group that it belongs to.
    groups: Vec<(u32, u32)>,
    /// Middle (ns), delay (ns) and bytes of each group.
    all: Vec<(f64, f64, f64)>,
}

/// Points of a share over time.
const POINTS: usize = 256;
/// Flows whose share over time is told: the others hold little.
const DETAILED: usize = 64;

impl Standing {
    /// Of times with their number, middle (ns), delay (ns) and bytes.
    pub(crate) fn new(times: &[(u32, f64, f64, f64)]) -> Self {
        let size = times.len().div_ceil(POINTS).max(1);
        let mut standing = Standing::default();
        for (number, group) in times.chunks(size).enumerate() {
            let n = group.len() as f64;
            let sum = |of: fn(&(u32, f64, f64, f64)) -> f64| group.iter().map(of).sum::<f64>();
            standing.groups.extend(group.iter().map(|time| (time.0, number as u32)));
            standing.all.push((sum(|time| time.1) / n, sum(|time| time.2) / n, sum(|time| time.3)));
        }
        standing
    }
    fn group(&self, number: u32) -> Option<usize> {
        let at = self.groups.binary_search_by_key(&number, |group| group.0).ok()?;
        self.groups.get(at).map(|group| group.1 as usize)
    }
    /// The share of a flow which passed `passed` (number of the time, bytes), before a bottleneck of `bytes_per_ns`.
    pub(crate) fn share(
        &self,
        flow: FlowId,
        passed: impl Iterator<Item = (u32, f64)>,
        bytes_per_ns: f64,
    ) -> Share {
        let mut own = alloc::vec![0.0; self.all.len()];
        for (number, bytes) in passed {
            if let Some(sum) = self.group(number).and_then(|group| own.get_mut(group)) {
                *sum += bytes;
            }
        }
        let queued = |((at, delay, all), part): (&(f64, f64, f64), &f64)| {
            (*at, part / all.max(1.0) * delay * bytes_per_ns)
        };
        let over_time: Vec<(f64, f64)> = self.all.iter().zip(&own).map(queued).collect();
        let total: f64 = self.all.iter().map(|group| group.2).sum();
        let sum: f64 = over_time.iter().map(|point| point.1).sum();
        Share {
            flow,
            passed_ratio: own.iter().sum::<f64>() / total.max(1.0),
            queued_bytes: sum / over_time.len().max(1) as f64,
            most_queued_bytes: over_time.iter().map(|point| point.1).fold(0.0, f64::max),
            over_time,
        }
    }
}

/// The largest first; only of those is kept what they were over time.
pub(crate) fn largest(mut shares: Vec<Share>) -> Vec<Share> {
    shares.sort_by(|a, b| b.passed_ratio.total_cmp(&a.passed_ratio));
    shares.iter_mut().skip(DETAILED).for_each(|share| share.over_time = Vec::new());
    shares
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
    pub least_ns: f64,
    /// The most that one took while the queue stood, ns.
    pub most_ns: f64,
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
