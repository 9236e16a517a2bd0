//! Each control on an ideal path, compared with the closed form in its specification.
use crate::line::Line;
use crate::path::Path;
use fathom_tcp::{AnyControl, Cause, Control, ControlConfig, ControlKind, Friendliness, SlowStartExit};
use fathom_units::{Duration, Time};

fn seconds(n: u64) -> Time {
    Time::ZERO + Duration::from_secs(n)
}

/// Mean and maximum of the queueing delay in ms over the last `span`.
pub(crate) fn queue(line: &mut Line, span: Duration) -> (f64, f64) {
    let (mut area, mut largest, mut last) = (0.0_f64, 0.0_f64, line.now);
    let begin = line.now;
    line.run(begin + span, |line| {
        let ms = line.queueing().as_millis_f64();
        area += ms * (line.now - last).as_millis_f64();
        last = line.now;
        largest = largest.max(ms);
    });
    (area / span.as_millis_f64(), largest)
}

#[test]
fn reno_grows_by_one_packet_a_round_and_halves() {
    let mut path = Path::bulk(ControlKind::Reno);
    (0..3).for_each(|_| path.round(Duration::from_millis(100)));
    assert_eq!(path.window.cwnd, 80);
    path.lose();
    for round in 0..50 {
        assert_eq!(path.window.cwnd, 40 + round);
        path.round(Duration::from_millis(100));
    }
}

/// W(t) = C (t - K)^3 + W_max with K = cbrt(W_max (1 - beta) / C): RFC 9438 equations 1 and 2. With
/// a target one RTT ahead the window is between W(t) and W(t + RTT), minus truncation.
#[test]
fn cubic_follows_the_cubic_function() {
    for (rtt_ms, at_least) in [(20_u64, 500_u32), (100, 500), (100, 2_000), (50, 5_000)] {
        let rtt = Duration::from_millis(rtt_ms);
        let tcp_friendliness = Friendliness::Off;
        let config =
            ControlConfig { slow_start_exit: SlowStartExit::Loss, tcp_friendliness, ..Default::default() };
        let mut path = Path::new(ControlKind::Cubic, &config);
        path.write(1 << 40);
        while path.window.cwnd < at_least {
            path.round(rtt);
        }
        let w_max = f64::from(path.window.cwnd);
        path.lose();
        let start = path.now;
        let k = (w_max * (1.0 - 0.7) / 0.4).cbrt();
        let w = |t: f64| 0.4 * (t - k).powi(3) + w_max;
        while path.now < start + Duration::from_secs_f64(1.5 * k) {
            path.round(rtt);
            let t = (path.now - start).as_secs_f64();
            let (low, high) = (w(t - rtt.as_secs_f64()) - 2.0, w(t + rtt.as_secs_f64()) + 2.0);
            let cwnd = f64::from(path.window.cwnd);
            assert!(low <= cwnd && cwnd <= high, "{rtt_ms} ms, {t} s: {low} <= {cwnd} <= {high}");
        }
    }
}

#[test]
fn cubic_reduces_to_seven_tenths_with_fast_convergence() {
    let window = |cwnd| fathom_tcp::Window { cwnd, ssthresh: 1, pacing: None };
    let mut cubic = AnyControl::new(ControlKind::Cubic, &ControlConfig::default());
    // 717/1024 of 1000 is 700.2.
    assert_eq!(cubic.reduce(Cause::Loss, seconds(1), &window(1_000)), 700);
    // W_max becomes 900 (1 + 717/1024) / 2 = 765, and K = cbrt((765 - 630) / 0.4) = 6.96 s.
    assert_eq!(cubic.reduce(Cause::Loss, seconds(2), &window(900)), 630);
    assert_eq!(cubic.reduce(Cause::Loss, seconds(2), &window(2)), 2);
}

/// Where Reno is faster, CUBIC grows by 0.53 per round in Linux, or 1 above the old window (RFC).
#[test]
fn cubic_s_friendly_region() {
    let rtt = Duration::from_millis(5);
    let rounds_to = |friendliness| {
        let config = ControlConfig {
            slow_start_exit: SlowStartExit::Loss,
            tcp_friendliness: friendliness,
            ..Default::default()
        };
        let mut path = Path::new(ControlKind::Cubic, &config);
        path.write(1 << 40);
        (0..3).for_each(|_| path.round(rtt));
        assert_eq!(path.window.cwnd, 80);
        path.lose();
        assert_eq!(path.window.cwnd, 56);
        (0..120).for_each(|_| path.round(rtt));
        path.window.cwnd
    };
    // 120 rounds: 56 + 0.533 * 120 = 120. RFC: 45 rounds to 80, then one per round: 155. At a
    // constant window Linux recomputes only every 1/32 s, so it is up to four packets behind.
    let (linux, rfc) = (rounds_to(Friendliness::Linux), rounds_to(Friendliness::Rfc9438));
    assert!((116..=120).contains(&linux), "{linux}");
    assert!((151..=155).contains(&rfc), "{rfc}");
    // By the cubic function alone, W(0.6 s) is still below W_max.
    assert!(rounds_to(Friendliness::Off) < 80);
}

fn alpha(path: &Path) -> u32 {
    match &path.control {
        AnyControl::Dctcp(dctcp) => dctcp.alpha(),
        other => panic!("{other:?}"),
    }
}

/// Each round's alpha by hand: alpha' = alpha - alpha/16 + 64 F, in 1024ths, truncated.
#[test]
fn dctcp_alpha_by_hand() {
    let mut path = Path::bulk(ControlKind::Dctcp);
    assert_eq!(alpha(&path), 1024);
    // One ACK per round, so each is an observation window. Without marks 1024 - 64, 960 - 60, 900 -
    // 56, 844 - 52; all marked 792 - 49 + 64, 807 - 50 + 64; again without 821 - 51.
    for (expected, is_marked) in
        [(960, false), (900, false), (844, false), (792, false), (807, true), (821, true), (770, false)]
    {
        path.now += Duration::from_millis(10);
        path.ack(path.in_flight(), None, is_marked);
        assert_eq!(alpha(&path), expected);
    }
    // A window lasts until all data sent at its start is ACKed.
    let quarter = path.in_flight() / 4;
    path.now += Duration::from_millis(10);
    path.ack(quarter, None, false);
    assert_eq!(alpha(&path), 722);
    path.ack(quarter, None, true);
    path.ack(quarter, None, false);
    assert_eq!(alpha(&path), 722);
    let rest = path.in_flight();
    path.ack(rest, None, false);
    assert_eq!(alpha(&path), 722 - 45 + 64 * quarter / (2 * quarter + rest));
}

/// RFC 8257 section 3.3: cwnd (1 - alpha / 2) for marks, half for loss.
#[test]
fn dctcp_falls_by_half_of_alpha() {
    let mut path = Path::bulk(ControlKind::Dctcp);
    (0..4).for_each(|_| path.round(Duration::from_millis(10)));
    let (cwnd, alpha) = (u64::from(path.window.cwnd), u64::from(alpha(&path)));
    let mut control = path.control.clone();
    assert_eq!(u64::from(control.reduce(Cause::Ecn, path.now, &path.window)), cwnd - cwnd * alpha / 2048);
    assert_eq!(u64::from(control.reduce(Cause::Loss, path.now, &path.window)), cwnd / 2);
    assert!(control.wants_exact_ecn());
}

/// Each flow keeps two to four packets queued, and the window is what the path holds with them.
#[test]
fn vegas_keeps_two_to_four_packets_in_the_queue() {
    // 1 ms per packet and 50 ms: the path holds 51.
    let service = Duration::from_millis(1);
    let mut line = Line::new(service, Duration::from_millis(50));
    line.join(Path::new(ControlKind::Vegas, &ControlConfig::default()));
    line.run(seconds(20), |_| {});
    let (mean, largest) = queue(&mut line, Duration::from_secs(20));
    assert!((1.0..=5.0).contains(&mean) && largest <= 6.0, "mean {mean} ms, largest {largest} ms");
    assert!((53..=55).contains(&line.paths[0].window.cwnd), "{}", line.paths[0].window.cwnd);
}

#[test]
fn ledbat_holds_the_queue_at_its_target() {
    for target_ms in [25, 60, 100] {
        let config =
            ControlConfig { ledbat_target: Duration::from_millis(target_ms), ..ControlConfig::default() };
        let mut line = Line::new(Duration::from_millis(1), Duration::from_millis(50));
        line.join(Path::new(ControlKind::Ledbat, &config));
        line.run(seconds(60), |_| {});
        let (mean, _) = queue(&mut line, Duration::from_secs(30));
        let target = target_ms as f64;
        assert!((mean - target).abs() <= 0.05 * target + 1.0, "target {target} ms, queue {mean} ms");
    }
}

/// RFC 6817 section 4.2: a latecomer takes the standing queue for base delay and gets the link.
#[test]
fn a_ledbat_latecomer_takes_the_link() {
    let mut line = Line::new(Duration::from_millis(1), Duration::from_millis(50));
    line.join(Path::new(ControlKind::Ledbat, &ControlConfig::default()));
    line.run(seconds(60), |_| {});
    line.join(Path::new(ControlKind::Ledbat, &ControlConfig::default()));
    line.run(seconds(240), |_| {});
    let before = [line.paths[0].acked, line.paths[1].acked];
    line.run(seconds(270), |_| {});
    let got = [line.paths[0].acked - before[0], line.paths[1].acked - before[1]];
    assert!(got[1] > 10 * got[0], "{got:?}");
    let (mean, _) = queue(&mut line, Duration::from_secs(10));
    assert!(mean > 150.0, "the queue is two targets: {mean} ms");
}
