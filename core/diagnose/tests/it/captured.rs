//! Captures in words: those of the seed's upload, and what is missing.
use crate::line::MANAGED;
use crate::upload::upload;
use fathom_diagnose::{Diagnosis, FindingKind, Health, diagnose};
use fathom_metric::{Capture, Run};

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
            "ICMP echo of 10.7.0.1 waited 990 ms longer because of it (one moment in twenty), and one more waited.",
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
fn a_short_queue_is_healthy_and_none_is_no_verdict() {
    let mut short = upload();
    short.queues[0].delay_s = [0.001, 0.004, 0.012, 0.03];
    let healthy = of(short);
    assert_eq!((healthy.health, healthy.findings[0].kind), (Health::Healthy, FindingKind::LowLatency));
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
