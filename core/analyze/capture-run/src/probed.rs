//! Converts queues that probes showed, and UDP flows.
use crate::flow::socket;
use alloc::string::ToString;
use alloc::vec::Vec;
use fathom_bottleneck::{ProbedQueue, Queues};
use fathom_run::{
    CapturedProbes, CapturedQueue, DatagramFlow, DatagramLoad, DelayPercentiles, DelayedFlows, DelayedParty,
    Estimate, ProbedDelay, QueuePlace,
};

const NS: f64 = 1e9;

/// UDP flows, the largest first; at most `max`.
pub(crate) fn flows(queues: &Queues, max: usize) -> Vec<DatagramFlow> {
    let flow = |flow: &fathom_bottleneck::DatagramFlow| DatagramFlow {
        program: None,
        from: socket(flow.ends[0]),
        to: socket(flow.ends[1]),
        packets: flow.packets,
        ip_bytes: flow.ip_bytes,
        start_s: flow.first_ns.max(0.0) / NS,
        duration_s: (flow.last_ns - flow.first_ns).max(0.0) / NS,
    };
    queues.datagrams.iter().take(max).map(flow).collect()
}

pub(crate) fn captured(queue: &ProbedQueue) -> CapturedQueue {
    let [from, to] = queue.ends.map(|address| address.to_string());
    let standing = queue.standing;
    let load = |load: &fathom_bottleneck::DatagramLoad| DatagramLoad {
        program: None,
        from: socket(load.ends[0]),
        to: socket(load.ends[1]),
        bits_per_second: load.bits_per_second,
        bytes_ratio: load.bytes_ratio,
        is_arriving: load.is_arriving,
    };
    let waited = |ends: &[(fathom_capture::Address, u16); 2]| DelayedFlows {
        who: DelayedParty::Datagrams { from: socket(ends[0]), to: socket(ends[1]) },
        added_p95_s: standing.p95_ns / NS,
    };
    let probes = CapturedProbes {
        kind: queue.kind,
        from: from.clone(),
        to: to.clone(),
        answers: queue.answers,
        unanswered: queue.unanswered,
        min_s: queue.base_ns / NS,
        max_s: (queue.base_ns + queue.max_ns) / NS,
        added_p95_s: standing.p95_ns / NS,
    };
    let reached = |rate: Estimate| Estimate {
        value: rate.value * queue.max_ns / NS / 8.0,
        error: rate.error * queue.max_ns / NS / 8.0,
    };
    let rate = queue.rate.map(|rate| Estimate {
        value: rate.frame_bits_per_second,
        error: rate.frame_bits_per_second * rate.ip.error_ratio,
    });
    CapturedQueue {
        place: QueuePlace::RoundTrip,
        from: from.clone(),
        to: to.clone(),
        delay: DelayPercentiles {
            p5_s: standing.p5_ns / NS,
            median_s: standing.p50_ns / NS,
            p90_s: standing.p90_ns / NS,
            p95_s: standing.p95_ns / NS,
            max_s: queue.max_ns / NS,
        },
        elsewhere: Vec::new(),
        base_rtt_s: queue.is_base_idle.then_some(queue.base_ns / NS),
        rate_bits_per_second: rate,
        buffer_bytes: rate.map(reached),
        was_full: false,
        lost_packets: 0,
        marked_packets: 0,
        episodes: 0,
        delay_at_loss: None,
        management: None,
        swing: None,
        filled_by: Vec::new(),
        delayed: queue.others.iter().map(waited).collect(),
        probes: Vec::from([probes]),
        probed: Some(ProbedDelay {
            kind: queue.kind,
            from,
            to,
            min_s: queue.base_ns / NS,
            unanswered: queue.unanswered,
            is_base_idle: queue.is_base_idle,
            loads: queue.loads.iter().map(load).collect(),
        }),
        samples: queue.answers,
        frames: Vec::new(),
        alternatives: Vec::new(),
    }
}
