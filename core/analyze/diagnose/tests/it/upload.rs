//! Results of a capture of a bloated upload.
use fathom_run::{
    Capture, CaptureDefect, CaptureSource, CapturedAnswers, CapturedFlow, CapturedHop, CapturedProbes,
    CapturedQueue, CapturedSide, DatagramFlow, DatagramLoad, DelayAtLoss, DelayPercentiles, DelayedFlows,
    DelayedParty, Estimate, FlowShare, HopDelay, IpMarking, Limits, ManagementEstimate, PartDelay,
    PartDirection, PathPart, ProbeKind, ProbedDelay, QueueAlternative, QueueManagement, QueuePlace,
    Remarking, Retransmissions, RoundTrips, Swing,
};

fn hop() -> CapturedHop {
    CapturedHop {
        captures: ["snd.pcap", "rcv.pcap"].map(String::from),
        matched_packets: 102_000,
        lost_packets: 548,
        lost_frames: vec![18193, 18210],
        min_delay_s: Some(Estimate { value: 0.0051, error: 0.0051 }),
        delay: Some(HopDelay { median_s: 0.866, p95_s: 0.999, max_s: 1.005 }),
        remarked: vec![Remarking {
            from: IpMarking { dscp: 10, ecn: 2 },
            to: IpMarking { dscp: 0, ecn: 0 },
            packets: 17,
        }],
        routers: Some(1),
        ..CapturedHop::default()
    }
}

/// Responses while the queue was present, and the delay it added.
pub(crate) fn probes(kind: ProbeKind, answers: u64, added_p95_s: f64) -> CapturedProbes {
    CapturedProbes {
        kind,
        from: "10.7.0.1".into(),
        to: "10.7.0.2".into(),
        answers,
        unanswered: 3,
        min_s: 0.0103,
        max_s: 0.015 + added_p95_s,
        added_p95_s,
    }
}

fn part(host: &str, direction: PartDirection, p95_s: f64) -> PartDelay {
    PartDelay { part: PathPart { host: host.into(), direction }, p95_s }
}

/// A capture of UDP that fills a queue, or of one that does not.
pub(crate) fn datagrams(delay: DelayPercentiles, loads: Vec<DatagramLoad>) -> Capture {
    let flow = DatagramFlow {
        program: None,
        from: "10.7.0.1:40000".into(),
        to: "10.7.0.2:5001".into(),
        packets: 3536,
        ip_bytes: 4_950_400,
        start_s: 4.0,
        duration_s: 12.0,
    };
    let mut capture = upload();
    let mut queue = capture.queues.remove(0);
    queue.probes = vec![probes(ProbeKind::Echo, 119, delay.p95_s)];
    queue = CapturedQueue {
        place: QueuePlace::RoundTrip,
        delay,
        elsewhere: Vec::new(),
        rate_bits_per_second: None,
        buffer_bytes: None,
        was_full: false,
        lost_packets: 0,
        episodes: 0,
        delay_at_loss: None,
        management: None,
        swing: None,
        filled_by: Vec::new(),
        delayed: Vec::new(),
        probed: Some(ProbedDelay {
            kind: ProbeKind::Echo,
            from: "10.7.0.1".into(),
            to: "10.7.0.2".into(),
            min_s: 0.012,
            unanswered: 3,
            is_base_idle: true,
            loads,
        }),
        samples: 119,
        alternatives: Vec::new(),
        ..queue
    };
    Capture {
        flow_count: 0,
        flows: Vec::new(),
        hops: Vec::new(),
        datagrams: vec![flow],
        queues: vec![queue],
        ..capture
    }
}

/// The UDP flow of such a capture.
pub(crate) fn datagram_load(is_arriving: bool) -> DatagramLoad {
    DatagramLoad {
        program: None,
        from: "10.7.0.1:40000".into(),
        to: "10.7.0.2:5001".into(),
        bits_per_second: 3.3e6,
        bytes_ratio: 0.97,
        is_arriving,
    }
}

/// Delays of a queue of a second.
pub(crate) const SECOND: DelayPercentiles =
    DelayPercentiles { p5_s: 0.05, median_s: 0.836, p90_s: 0.92, p95_s: 0.924, max_s: 0.93 };

/// A flow that waited without filling the queue.
pub(crate) fn delayed(number: u32, ends: Option<[&str; 2]>, added_p95_s: f64) -> DelayedFlows {
    let ends = ends.map(|ends| ends.map(String::from));
    DelayedFlows { who: DelayedParty::Flow { number, ends }, added_p95_s }
}

/// 10 Mbit/s behind 1.25 MB, 10 ms away, captured at the sender.
pub(crate) fn upload() -> Capture {
    let sent = CapturedSide {
        packets: 100_000,
        payload_bytes: 147_000_000,
        goodput_bits_per_second: Some(9.55e6),
        rtt: Some(RoundTrips { count: 43_141, min_s: 0.0103, p50_s: 0.875, p95_s: 1.01, max_s: 1.04 }),
        limits: Some(Limits { window_ratio: 0.0, congestion_ratio: 0.98, application_ratio: 0.02 }),
        retransmissions: Retransmissions {
            fast_packets: 545,
            timeout_packets: 2,
            ..Retransmissions::default()
        },
        ..CapturedSide::default()
    };
    let flow = CapturedFlow {
        program: None,
        number: 2,
        ends: ["10.7.0.1:40000", "10.7.0.2:5201"].map(String::from),
        sent: [sent, CapturedSide::default()],
        ..CapturedFlow::default()
    };
    let queue = CapturedQueue {
        place: QueuePlace::AfterCapture,
        from: "10.7.0.1".into(),
        to: "10.7.0.2".into(),
        delay: DelayPercentiles { p5_s: 0.6, median_s: 0.865, p90_s: 0.99, p95_s: 0.998, max_s: 1.03 },
        elsewhere: vec![
            part("10.7.0.1", PartDirection::ToCapture, 0.001),
            part("10.7.0.2", PartDirection::ToCapture, 0.0028),
        ],
        base_rtt_s: Some(0.0103),
        rate_bits_per_second: Some(Estimate { value: 9.99e6, error: 0.02e6 }),
        buffer_bytes: Some(Estimate { value: 1.247e6, error: 0.01e6 }),
        was_full: true,
        lost_packets: 547,
        marked_packets: 0,
        episodes: 10,
        delay_at_loss: Some(DelayAtLoss { p10_s: 0.997, median_s: 0.998, p90_s: 0.999 }),
        management: Some(ManagementEstimate { kind: QueueManagement::TailDrop, confidence_ratio: 0.97 }),
        swing: Some(Swing { period_s: 11.3, control: Some("CUBIC".into()), predicted_s: Some(8.5) }),
        filled_by: vec![FlowShare { flow: 2, bytes_ratio: 0.99 }],
        delayed: vec![delayed(1, Some(["10.7.0.1:40001", "10.7.0.2:5202"]), 0.98), delayed(3, None, 0.9)],
        probes: vec![probes(ProbeKind::Echo, 1128, 0.99), probes(ProbeKind::Dns, 39, 0.01)],
        probed: None,
        samples: 43_141,
        frames: vec![1234, 5678],
        alternatives: vec![QueueAlternative::AcknowledgedElsewhere],
    };
    let source = CaptureSource {
        name: "snd.pcap".into(),
        frames: 162_790,
        wire_bytes: 155_000_000,
        duration_s: 130.4,
        defects: vec![CaptureDefect::Text { text: "3 packets were lost by the capture itself.".into() }],
        ..CaptureSource::default()
    };
    Capture {
        sources: vec![source],
        flow_count: 3,
        hops: vec![hop()],
        flows: vec![flow],
        datagrams: Vec::new(),
        answers: vec![CapturedAnswers {
            kind: ProbeKind::Echo,
            asked: 1292,
            unanswered: 3,
            rtt: Some(RoundTrips { count: 1289, min_s: 0.0103, p50_s: 0.865, p95_s: 1.0, max_s: 1.046 }),
        }],
        queues: vec![queue],
        unknown: Vec::new(),
    }
}
