//! The queue of a real bloated upload, captured at either end, compared with the ground truth: 10
//! Mbit/s of frames, 1,250,000 bytes, tail drop, 10 ms.
use crate::capture::{bloated_upload, trace};
use fathom_bottleneck::{
    Isolation, Leg, Location, Management, OscillationCause, QueueWatch, Queues, Reference,
};
use fathom_capture::{Address, IcmpHeader, Packet, Transport};
use fathom_flow::{End, ProbeKind, Sink, Times};

fn of(name: &str) -> Queues {
    trace(&bloated_upload(name), QueueWatch::new()).1.finish()
}

fn off(seen: f64, truth: f64) -> f64 {
    (seen / truth - 1.0).abs()
}

fn check(queues: &Queues, leg: Leg) {
    let [found] = queues.bottlenecks.as_slice() else { panic!("{:?}", queues.bottlenecks.len()) };
    assert_eq!(found.location, Location::Leg(leg));
    assert_eq!(found.reference, Reference::OwnLeast);
    let rate = found.rate.as_ref().unwrap();
    assert!(off(rate.frame_bits_per_second, 10e6) < 0.003, "{rate:?}");
    assert_eq!(rate.spans.len(), 1, "it is steady: {rate:?}");
    let buffer = found.buffer.unwrap();
    assert!(off(buffer.frame_bytes, 1.25e6) < 0.01, "{buffer:?}");
    assert!((buffer.frame_bytes - 1.25e6).abs() <= 1.5 * buffer.error_bytes, "{buffer:?}");
    assert!(buffer.is_full_seen && buffer.times_full == 10, "{buffer:?}");
    let print = &found.fingerprint;
    assert_eq!((print.management, print.losses), (Some(Management::TailDrop), 547), "{print:?}");
    assert_eq!((print.isolation, print.marks), (Some(Isolation::Shared), 0), "{print:?}");
    assert!(print.confidence > 0.9, "{print:?}");
    assert_eq!(found.episodes.len(), 10);
    let swing = &found.oscillation;
    let (period, correlation) = swing.correlation.unwrap();
    assert!(off(period, 24.2e9) < 0.02 && correlation > 0.8, "{swing:?}");
    assert!(off(swing.between_episodes.unwrap().0, 11.3e9) < 0.01, "{swing:?}");
    assert_eq!(swing.cause, Some(OscillationCause::Cubic), "{swing:?}");
    // Ping: median 865 ms, 95th percentile 1008 ms, of which 10 ms are the path's.
    assert!(off(found.standing.p50_ns, 0.855e9) < 0.03, "{:?}", found.standing);
    assert!(off(found.standing.p95_ns, 0.998e9) < 0.01, "{:?}", found.standing);
    assert!(found.shares[0].passed_ratio > 0.99, "{:?}", found.shares[0]);
    assert!(off(found.delayed_flows[0].added_p50_ns, 0.855e9) < 0.05, "{:?}", found.delayed_flows);
}

#[test]
fn at_the_sender_the_queue_is_ahead() {
    let queues = of("snd");
    check(&queues, Leg::To(End::B));
    let [echo] = queues.bottlenecks[0].late_probes.as_slice() else {
        panic!("{:?}", queues.bottlenecks[0].late_probes)
    };
    assert_eq!(echo.kind, ProbeKind::Echo);
    assert!(off(echo.added_p50_ns, 0.855e9) < 0.05, "{echo:?}");
    // Ping: minimum 10.3 ms, maximum 1046 ms (without the first, which waited for ARP).
    assert!(off(echo.min_ns, 10.3e6) < 0.05 && off(echo.max_ns, 1.046e9) < 0.002, "{echo:?}");
    assert!(echo.answers > 1000, "{echo:?}");
    let upload = &queues.flows[2];
    assert_eq!((upload.bulk, upload.near), (Some(End::A), Some(End::A)));
    for clock in upload.clocks {
        let clock = clock.unwrap();
        assert_eq!((clock.hertz, clock.is_known_rate), (1000.0, true));
        assert!(clock.skew_ratio.abs() <= clock.skew_error_ratio + 1e-6, "one machine's clocks: {clock:?}");
    }
    for leg in upload.legs.iter().filter_map(|leg| leg.as_ref().ok()) {
        let is_queue = leg.leg == Leg::To(End::B);
        assert_eq!(leg.p95_ns > 5e6, is_queue, "{:?} {}", leg.leg, leg.p95_ns);
    }
}

#[test]
fn at_the_receiver_the_queue_is_upstream_despite_short_round_trips() {
    let queues = of("rcv");
    check(&queues, Leg::From(End::A));
    let upload = &queues.flows[2];
    assert_eq!((upload.bulk, upload.near), (Some(End::A), Some(End::B)));
    assert!(upload.round_trips[1].unwrap().above_base_ns[1] < 2e6, "what others report");
    assert!(off(upload.hole_to_fill_ns.unwrap(), 0.87e9) < 0.1, "{:?}", upload.hole_to_fill_ns);
}

/// Pings continue for a month, so the bins of cross traffic are 18 minutes wide, and those of the
/// upload milliseconds. Spreading would create 38 million cells.
#[test]
fn cross_traffic_of_a_month_is_not_spread_over_milliseconds() {
    let (flows, mut watch) = trace(&bloated_upload("snd"), QueueWatch::new());
    let ends = [Address::v4([10, 7, 0, 1]), Address::v4([10, 7, 0, 2])];
    let begins = flows.totalled.first_at.unwrap();
    for second in (200..30 * 86_400).step_by(60) {
        let echo = IcmpHeader { is_v6: false, kind: 8, code: 0, rest: [0; 4], payload: &[] };
        let packet = Packet {
            source: ends[0],
            destination: ends[1],
            hop_limit: 64,
            dscp: 0,
            ecn: 0,
            identification: None,
            ip_bytes: 84,
            wire_bytes: 98,
            transport: Transport::Icmp(echo),
        };
        watch.non_tcp(&packet, Times { at: begins + second * 1_000_000_000, frame: 1 });
    }
    check(&watch.finish(), Leg::To(End::B));
}
