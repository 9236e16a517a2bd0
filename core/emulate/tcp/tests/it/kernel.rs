//! Sender, receiver and a plain queue compared with the recorded kernel (Linux 6.12, HZ=100, 60 s
//! without the first 10), and DCTCP compared with its paper.
use crate::pair::{Link, Pair};
use fathom_tcp::ControlKind;
use fathom_units::{Duration, Time};
use std::fmt::Write;

/// Goodput in Mbit/s; median, p95 and maximum of the RTT in ms; packets dropped.
#[derive(Clone, Copy)]
struct Figures {
    goodput: f64,
    rtt: [f64; 3],
    drops: u64,
}

/// A packet with Ethernet header at 20 Mbit/s.
const SERVICE: Duration = Duration::from_nanos(605_600);
/// A 98-byte ping with that header.
const PROBE_SERVICE: Duration = Duration::from_nanos(39_200);
const RTT_MS: f64 = 20.0;

fn ours(kind: ControlKind, room: u64) -> Figures {
    let link = Link { room, ..Link::new(SERVICE, Duration::from_secs_f64(RTT_MS / 1e3)) };
    let mut pair = Pair::new(kind, Duration::from_millis(10), link);
    pair.run(Time::ZERO + Duration::from_secs(10));
    let before = pair.receiver.delivered();
    let mut rtts = Vec::new();
    for _ in 0..1_000 {
        pair.run(pair.now + Duration::from_millis(50));
        rtts.push(RTT_MS + pair.queueing().as_millis_f64());
        pair.probe(PROBE_SERVICE);
    }
    let goodput = (pair.receiver.delivered() - before) as f64 * 8.0 / 50e6;
    rtts.sort_by(f64::total_cmp);
    Figures { goodput, rtt: [rtts[500], rtts[950], rtts[999]], drops: pair.drops }
}

fn write(figures: Figures) -> String {
    let [median, p95, most] = figures.rtt;
    format!("{:5.2} {median:6.1} {p95:6.1} {most:6.1} {:5}", figures.goodput, figures.drops)
}

/// The kernel's shaper sends one packet early (0.6 ms). Its ping and Reno's phase are random.
fn is_near(ours: Figures, kernel: Figures) -> bool {
    let is_within = |a: f64, b: f64, least: f64, share: f64| (a - b).abs() <= least.max(share * b);
    let rtts = ours.rtt.iter().zip(kernel.rtt);
    is_within(ours.goodput, kernel.goodput, 0.0, 0.02)
        && rtts.into_iter().all(|(a, b)| is_within(*a, b, 1.1, 0.04))
        && is_within(ours.drops as f64, kernel.drops as f64, 15.0, 0.05)
}

#[test]
fn goodput_rtt_and_drops_match_the_kernel() {
    use ControlKind::{Bbr, Cubic, Reno};
    let row = |kind, room, goodput, rtt, drops| (kind, room, Figures { goodput, rtt, drops });
    let rows = [
        row(Cubic, 1_000, 19.1, [534.0, 618.0, 621.0], 165),
        row(Cubic, 256, 19.1, [148.0, 172.0, 174.0], 46),
        row(Cubic, 33, 19.1, [34.3, 39.3, 39.9], 62),
        row(Reno, 1_000, 19.1, [366.0, 404.0, 409.0], 1_033),
        row(Reno, 256, 19.1, [140.0, 171.0, 174.0], 298),
        row(Reno, 33, 19.1, [31.5, 39.3, 40.0], 167),
        row(Bbr, 1_000, 18.7, [23.6, 27.7, 28.9], 0),
        row(Bbr, 33, 18.7, [23.6, 27.7, 28.9], 87),
    ];
    let mut text = String::from(
        "# 20 Mbit/s, 20 ms, drop-tail: goodput in Mbit/s, RTT in ms (median, p95, most), drops in 60 s.\n\
         # control | packets | Linux 6.12                     | ours\n",
    );
    let mut far_off = Vec::new();
    for (kind, room, kernel) in rows {
        let ours = ours(kind, room);
        let line = format!("{:9} | {room:7} | {} | {}", kind.name(), write(kernel), write(ours));
        writeln!(text, "{line}").unwrap();
        if !is_near(ours, kernel) {
            far_off.push(line);
        }
    }
    crate::golden("kernel.txt", &text);
    assert!(far_off.is_empty(), "{far_off:#?}");
}

/// Alizadeh et al. 2010 equations 8 to 10: for one flow the queue oscillates between K + 1 and
/// sqrt(2 (C RTT + K)) / 2 less. Delayed ACKs send packets in pairs, one or two more either way;
/// below that a sender collects packets for a millisecond before it sends.
#[test]
fn dctcp_queue_oscillates_below_its_threshold() {
    for (service_ns, rtt_ms, k) in [(121_120_u64, 10_u64, 20_u64), (605_600, 20, 8)] {
        let rtt = Duration::from_millis(rtt_ms);
        let link = Link { marks_from: k, ..Link::new(Duration::from_nanos(service_ns), rtt) };
        let mut pair = Pair::new(ControlKind::Dctcp, Duration::from_millis(1), link);
        pair.run(Time::ZERO + Duration::from_secs(5));
        let (before, begin) = (pair.receiver.delivered(), pair.now);
        let (mut least, mut most) = (f64::MAX, 0.0_f64);
        for _ in 0..10_000 {
            pair.run(pair.now + Duration::from_micros(997));
            let queue = pair.queueing().as_nanos() as f64 / service_ns as f64;
            (least, most) = (least.min(queue), most.max(queue));
        }
        let k = k as f64;
        let amplitude = (2.0 * (rtt.as_nanos() as f64 / service_ns as f64 + k)).sqrt() / 2.0;
        assert!((k + 1.0..=k + 4.0).contains(&most), "K {k}: at most {most}");
        let batch = 1e6 / service_ns as f64;
        assert!(
            (least - (k + 1.0 - amplitude)).abs() <= 2.0 + batch,
            "K {k}: at least {least}, swing {amplitude}"
        );
        let capacity = (pair.now - begin).as_nanos() / service_ns;
        let delivered = (pair.receiver.delivered() - before) / 1448;
        assert!(capacity.abs_diff(delivered) <= 2, "K {k}: {delivered} of {capacity} packets");
        assert_eq!(pair.sender.retransmits(), 0);
    }
}
