//! Findings of captures: those of a bloated upload, and missing data.
use crate::hops::path;
use crate::line::MANAGED;
use crate::upload::{SECOND, datagram_load, datagrams, delayed, probes, upload};
use fathom_diagnose::{Diagnosis, Health, diagnose};
use fathom_run::{
    Alternative, Capture, Certainty, Conclusion, DelayPercentiles, Finding, FindingKind, InstrumentEffect,
    ManagementRule, ProbeKind, Reason, Remedy, Run,
};

fn of(capture: Capture) -> Diagnosis {
    diagnose(&Run {
        capture: Some(Box::new(capture)),
        phases: Vec::new(),
        series: Vec::new(),
        ..MANAGED.run()
    })
}

fn kinds(d: &Diagnosis) -> Vec<FindingKind> {
    d.findings.iter().map(Finding::kind).collect()
}

#[test]
fn the_upload_of_the_seed() {
    let d = of(upload());
    assert_eq!(d.health, Health::Bloated);
    assert_eq!(
        kinds(&d),
        [
            FindingKind::QueueDelay,
            FindingKind::Bottleneck,
            FindingKind::QueueManagement,
            FindingKind::Oscillation,
            FindingKind::DelayedFlows,
            FindingKind::DelayedProbes,
            FindingKind::PathLoss,
            FindingKind::Remarking,
            FindingKind::Retransmission,
            FindingKind::Instrument,
        ]
    );
    let Conclusion::QueueDelay(delay) = &d.findings[0].conclusion else { panic!("{:?}", d.findings[0]) };
    assert_eq!((delay.delay_p50_s, delay.delay_p95_s, delay.is_bloated), (0.865, 0.998, true));
    assert_eq!(d.findings[0].frames, [1234, 5678]);
    let Conclusion::Bottleneck(link) = &d.findings[1].conclusion else { panic!("{:?}", d.findings[1]) };
    assert!((link.rate_bits_per_second.value / 10e6 - 1.0).abs() < 0.002 && link.was_full, "{link:?}");
    let Conclusion::QueueManagement(managed) = &d.findings[2].conclusion else { panic!() };
    assert_eq!((managed.rule, managed.loss_count), (ManagementRule::TailDrop, 547));
    let [Remedy::Shape { min_bits_per_second: Some(min), max_bits_per_second: Some(max), .. }] = d.advice[..]
    else {
        panic!("{:?}", d.advice)
    };
    assert!((8.4e6..8.6e6).contains(&min) && (9.4e6..9.6e6).contains(&max), "{min} {max}");
}

#[test]
fn findings_between_several_captures() {
    let d = of(path());
    let effects: Vec<&InstrumentEffect> = d
        .findings
        .iter()
        .filter_map(|finding| match &finding.conclusion {
            Conclusion::Instrument(effect) => Some(effect),
            _ => None,
        })
        .collect();
    let captures = || ["lan", "wan"].map(String::from);
    let wanted = [
        InstrumentEffect::CaptureClockSet { captures: captures() },
        InstrumentEffect::CaptureMissed { captures: captures(), missed_packets: 2 },
        InstrumentEffect::CaptureAppeared { captures: captures(), appeared_packets: 1 },
        InstrumentEffect::CaptureUnjudged { captures: captures(), unjudged_packets: 40_000 },
        InstrumentEffect::Translated { captures: captures(), flow_count: 3 },
    ];
    assert_eq!(effects[..5], wanted.iter().collect::<Vec<_>>(), "a NAT once, though both directions pass it");
}

#[test]
fn delayed_responses_keep_their_alternatives() {
    let kinds = [
        (ProbeKind::Dns, 1, Some(Alternative::SlowResolver), Certainty::Likely),
        (ProbeKind::QuicHandshake, 2, None, Certainty::Likely),
        (ProbeKind::QuicSpin, 9, Some(Alternative::SpinBitUnreliable), Certainty::Possible),
    ];
    for (kind, answers, unless, certainty) in kinds {
        let mut asked = upload();
        asked.queues[0].probes = vec![probes(kind, answers, 0.9)];
        let d = of(asked);
        let finding = d.findings.iter().find(|f| f.kind() == FindingKind::DelayedProbes).unwrap();
        assert_eq!((finding.alternatives.first(), finding.certainty), (unless.as_ref(), certainty));
    }
}

/// A buffer that was never seen full may be larger.
#[test]
fn a_buffer_never_seen_full_is_a_lower_bound() {
    let mut capture = upload();
    capture.queues[0].was_full = false;
    assert_eq!(of(capture).findings[1].alternatives, [Alternative::NeverFull]);
}

#[test]
fn waiting_behind_single_packets_is_not_a_finding() {
    let mut fair = upload();
    fair.queues[0].delayed = vec![delayed(1, None, 0.012)];
    fair.queues[0].probes.clear();
    assert!(of(fair).findings.iter().all(|finding| finding.kind() != FindingKind::DelayedFlows));
}

#[test]
fn a_short_queue_is_healthy_and_no_queue_is_inconclusive() {
    let mut short = upload();
    short.queues[0].delay =
        DelayPercentiles { p5_s: 0.001, median_s: 0.004, p90_s: 0.01, p95_s: 0.012, max_s: 0.03 };
    let healthy = of(short);
    let Conclusion::QueueDelay(delay) = &healthy.findings[0].conclusion else { panic!() };
    assert_eq!((healthy.health, delay.is_bloated), (Health::Healthy, false));
    let none = Capture { queues: Vec::new(), ..upload() };
    let d = of(none);
    assert_eq!((d.health, d.reason), (Health::Inconclusive, Some(Reason::NoQueueSeen { flows: 3 })));
}

#[test]
fn probes_of_a_path_that_udp_fills_decide() {
    let d = of(datagrams(SECOND, vec![datagram_load(false)]));
    assert_eq!(d.health, Health::Bloated);
    assert_eq!(kinds(&d), [FindingKind::QueueDelay, FindingKind::DelayedProbes, FindingKind::Instrument]);
    assert_eq!(d.findings[0].certainty, Certainty::Certain);
    assert_eq!(d.advice, [Remedy::shape_at_unknown_rate(None)]);
    let healthy = of(datagrams(DelayPercentiles::default(), vec![datagram_load(false)]));
    assert_eq!(healthy.health, Health::Healthy);
    assert!(!kinds(&healthy).contains(&FindingKind::DelayedProbes));
}

/// A queue that is always full raises the shortest response time too.
#[test]
fn udp_throughout_the_capture_may_hide_a_queue() {
    for (min_s, health) in [(0.012, Health::Healthy), (0.93, Health::Inconclusive)] {
        let mut capture = datagrams(DelayPercentiles::default(), vec![datagram_load(false)]);
        let probed = capture.queues[0].probed.as_mut().unwrap();
        (probed.min_s, probed.is_base_idle) = (min_s, false);
        let d = of(capture);
        assert_eq!(d.health, health, "{min_s} s");
        assert_eq!(matches!(d.reason, Some(Reason::NeverIdle { .. })), health == Health::Inconclusive);
    }
}

#[test]
fn udp_without_probes_gives_no_result() {
    let capture = Capture { queues: Vec::new(), ..datagrams(SECOND, Vec::new()) };
    let d = of(capture.clone());
    assert!(matches!(d.reason, Some(Reason::NoProbes { .. })), "{:?}", d.reason);
    let empty = Capture { datagrams: Vec::new(), ..capture };
    assert_eq!(of(empty).reason, Some(Reason::NoTcp));
}

/// The threshold is for the 90th percentile; the 95th would exceed it earlier.
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
fn an_unknown_base_delay_is_reported() {
    let mut relative = upload();
    relative.queues[0].base_rtt_s = None;
    let d = of(relative);
    assert!(d.findings[0].alternatives.contains(&Alternative::PathNeverEmpty), "{:?}", d.findings[0]);
}
