//! Captures in words: those of the seed's upload, and what is missing.
use crate::line::MANAGED;
use crate::upload::{delayed, probes, upload};
use fathom_diagnose::{Diagnosis, FindingKind, Health, diagnose};
use fathom_run::{
    Capture, DelayPercentiles, Estimate, ManagementEstimate, ProbeKind, QueueManagement, Retransmissions,
    Run, UnknownQueue, UnknownReason,
};

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
            "The link behind it carries 9.99 Mbit/s (within 0.2 %); the buffer holds 1.25 MB (within 0.8 %), which take 999 ms to drain.",
            "It drops only when it is full: nobody manages it. 547 losses in 10 episodes. Packets were lost at 997 ms to 999 ms of delay.",
            "It swings every 11 s: that is CUBIC, which would take 8.5 s here.",
            "Flow 1 (10.7.0.1:40001 to 10.7.0.2:5202) waited 980 ms longer because of it (one moment in twenty), and one more waited.",
            "1,128 ICMP echoes from 10.7.0.1 to 10.7.0.2 took up to 1,005 ms meanwhile (10 ms without the queue). 3 in the whole capture had no answer.",
            "Between snd.pcap and rcv.pcap 548 packets were lost (0.5 %).",
            "Between snd.pcap and rcv.pcap packets are marked anew: DSCP 10 ECT(0) to DSCP 0 Not-ECT in 17 packets.",
            "Flow 2 (10.7.0.1:40000 to 10.7.0.2:5201) sent 547 segments again, 0.5 %: 545 after duplicate or selective acknowledgements, 2 by timeout.",
            "snd.pcap: 3 packets were lost by the capture itself.",
        ]
    );
    let frames = d.findings[0].evidence.iter().filter(|e| e.unit == "frame").map(|e| e.value);
    assert_eq!(frames.collect::<Vec<_>>(), [1234.0, 5678.0]);
}

#[test]
fn what_several_captures_are_to_each_other() {
    let mut path = upload();
    let [hop] = path.hops.as_mut_slice() else { panic!() };
    hop.captures = ["lan", "wan"].map(String::from);
    (hop.lost_packets, hop.uncaptured_packets, hop.appeared_packets) = (1, 2, 1);
    (hop.unjudged_packets, hop.translated_flows) = (40_000, 3);
    (hop.reordered_packets, hop.duplicated_packets, hop.is_clock_set) = (7, 1, true);
    hop.remarked.clear();
    let mut back = hop.clone();
    back.captures.reverse();
    (back.lost_packets, back.uncaptured_packets, back.appeared_packets) = (0, 0, 0);
    (back.unjudged_packets, back.reordered_packets, back.is_clock_set) = (0, 0, false);
    path.hops.push(back);
    let d = of(path);
    let of_path = texts(&d).into_iter().filter(|text| text.contains("lan") || text.starts_with("wan"));
    assert_eq!(
        of_path.collect::<Vec<_>>(),
        [
            "Between lan and wan 1 packet was lost (0.0 %).",
            "Between lan and wan 7 packets came after later ones of their flow, and 1 packet came twice.",
            "Between lan and wan a clock was set while the captures ran: no delay between them is told.",
            "wan lacks 2 packets that a capture behind it has: wan missed them, the network did not lose them.",
            "wan has 1 packet on the way from lan that lan lacks: lan missed it, or it came from between.",
            "Between lan and wan it is not told what became of 40,000 packets: wan did not run when they would have passed it.",
            "Between wan and lan 1 packet came twice.",
            "Between lan and wan a NAT rewrites addresses or ports of 3 flows, whose packets are matched by what they hold.",
        ]
    );
}

#[test]
fn what_was_asked_meanwhile_is_told_with_its_doubts() {
    let kinds = [
        (ProbeKind::Dns, 1, "1 DNS query from 10.7.0.1 to 10.7.0.2 took up to 915 ms", Some("resolver")),
        (ProbeKind::QuicHandshake, 2, "2 QUIC handshakes from", None),
        (ProbeKind::QuicSpin, 9, "9 turns of QUIC's spin bit from", Some("as it likes")),
    ];
    for (kind, answers, words, unless) in kinds {
        let mut asked = upload();
        asked.queues[0].probes = vec![probes(kind, answers, 0.9)];
        let d = of(asked);
        let finding = d.findings.iter().find(|finding| finding.text.starts_with(words)).unwrap();
        assert_eq!(finding.kind, FindingKind::Victims);
        assert_eq!(
            finding.alternatives.first().map(|text| text.contains(unless.unwrap_or("?"))),
            unless.map(|_| true)
        );
    }
}

/// A buffer that was never seen full may hold more.
#[test]
fn a_buffer_with_room_left_holds_at_least_what_was_seen() {
    let mut capture = upload();
    capture.queues[0].was_full = false;
    let told = of(capture);
    assert!(told.headline.contains("of at least 1.25 MB"), "{}", told.headline);
    assert!(texts(&told).iter().any(|text| text.contains("the buffer holds at least 1.25 MB")));
}

/// What manages the queue is in the headline only if that is likely.
#[test]
fn what_is_barely_possible_is_no_name() {
    for (sure, named) in [(0.9, true), (0.4, false)] {
        let mut capture = upload();
        let kind = QueueManagement::TailDrop;
        capture.queues[0].management = Some(ManagementEstimate { kind, confidence_ratio: sure });
        let headline = of(capture).headline;
        assert_eq!(headline.contains("first-in-first-out"), named, "{headline}");
        assert!(headline.contains("a buffer of about 1.25 MB") != named, "{headline}");
    }
}

#[test]
fn who_waits_behind_single_packets_is_no_victim() {
    let mut fair = upload();
    fair.queues[0].delayed = vec![delayed(1, None, 0.012)];
    fair.queues[0].probes.clear();
    assert!(of(fair).findings.iter().all(|finding| finding.kind != FindingKind::Victims));
}

#[test]
fn one_is_not_several() {
    let mut one = upload();
    (one.queues[0].lost_packets, one.queues[0].episodes) = (1, 1);
    one.queues[0].rate_bits_per_second = Some(Estimate { value: 1e7, error: 10.0 });
    one.flows[0].sent[0].retransmissions = Retransmissions { fast_packets: 1, ..Retransmissions::default() };
    let d = of(one);
    for words in [" 1 loss in 1 episode.", " sent 1 segment again", "10.0 Mbit/s (within 0.1 %)"] {
        assert!(texts(&d).iter().any(|text| text.contains(words)), "{words}: {:?}", texts(&d));
    }
}

#[test]
fn a_short_queue_is_healthy_and_none_is_no_verdict() {
    let mut short = upload();
    short.queues[0].delay =
        DelayPercentiles { p5_s: 0.001, median_s: 0.004, p90_s: 0.01, p95_s: 0.012, max_s: 0.03 };
    let healthy = of(short);
    assert_eq!((healthy.health, healthy.findings[0].kind), (Health::Healthy, FindingKind::LowLatency));
    let none = Capture {
        queues: Vec::new(),
        unknown: vec![UnknownQueue { flow: 2, reason: UnknownReason::NoTimestamps }],
        ..upload()
    };
    let d = of(none);
    assert_eq!(d.health, Health::Inconclusive);
    assert_eq!(d.headline, "No verdict: none of the 3 TCP flows in this capture tells of a queue.");
    assert_eq!(
        d.verdict,
        ["The location of flow 2's queueing delay cannot be determined: it has no TCP timestamps."]
    );
}

/// The threshold is that of the 90th percentile: what one moment in twenty brings is above it sooner.
#[test]
fn a_queue_is_bloated_by_its_median_or_its_90th_percentile() {
    for (median_s, p90_s, p95_s, health) in [
        (0.03, 0.15, 0.45, Health::Healthy),
        (0.03, 0.25, 0.45, Health::Bloated),
        (0.07, 0.08, 0.09, Health::Bloated),
    ] {
        let mut capture = upload();
        capture.queues[0].delay = DelayPercentiles { p5_s: 0.001, median_s, p90_s, p95_s, max_s: 0.5 };
        assert_eq!(of(capture).health, health, "{median_s} {p90_s}");
    }
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
