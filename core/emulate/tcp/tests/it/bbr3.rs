//! BBR version 3 on a path with a known rate and RTT: the test cases of its draft's appendix.
use crate::laws::queue;
use crate::line::Line;
use crate::pair::{Link, Pair};
use crate::path::Path;
use fathom_tcp::{AnyControl, Bbr3, Bbr3Mode, ControlConfig, ControlKind};
use fathom_units::{Duration, Time};

fn bbr(line: &Line) -> &Bbr3 {
    match &line.paths[0].control {
        AnyControl::Bbr3(bbr) => bbr,
        other => panic!("{other:?}"),
    }
}

fn seconds(n: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(n)
}

/// 10 packets per millisecond and 40 ms: the path holds 401 packets.
fn line() -> Line {
    joined(Line::new(Duration::from_micros(100), Duration::from_millis(40)))
}

fn joined(mut line: Line) -> Line {
    line.join(Path::new(ControlKind::Bbr3, &ControlConfig::default()));
    line
}

/// Each change of state: when, and which.
fn states(line: &mut Line, until: Time) -> Vec<(Time, Bbr3Mode)> {
    let mut states: Vec<(Time, Bbr3Mode)> = Vec::new();
    line.run(until, |line| {
        let mode = bbr(line).mode();
        if states.last().is_none_or(|(_, last)| *last != mode) {
            states.push((line.now, mode));
        }
    });
    states
}

fn rate_of(line: &Line) -> f64 {
    bbr(line).estimated_rate().as_bits_per_second() as f64 / (8.0 * 1448.0)
}

/// "Exiting STARTUP on Bandwidth Plateau", "Exiting DRAIN Based on Inflight".
#[test]
fn startup_ends_when_the_rate_no_longer_grows() {
    let mut line = line();
    let seen = states(&mut line, seconds(2.0));
    let modes: Vec<Bbr3Mode> = seen.iter().map(|(_, mode)| *mode).collect();
    // Down ends at once, because the drain has left headroom.
    assert_eq!(modes[..3], [Bbr3Mode::Startup, Bbr3Mode::Drain, Bbr3Mode::Cruise]);
    // log2(401 / 10) is 5.3 doublings, the round that fills the pipe, and three without growth,
    // each of which a window of two rate-delay products extends to two RTTs: 7 + 3 * 2.
    let rounds = (seen[1].0 - seen[0].0).as_millis_f64() / 40.0;
    assert!((9.0..=15.0).contains(&rounds), "{rounds} rounds of startup");
    assert!((9_800.0..10_200.0).contains(&rate_of(&line)), "{} packets per second", rate_of(&line));
}

/// "Exiting PROBE_UP on Bandwidth Plateau", and the order of the cycle: a probe after 2 to 3 s.
#[test]
fn a_probe_fills_the_pipe_rises_and_goes_down() {
    let mut line = line();
    let seen = states(&mut line, seconds(15.0));
    let ups: Vec<usize> = (0..seen.len()).filter(|at| seen[*at].1 == Bbr3Mode::Up).collect();
    assert!(ups.len() >= 3, "{seen:?}");
    for at in ups {
        assert_eq!(seen[at - 1].1, Bbr3Mode::Refill);
        // Refill takes one round; three rounds without growth, at up to 1.25 times the RTT.
        let [refill, up] = [at - 1, at].map(|at| (seen[at + 1].0 - seen[at].0).as_millis_f64() / 40.0);
        assert!((0.9..=1.2).contains(&refill) && (3.0..=5.0).contains(&up), "{refill} {up}");
        assert_eq!(seen[at + 1].1, Bbr3Mode::Down);
        assert_eq!(seen[at + 2].1, Bbr3Mode::Cruise, "{seen:?}");
    }
}

/// "Entering and Exiting PROBE_RTT": every 5 s without a new minimum, for 200 ms and a round, with
/// half of what the path holds in flight.
#[test]
fn probe_rtt_halves_the_flight() {
    let mut line = line();
    let seen = states(&mut line, seconds(17.0));
    let pauses: Vec<usize> = (0..seen.len()).filter(|at| seen[*at].1 == Bbr3Mode::ProbeRtt).collect();
    assert!(pauses.len() >= 2, "{seen:?}");
    for at in pauses {
        let lasted = (seen[at + 1].0 - seen[at].0).as_millis_f64();
        assert!((200.0..=290.0).contains(&lasted), "{lasted} ms");
        assert_eq!(seen[at + 1].1, Bbr3Mode::Cruise);
    }
    let mut again = self::line();
    let mut least = u32::MAX;
    again.run(seconds(6.0), |now| {
        if bbr(now).mode() == Bbr3Mode::ProbeRtt {
            least = least.min(now.paths[0].window.cwnd);
        }
    });
    assert!((190..=210).contains(&least), "{least} packets");
}

/// The queue is empty most of the time: the probe of 1.25 lasts four of about 70 rounds.
#[test]
fn the_link_is_full_and_the_queue_short() {
    let mut line = line();
    line.run(seconds(5.0), |_| {});
    let before = line.paths[0].acked;
    let (mean, largest) = queue(&mut line, Duration::from_secs(20));
    let utilization = (line.paths[0].acked - before) as f64 / 200_000.0;
    assert!(utilization > 0.96, "{utilization}");
    assert!(mean < 4.0 && largest < 45.0, "mean {mean} ms, largest {largest} ms");
}

/// "Correctly Managing Sub-Packet BDPs": four packets, although the path holds less than one.
#[test]
fn a_path_of_less_than_a_packet_gets_four() {
    let mut line = joined(Line::new(Duration::from_millis(12), Duration::from_millis(1)));
    line.run(seconds(20.0), |_| {});
    let before = line.paths[0].acked;
    line.run(seconds(40.0), |_| {});
    assert!(line.paths[0].window.cwnd >= 4);
    let share = (line.paths[0].acked - before) as f64 * 0.012 / 20.0;
    assert!(share > 0.97, "{share} of the link");
}

/// "Increasing Bandwidth 10x and Ensuring Full Bandwidth is Reached".
#[test]
fn ten_times_the_bandwidth_is_found() {
    let mut line = joined(Line::new(Duration::from_millis(1), Duration::from_millis(40)));
    line.run(seconds(10.0), |_| {});
    assert!((980.0..1_020.0).contains(&rate_of(&line)), "{}", rate_of(&line));
    line.set_service(Duration::from_micros(100));
    line.run(seconds(30.0), |_| {});
    assert!(rate_of(&line) > 9_500.0, "{}", rate_of(&line));
}

/// "Decreasing Bandwidth 10x and Ensuring Max Bandwidth Adapts Down": first losses bound what is in
/// flight, and after two cycles the estimate falls. The buffer holds what the path holds at first.
#[test]
fn a_tenth_of_the_bandwidth_is_noticed() {
    let of = |pair: &Pair| match pair.sender.control() {
        AnyControl::Bbr3(bbr) => bbr.clone(),
        other => panic!("{other:?}"),
    };
    let link = Link { room: 400, ..Link::new(Duration::from_micros(100), Duration::from_millis(40)) };
    let mut pair = Pair::new(ControlKind::Bbr3, Duration::from_millis(1), link);
    pair.run(seconds(10.0));
    pair.link.service = Duration::from_millis(1);
    pair.run(seconds(12.0));
    let bound = of(&pair).inflight_shortterm();
    assert!(bound.is_some_and(|bound| bound < 700), "{bound:?}");
    pair.run(seconds(40.0));
    let rate = of(&pair).estimated_rate().as_bits_per_second() as f64 / (8.0 * 1448.0);
    assert!((950.0..1_100.0).contains(&rate), "{rate} packets per second");
    // Each cycle sees a shorter RTT than the last one, which puts off ProbeRTT, so the queue goes
    // slowly.
    pair.run(seconds(100.0));
    assert!(pair.queueing() < Duration::from_millis(100), "{}", pair.queueing());
}

/// "Handling Loss During PROBE_UP After inflight_longterm is Set": more than 2 % of a round is too
/// much, so the probe ends and its flight becomes the bound.
#[test]
fn losses_of_a_probe_bound_the_flight() {
    let at = std::rc::Rc::new(std::cell::Cell::new(false));
    let loses = at.clone();
    let mut counted = 0_u64;
    let mut line =
        joined(Line::new(Duration::from_micros(100), Duration::from_millis(40)).losing(move |_| {
            counted += 1;
            loses.get() && counted.is_multiple_of(10)
        }));
    let mut bounds = vec![];
    line.run(seconds(12.0), |line| {
        at.set(bbr(line).mode() == Bbr3Mode::Up);
        bounds.push((bbr(line).mode(), bbr(line).inflight_longterm()));
    });
    let first = bounds.iter().position(|(_, bound)| bound.is_some()).expect("no bound");
    assert_eq!(bounds[first - 1].0, Bbr3Mode::Up);
    assert_eq!(bounds[first].0, Bbr3Mode::Down);
    let bound = bounds[first].1.unwrap();
    assert!((380..=560).contains(&bound), "{bound} packets");
}

/// Random losses below 2 % do not take the link, as they do from CUBIC.
#[test]
fn one_percent_of_loss_leaves_the_link_full() {
    let share = |kind| {
        let mut rng = fathom_units::Rng::new(3);
        let line = Line::new(Duration::from_micros(100), Duration::from_millis(40));
        let mut line = line.losing(move |_| rng.chance(0.01));
        line.join(Path::new(kind, &ControlConfig::default()));
        line.run(seconds(5.0), |_| {});
        let before = line.paths[0].acked;
        line.run(seconds(25.0), |_| {});
        (line.paths[0].acked - before) as f64 / 200_000.0
    };
    let (bbr, cubic) = (share(ControlKind::Bbr3), share(ControlKind::Cubic));
    assert!(bbr > 0.8 && cubic < 0.1, "{bbr} and {cubic} of the link");
}
