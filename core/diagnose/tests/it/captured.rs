//! Captures in words: those of the seed's upload, and what is missing.
use crate::line::MANAGED;
use fathom_diagnose::{Diagnosis, FindingKind, Health, diagnose};
use fathom_metric::{
    Capture, CaptureSource, CapturedFlow, CapturedQueue, CapturedSide, Estimate, QueueManagement, QueuePlace,
    Retransmissions, Run, Swing,
};

/// 10 Mbit/s behind 1.25 MB, 10 ms away, seen at the sender.
fn upload() -> Capture {
    let sent = CapturedSide {
        packets: 100_000,
        payload_bytes: 147_000_000,
        retransmissions: Retransmissions {
            fast_packets: 545,
            timeout_packets: 2,
            ..Retransmissions::default()
        },
        ..CapturedSide::default()
    };
    let flow = CapturedFlow {
        number: 2,
        ends: ["10.7.0.1:40000", "10.7.0.2:5201"].map(String::from),
        sent: [sent, CapturedSide::default()],
        ..CapturedFlow::default()
    };
    let queue = CapturedQueue {
        place: QueuePlace::AfterCapture,
        from: "10.7.0.1".into(),
        to: "10.7.0.2".into(),
        delay_s: [0.6, 0.865, 0.998, 1.03],
        elsewhere_s: vec![("inside the sender".into(), 0.001), ("on the way back".into(), 0.0028)],
        base_rtt_s: Some(0.0103),
        rate_bits_per_second: Some(Estimate { value: 9.99e6, error: 0.02e6 }),
        buffer_bytes: Some(Estimate { value: 1.247e6, error: 0.01e6 }),
        lost_packets: 547,
        marked_packets: 0,
        episodes: 10,
        delay_at_loss_s: Some([0.997, 0.998, 0.999]),
        management: Some((QueueManagement::TailDrop, 0.97)),
        swing: Some(Swing { period_s: 11.3, control: Some("CUBIC".into()), predicted_s: Some(8.5) }),
        filled_by: vec![(2, 0.99)],
        suffered: vec![("ICMP echo of 10.7.0.1".into(), 0.99), ("flow 1".into(), 0.98)],
        samples: 43_141,
        frames: vec![1234, 5678],
        because: vec!["A download at the same time that loads the way back.".into()],
    };
    let source = CaptureSource {
        name: "snd.pcap".into(),
        frames: 162_790,
        defects: vec!["3 packets were lost by the capture itself.".into()],
        ..CaptureSource::default()
    };
    Capture {
        sources: vec![source],
        flow_count: 3,
        flows: vec![flow],
        queues: vec![queue],
        unknown: Vec::new(),
    }
}

fn of(capture: Capture) -> Diagnosis {
    diagnose(&Run {
        capture: Some(Box::new(capture)),
        phases: Vec::new(),
        series: Vec::new(),
        ..MANAGED.run()
    })
}

fn texts(d: &Diagnosis) -> Vec<&str> {
    d.findings.iter().map(|finding| finding.text.as_str()).collect()
}

#[test]
fn the_upload_of_the_seed() {
    let d = of(upload());
    assert_eq!(d.health, Health::Bloated);
    assert_eq!(
        d.headline,
        "One transfer (10.7.0.1:40000 to 10.7.0.2:5201, 147 MB) filled a first-in-first-out buffer of about 1.25 MB in front of a \
         link of 9.99 Mbit/s: whatever came behind waited 865 ms in the middle, 998 ms for one packet in twenty."
    );
    assert_eq!(
        d.verdict,
        [
            "The path itself takes 10 ms there and back, 85 times less than under this load.",
            "The queue is between the point of capture and 10.7.0.2, on the way from 10.7.0.1.",
            "A queue of 20 ms would need only 25.0 kB. To try: shape to 9.49 Mbit/s just before it, with CAKE or fq_codel; then capture again.",
        ]
    );
    assert_eq!(
        texts(&d)[1..],
        [
            "The link behind it carries 9.99 Mbit/s (± 0.2 %); the buffer holds 1.25 MB (± 0.8 %), which take 999 ms to drain.",
            "It drops only when it is full: nobody manages it. 547 losses in 10 episodes. Packets were lost at 997 ms to 999 ms of delay.",
            "It swings every 11 s: that is CUBIC, which would take 8.5 s here.",
            "ICMP echo of 10.7.0.1 waited 990 ms longer because of it (one moment in twenty), and one more waited.",
            "Flow 2 (10.7.0.1:40000 to 10.7.0.2:5201) sent 547 segments again, 0.5 %: 545 after duplicate or selective acknowledgements, 2 by timeout.",
            "snd.pcap: 3 packets were lost by the capture itself.",
        ]
    );
    let frames = d.findings[0].evidence.iter().filter(|e| e.unit == "frame").map(|e| e.value);
    assert_eq!(frames.collect::<Vec<_>>(), [1234.0, 5678.0]);
}

#[test]
fn a_short_queue_is_healthy_and_none_is_no_verdict() {
    let mut short = upload();
    short.queues[0].delay_s = [0.001, 0.004, 0.012, 0.03];
    let d = of(short);
    assert_eq!((d.health, d.findings[0].kind), (Health::Healthy, FindingKind::LowLatency));
    let none = Capture { queues: Vec::new(), unknown: vec!["Flow 2 has no timestamps.".into()], ..upload() };
    let d = of(none);
    assert_eq!(d.health, Health::Inconclusive);
    assert_eq!(d.headline, "No verdict: none of the 3 TCP flows in this capture tells of a queue.");
    assert_eq!(d.verdict, ["Flow 2 has no timestamps."]);
}

#[test]
fn without_a_base_it_says_so() {
    let mut relative = upload();
    relative.queues[0].base_rtt_s = None;
    let d = of(relative);
    assert!(
        d.findings[0].alternatives.iter().any(|text| text.contains("never seen empty")),
        "{:?}",
        d.findings[0]
    );
    assert_eq!(d.verdict.len(), 2);
}
