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

/// What passed in equal times: for each, bytes of each flow, and the queue (ns).
#[derive(Clone, Debug)]
pub(crate) struct Passage {
    pub(crate) at_ns: f64,
    pub(crate) delay_ns: f64,
    /// By flow, in the order of the flows given.
    pub(crate) bytes: Vec<f64>,
}

/// Points of a share over time.
const POINTS: usize = 256;

/// Shares of `flows` in the queue before a bottleneck of `bytes_per_ns`.
pub(crate) fn shares(flows: &[FlowId], passages: &[Passage], bytes_per_ns: f64) -> Vec<Share> {
    let total: f64 = passages.iter().flat_map(|passage| passage.bytes.iter()).sum();
    let coarse = coarse(passages);
    let one = |(number, flow): (usize, &FlowId)| {
        let own: f64 = passages.iter().filter_map(|passage| passage.bytes.get(number)).sum();
        let queued = |passage: &Passage| {
            let all: f64 = passage.bytes.iter().sum();
            let part = passage.bytes.get(number).copied().unwrap_or(0.0) / all.max(1.0);
            (passage.at_ns, part * passage.delay_ns * bytes_per_ns)
        };
        let over_time: Vec<(f64, f64)> = coarse.iter().map(queued).collect();
        let sum: f64 = over_time.iter().map(|point| point.1).sum();
        Share {
            flow: *flow,
            passed_ratio: own / total.max(1.0),
            queued_bytes: sum / over_time.len().max(1) as f64,
            most_queued_bytes: over_time.iter().map(|point| point.1).fold(0.0, f64::max),
            over_time,
        }
    };
    flows.iter().enumerate().map(one).collect()
}

/// Neighbours joined, to [`POINTS`] at most.
fn coarse(passages: &[Passage]) -> Vec<Passage> {
    let size = passages.len().div_ceil(POINTS).max(1);
    let join = |group: &[Passage]| {
        let n = group.len() as f64;
        let flows = group.iter().map(|passage| passage.bytes.len()).max().unwrap_or(0);
        let bytes = |number| group.iter().filter_map(|passage: &Passage| passage.bytes.get(number)).sum();
        Passage {
            at_ns: group.iter().map(|passage| passage.at_ns).sum::<f64>() / n,
            delay_ns: group.iter().map(|passage| passage.delay_ns).sum::<f64>() / n,
            bytes: (0..flows).map(bytes).collect(),
        }
    };
    passages.chunks(size).map(join).collect()
}

/// Questions and answers outside TCP that waited in the queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LateProbes {
    /// Who asked, and who was asked.
    pub ends: [Address; 2],
    /// How.
    pub kind: ProbeKind,
    /// In how many short times answers were seen while the queue stood.
    pub answers: u64,
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
