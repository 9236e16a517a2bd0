//! BBR's states and gains on a path with a known rate and RTT.
use crate::line::Line;
use crate::path::Path;
use fathom_tcp::{AnyControl, Bbr, BbrMode, Cause, Control, ControlConfig, ControlKind, WindowEvent};
use fathom_units::{Duration, Time};
use std::fmt::Write;

fn bbr(line: &Line) -> &Bbr {
    match &line.paths[0].control {
        AnyControl::Bbr(bbr) => bbr,
        other => panic!("{other:?}"),
    }
}

/// 10 packets per millisecond and 40 ms: the path holds 401 packets.
fn line(seed: u64) -> Line {
    let mut line = Line::new(Duration::from_micros(100), Duration::from_millis(40));
    line.join(Path::new(ControlKind::Bbr, &ControlConfig { seed, ..ControlConfig::default() }));
    line
}

/// Each change of mode or gain: when, which, and the window.
fn states(line: &mut Line, until: Time) -> Vec<(Time, BbrMode, u64, u32)> {
    let mut states: Vec<(Time, BbrMode, u64, u32)> = Vec::new();
    line.run(until, |line| {
        let (mode, gain) = (bbr(line).mode(), bbr(line).pacing_gain());
        if states.last().is_none_or(|(_, last, last_gain, _)| (*last, *last_gain) != (mode, gain)) {
            states.push((line.now, mode, gain, line.paths[0].window.cwnd));
        }
    });
    states
}

#[test]
fn states_match_the_golden_file() {
    let mut text =
        String::from("# BBR on 10 packets per ms and 40 ms: time, mode, pacing gain in 256ths, cwnd.\n");
    for (at, mode, gain, cwnd) in states(&mut line(1), Time::ZERO + Duration::from_secs(12)) {
        writeln!(text, "{:9.3} ms | {mode:?} | {gain} | {cwnd}", at.as_nanos() as f64 / 1e6).unwrap();
    }
    crate::golden("bbr.txt", &text);
}

#[test]
fn startup_fills_the_pipe_and_drain_empties_the_queue() {
    let mut line = line(1);
    let seen = states(&mut line, Time::ZERO + Duration::from_secs(2));
    assert_eq!((seen[0].1, seen[0].2), (BbrMode::Startup, 739), "2 / ln 2 in 256ths, rounded up");
    assert_eq!((seen[1].1, seen[1].2), (BbrMode::Drain, 88));
    assert_eq!(seen[2].1, BbrMode::ProbeBw);
    // log2(401 / 10) is 5.3 doublings, the round that fills the pipe, and three without growth,
    // each of which the queue extends to up to 2.9 RTTs: 7 + 3 * 2.9.
    let rounds = (seen[1].0 - seen[0].0).as_millis_f64() / 40.0;
    assert!((12.0..=18.0).contains(&rounds), "{rounds} rounds of startup");
    let rate = bbr(&line).estimated_rate().as_bits_per_second() as f64 / (8.0 * 1448.0 * 10_000.0);
    assert!((0.999..1.001).contains(&rate), "estimated rate over the line's: {rate}");
}

#[test]
fn the_cycle_has_one_probe_one_drain_and_six_cruise_phases() {
    let seen = states(&mut line(3), Time::ZERO + Duration::from_secs(8));
    let cycle: Vec<_> = seen.iter().filter(|state| state.1 == BbrMode::ProbeBw).collect();
    let ups: Vec<usize> = (0..cycle.len() - 3).filter(|at| cycle[*at].2 == 320).collect();
    assert!(ups.len() > 15, "{} cycles", ups.len());
    for up in ups {
        assert_eq!((cycle[up + 1].2, cycle[up + 2].2, cycle[up + 3].2), (192, 256, 320));
        let lasts = |at: usize| (cycle[at + 1].0 - cycle[at].0).as_millis_f64() / 40.1;
        assert!((1.0..1.6).contains(&lasts(up)), "looks for more for {} RTT", lasts(up));
        assert!(lasts(up + 1) <= 1.1, "drains for {} RTT", lasts(up + 1));
        assert!((5.9..6.7).contains(&lasts(up + 2)), "cruises for {} RTT", lasts(up + 2));
    }
}

#[test]
fn the_first_phase_is_random_but_never_the_draining_one() {
    let firsts: Vec<u64> = (0..64)
        .map(|seed| {
            let seen = states(&mut line(seed), Time::ZERO + Duration::from_secs(1));
            seen.iter().find(|state| state.1 == BbrMode::ProbeBw).unwrap().2
        })
        .collect();
    assert!(!firsts.contains(&192), "{firsts:?}");
    // One in seven begins by probing for more: 9 of 64.
    let ups = firsts.iter().filter(|gain| **gain == 320).count();
    assert!((3..=18).contains(&ups), "{ups} of 64");
}

#[test]
fn every_ten_seconds_the_window_is_four_for_two_hundred_milliseconds() {
    let seen = states(&mut line(1), Time::ZERO + Duration::from_secs(25));
    let probes: Vec<usize> = (0..seen.len()).filter(|at| seen[*at].1 == BbrMode::ProbeRtt).collect();
    assert_eq!(probes.len(), 2);
    let lasts = |at: usize| (seen[at + 1].0 - seen[at].0).as_millis_f64();
    for probe in &probes {
        assert_eq!((seen[*probe].2, seen[*probe].3), (256, 4));
        assert!(
            (240.0..=330.0).contains(&lasts(*probe)),
            "{} ms: 200 and the draining of a window",
            lasts(*probe)
        );
    }
    let apart = (seen[probes[1]].0 - seen[probes[0]].0).as_secs_f64();
    assert!((10.0..10.6).contains(&apart), "{apart} s apart");
}

/// In steady state the queue is that of one phase in eight with 1/4 more.
#[test]
fn it_leaves_no_standing_queue_and_fills_the_line() {
    let mut line = line(1);
    line.run(Time::ZERO + Duration::from_secs(2), |_| {});
    let (before, mut least, mut most) = (line.paths[0].acked, Duration::MAX, Duration::ZERO);
    line.run(Time::ZERO + Duration::from_secs(9), |line| {
        least = least.min(line.queueing());
        most = most.max(line.queueing());
    });
    let share = (line.paths[0].acked - before) as f64 / 70_000.0;
    assert!(share > 0.97, "{share} of the line");
    assert!(
        least <= Duration::from_millis(1) && most <= Duration::from_millis(14),
        "queue {least} to {most}"
    );
}

/// Heavy loss at a constant rate is detected as a policer for 48 rounds; then BBR probes again.
#[test]
fn the_rate_of_a_policer_is_kept_for_48_rounds() {
    let mut rng = fathom_units::Rng::new(11);
    let line = Line::new(Duration::from_micros(100), Duration::from_millis(40));
    let mut line = line.losing(move |_| rng.chance(0.3));
    line.join(Path::new(ControlKind::Bbr, &ControlConfig::default()));
    let seen = states(&mut line, Time::ZERO + Duration::from_secs(10));
    let rounds = |at: usize| (seen[at + 1].0 - seen[at].0).as_millis_f64() / 40.1;
    let kept: Vec<f64> = (0..seen.len() - 1).map(rounds).filter(|n| *n > 20.0).collect();
    assert!(!kept.is_empty() && kept.iter().all(|n| (47.0..75.0).contains(n)), "seed 11: {kept:?}");
}

/// A loss costs only its round, with packet conservation; then the previous window returns.
#[test]
fn recovery_conserves_packets_for_a_round_and_restores_the_window() {
    let mut line = line(1);
    line.run(Time::ZERO + Duration::from_secs(3), |_| {});
    let before = line.paths[0].window.cwnd;
    let in_flight = line.paths[0].in_flight();
    line.paths[0].lose_one();
    let mut windows = Vec::new();
    line.run(Time::ZERO + Duration::from_millis(3_100), |line| windows.push(line.paths[0].window.cwnd));
    // Until the next ACK, packets leave as paced.
    windows.drain(..windows.iter().position(|cwnd| *cwnd != before).unwrap());
    assert!(windows[0].abs_diff(in_flight) <= 3, "{} of {in_flight} in flight", windows[0]);
    assert!(windows[..100].iter().all(|cwnd| *cwnd <= in_flight + 1));
    assert!(windows.last().unwrap().abs_diff(before) <= 16, "{before} before, {:?} after", windows.last());
}

#[test]
fn a_spurious_loss_does_not_end_startup() {
    let mut line = line(1);
    line.run(Time::ZERO + Duration::from_millis(300), |_| {});
    let path = &mut line.paths[0];
    assert_eq!(path.control.reduce(Cause::Loss, path.now, &path.window), u32::MAX, "the threshold stays");
    path.control.on_event(WindowEvent::Undone, path.now, &mut path.window);
    assert_eq!(bbr(&line).mode(), BbrMode::Startup);
    let seen = states(&mut line, Time::ZERO + Duration::from_secs(2));
    assert_eq!(seen[1].1, BbrMode::Drain);
}

/// The recorded kernel (Linux 6.12, 20 Mbit/s, 20 ms, any queue): goodput 18.7 Mbit/s; ping median
/// 23.6, p95 27.7. Its shaper's 1600-byte burst shortens the queue by one packet (0.6 ms).
#[test]
fn goodput_and_queue_match_the_kernel() {
    let service = Duration::from_secs_f64(1514.0 * 8.0 / 20e6);
    let mut line = Line::new(service, Duration::from_millis(20));
    line.join(Path::new(ControlKind::Bbr, &ControlConfig::default()));
    line.run(Time::ZERO + Duration::from_secs(10), |_| {});
    let before = line.paths[0].acked;
    let mut queues = Vec::new();
    for _ in 0..1_000 {
        line.run(line.now + Duration::from_millis(50), |_| {});
        queues.push(line.queueing().as_millis_f64());
    }
    queues.sort_by(f64::total_cmp);
    let goodput = (line.paths[0].acked - before) as f64 * 1448.0 * 8.0 / 50e6;
    assert!((goodput / 18.7 - 1.0).abs() < 0.01, "{goodput} Mbit/s");
    for (at, kernel) in [(500, 3.6), (950, 7.7)] {
        let ours = queues[at] - 0.6;
        assert!((ours - kernel).abs() < 0.5, "{ours} ms, the kernel {kernel} ms");
    }
}
