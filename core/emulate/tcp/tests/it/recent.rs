//! Prague, Westwood+, LEDBAT++, Copa and HyStart++ on an ideal path, compared with what their
//! specifications say.
use crate::laws::queue;
use crate::line::Line;
use crate::pair::{Link, Pair};
use crate::path::Path;
use fathom_tcp::{AnyControl, Cause, Control, ControlConfig, ControlKind, SlowStartExit};
use fathom_units::{Duration, Time};

const ONE: f64 = (1 << 20) as f64;

fn seconds(n: u64) -> Time {
    Time::ZERO + Duration::from_secs(n)
}

fn new(kind: ControlKind) -> Path {
    Path::new(kind, &ControlConfig::default())
}

/// Packets that each path of `line` gets in the next `span`.
fn shares(line: &mut Line, span: Duration) -> Vec<f64> {
    let before: Vec<u64> = line.paths.iter().map(|path| path.acked).collect();
    line.run(line.now + span, |_| {});
    line.paths.iter().zip(before).map(|(path, acked)| (path.acked - acked) as f64).collect()
}

/// A path of Prague that is not paced, so that each round sends a window.
fn prague() -> Path {
    let mut path = new(ControlKind::Prague);
    path.ignores_pacing = true;
    path.write(1 << 40);
    path
}

fn alpha(path: &Path) -> f64 {
    match &path.control {
        AnyControl::Prague(prague) => prague.alpha() as f64 / ONE,
        other => panic!("{other:?}"),
    }
}

/// alpha' = alpha + (F - alpha) / 16 once per round, from the first mark on; it begins at 1.
#[test]
fn prague_s_alpha_by_hand() {
    let mut path = prague();
    let mut round = |is_marked: bool| {
        path.now += Duration::from_millis(30);
        if is_marked {
            path.mark();
        }
        path.ack(path.in_flight(), None, is_marked);
        alpha(&path)
    };
    (0..3).for_each(|_| assert_eq!(round(false), 1.0));
    let mut expected = 1.0;
    for is_marked in [true, false, false, true, false, true, true] {
        expected += (f64::from(u8::from(is_marked)) - expected) / 16.0;
        let got = round(is_marked);
        assert!((got - expected).abs() < 1e-5, "{got} {expected}");
    }
}

/// The first mark halves the window, because alpha is 1; a loss halves it, too.
#[test]
fn prague_falls_by_half_of_alpha() {
    let mut path = prague();
    (0..4).for_each(|_| path.round(Duration::from_millis(30)));
    assert_eq!(path.window.cwnd, 160);
    path.now += Duration::from_millis(30);
    path.mark();
    path.ack(1, None, true);
    assert_eq!((path.window.cwnd, path.window.ssthresh), (80, 80));
    let mut control = path.control.clone();
    assert_eq!(control.reduce(Cause::Loss, path.now, &path.window), 40);
    assert!(control.wants_exact_ecn() && control.is_l4s());
}

/// One packet per round. After 500 rounds short round trips grow as if they were 25 ms: 1 packet
/// per 25 ms and (RTT / 25 ms) of the rate, so (5 / 25)^2 packets per round of 5 ms.
#[test]
fn prague_depends_less_on_the_round_trip_time() {
    for (rtt_ms, before, after) in [(100, 1.0, 1.0), (25, 1.0, 1.0), (5, 1.0, 0.04)] {
        let rtt = Duration::from_millis(rtt_ms);
        let mut path = prague();
        path.round(rtt);
        path.mark();
        path.ack(1, Some(rtt), true);
        let mut grown = |rounds: u32| {
            let cwnd = path.window.cwnd;
            (0..rounds).for_each(|_| path.round(rtt));
            f64::from(path.window.cwnd - cwnd) / f64::from(rounds)
        };
        grown(100);
        let early = grown(200);
        grown(300);
        let late = grown(200);
        let is_right = (early - before).abs() < 0.05 && (late - after).abs() < 0.05;
        assert!(is_right, "{rtt_ms} ms: {early}, then {late} packets per round");
    }
}

/// Under the step of an L4S queue Prague fills the link with a queue below the step.
#[test]
fn prague_keeps_the_queue_at_the_step() {
    let mut line =
        Line::new(Duration::from_micros(100), Duration::from_millis(40)).marking(Duration::from_millis(1));
    line.join(new(ControlKind::Prague));
    line.run(seconds(10), |_| {});
    let before = line.paths[0].acked;
    let (mean, largest) = queue(&mut line, Duration::from_secs(10));
    let utilization = (line.paths[0].acked - before) as f64 / 100_000.0;
    assert!(mean < 1.0 && largest < 5.0, "mean {mean} ms, largest {largest} ms");
    assert!(utilization > 0.97, "{utilization}");
}

/// Whatever was queued, the window after a loss is what the path holds: 40.1 ms, in ticks of 1 ms
/// 41, at 10 packets per ms.
#[test]
fn westwood_falls_to_what_the_path_holds() {
    let mut line = Line::new(Duration::from_micros(100), Duration::from_millis(40))
        .losing(|sent| sent == 2_000 || sent % 50_000 == 0);
    line.join(new(ControlKind::Westwood));
    let mut thresholds = vec![];
    line.run(seconds(60), |line| thresholds.push(line.paths[0].window.ssthresh));
    thresholds.dedup();
    // Each loss first halves the window; at the end of recovery it is what the path holds.
    let settled = &thresholds[thresholds.len() - 10..];
    for pair in settled.chunks(2) {
        let (halved, held) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
        assert!((400..=411).contains(&held) && halved < 300, "{thresholds:?}");
    }
}

/// The queue stays at or below 60 ms, slowdowns take at most a tenth of the link.
#[test]
fn ledbat_plus_plus_keeps_its_target() {
    let mut line = Line::new(Duration::from_millis(1), Duration::from_millis(50));
    line.join(new(ControlKind::LedbatPlusPlus));
    line.run(seconds(60), |_| {});
    let before = line.paths[0].acked;
    let (mean, largest) = queue(&mut line, Duration::from_secs(60));
    let utilization = (line.paths[0].acked - before) as f64 / 60_000.0;
    assert!((40.0..=62.0).contains(&mean) && largest <= 75.0, "mean {mean} ms, largest {largest} ms");
    assert!(utilization > 0.9, "{utilization}");
}

/// A latecomer sees the path without a queue in the slowdowns, so flows share.
#[test]
fn ledbat_plus_plus_flows_share() {
    let mut line = Line::new(Duration::from_millis(1), Duration::from_millis(50));
    line.join(new(ControlKind::LedbatPlusPlus));
    line.run(seconds(60), |_| {});
    line.join(new(ControlKind::LedbatPlusPlus));
    line.run(seconds(180), |_| {});
    let got = shares(&mut line, Duration::from_secs(120));
    assert!(got[0] < 2.0 * got[1] && got[1] < 2.0 * got[0], "{got:?}");
    let (mean, _) = queue(&mut line, Duration::from_secs(60));
    assert!(mean <= 75.0, "{mean} ms");
}

/// According to the paper, with delta 0.5 a flow's queue moves between 0 and 2.5 / delta = 5
/// packets, and flows have equal rates.
#[test]
fn copa_keeps_a_few_packets_in_the_queue() {
    let mut line = Line::new(Duration::from_millis(1), Duration::from_millis(50));
    line.join(new(ControlKind::Copa));
    line.run(seconds(20), |_| {});
    let before = line.paths[0].acked;
    let (mean, largest) = queue(&mut line, Duration::from_secs(20));
    let utilization = (line.paths[0].acked - before) as f64 / 20_000.0;
    assert!(mean <= 5.0 && largest <= 12.0, "mean {mean} ms, largest {largest} ms");
    assert!(utilization > 0.95, "{utilization}");
    line.join(new(ControlKind::Copa));
    line.run(seconds(60), |_| {});
    let got = shares(&mut line, Duration::from_secs(30));
    assert!(got[0] < 1.3 * got[1] && got[1] < 1.3 * got[0], "{got:?}");
}

/// On a slow link, too, where a tenth of the RTT's range is less than a packet: no other flow fills
/// the queue. Against one that does, Copa keeps up.
#[test]
fn copa_recognizes_that_it_is_alone() {
    let link = Link { room: 170, ..Link::new(Duration::from_micros(600), Duration::from_millis(20)) };
    let mut pair = Pair::new(ControlKind::Copa, Duration::from_millis(1), link);
    let mut largest = Duration::ZERO;
    for at_ms in (2_000..60_000).step_by(20) {
        pair.run(Time::ZERO + Duration::from_millis(at_ms));
        largest = largest.max(pair.queueing());
    }
    assert!(largest < Duration::from_millis(15), "{largest}");
    let mut line = Line::new(Duration::from_millis(1), Duration::from_millis(50))
        .losing(|sent| sent.is_multiple_of(2_000));
    line.join(new(ControlKind::Reno));
    line.run(seconds(20), |_| {});
    line.join(new(ControlKind::Copa));
    line.run(seconds(40), |_| {});
    let got = shares(&mut line, Duration::from_secs(60));
    assert!(got[1] > 0.2 * got[0], "{got:?}");
}

/// Windows of the rounds of slow start, behind a queue that the window fills.
fn slow_start(kind: ControlKind) -> (u32, f64) {
    let config = ControlConfig { slow_start_exit: SlowStartExit::Loss, ..ControlConfig::default() };
    let mut line = Line::new(Duration::from_micros(100), Duration::from_millis(40));
    line.join(Path::new(kind, &config));
    let mut largest = 0.0_f64;
    line.run(seconds(2), |line| {
        if line.paths[0].window.in_slow_start() {
            largest = largest.max(line.queueing().as_millis_f64());
        }
    });
    (line.paths[0].window.ssthresh, largest)
}

/// RFC 9406: slow start ends after five rounds of conservative growth, each by a quarter. The path
/// holds 401 packets; a rise is seen at the latest two doublings later.
#[test]
fn hystart_plus_plus_leaves_slow_start() {
    let (threshold, largest) = slow_start(ControlKind::CubicHyStartPlusPlus);
    let most = f64::from(401 * 4) * 1.25_f64.powi(5);
    assert!((401..most as u32).contains(&threshold), "{threshold} packets, queue {largest} ms");
    let (never, _) = slow_start(ControlKind::Cubic);
    assert_eq!(never, u32::MAX);
}

/// A rise of one round that goes away does not end slow start.
#[test]
fn hystart_plus_plus_ignores_a_spurious_rise() {
    let mut path = Path::bulk(ControlKind::CubicHyStartPlusPlus);
    let ms = Duration::from_millis;
    (0..3).for_each(|_| path.round(ms(40)));
    assert_eq!(path.window.cwnd, 80);
    // The first eight samples of the round let the window grow by one packet each, the rest by a
    // quarter.
    path.round(ms(60));
    let conservative = path.window.cwnd;
    assert!((80 + 8 + 17..=80 + 8 + 20).contains(&conservative), "{conservative}");
    // The RTT falls again: after eight samples, growth by one packet each.
    path.round(ms(40));
    assert!(path.window.in_slow_start());
    let normal = path.window.cwnd;
    path.round(ms(40));
    assert_eq!(path.window.cwnd, 2 * normal);
}
