//! Workloads over loopback: checks counts, not durations.
use crate::workload::player::{Played, Player};
use crate::workload::refusal::refusal;
use crate::workload::unit::units;
use fathom_os::clock::Clock;
use fathom_run::{Metric, Series};
use fathom_scenario::{Plan, parse};
use fathom_units::{Direction, Duration};
use std::net::{IpAddr, Ipv4Addr};

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// A loopback slower than this is broken.
const PATIENCE: Duration = Duration::from_secs(60);

fn plan(workloads: &str) -> Plan {
    let line = "name = \"x\"\nabout = \"x\"\nsource = \"x\"\n[[hop]]\nname = \"hop\"\nup = { delay = \"0s\" }\n\
                down = { delay = \"0s\" }\n[run]\nduration = \"60min\"\n";
    parse(&format!("{line}{workloads}"), "x.toml").unwrap_or_else(|e| panic!("{workloads}: {e}"))
}

/// Plays until `done` returns true.
fn play(workloads: &str, done: impl Fn(&Player) -> bool) -> Played {
    let (clock, plan) = (Clock::start(), plan(workloads));
    assert_eq!(refusal(&plan.workloads), None);
    let mut player = Player::new(plan.workloads, plan.run, 1, clock).unwrap();
    player.enter(Direction::Up, HERE).unwrap();
    player.enter(Direction::Down, HERE).unwrap();
    let start = clock.now();
    player.begin(start);
    while !done(&player) {
        assert!(clock.now() - start < PATIENCE, "{workloads}: delivered {:?}", player.delivered());
        std::thread::yield_now();
    }
    player.finish()
}

fn series(played: &Played, metric: Metric) -> &Series {
    played.series.iter().find(|series| series.key.metric == metric).unwrap_or_else(|| panic!("no {metric:?}"))
}

#[test]
fn a_transfer_is_whole_and_timed() {
    let workload = "[[workload]]\nkind = \"bulk\"\nname = \"copy\"\nflows = 3\nbytes = \"1000000b\"\n\
                congestion_control = \"reno\"";
    let played = play(workload, |player| player.timed(Metric::FlowCompletion) == 3);
    let times = series(&played, Metric::FlowCompletion);
    assert_eq!((times.values.len(), times.censored.len()), (3, 0));
    assert_eq!(times.key.scope.as_deref(), Some("copy"));
    assert_eq!(times.key.direction, Some(Direction::Up));
    assert_eq!((played.load.delivered_up_bytes, played.load.delivered_down_bytes), (3_000_000, 0));
    assert_eq!(
        (played.load.flows_up, played.load.flows_down, played.load.congestion_control.as_str()),
        (3, 0, "reno")
    );
    assert_eq!(played.notes, []);
}

#[test]
fn a_page_is_all_its_objects() {
    let workload = "[[workload]]\nkind = \"web\"\nconnections = 4\nshards = 2\nobjects = 5\nbytes = \"20000b\"\n\
                congestion_control = \"reno\"";
    let played = play(workload, |player| player.timed(Metric::PageLoad) == 1);
    let times = series(&played, Metric::PageLoad);
    assert_eq!((times.values.len(), times.censored.len()), (1, 0));
    // Forty objects, each for a request of 500 bytes.
    assert_eq!((played.load.delivered_up_bytes, played.load.delivered_down_bytes), (40 * 500, 40 * 20_000));
    assert_eq!(played.notes, []);
}

#[test]
fn a_round_of_incast_is_a_block_of_each() {
    let workload = "[[workload]]\nkind = \"incast\"\nflows = 8\nbytes = \"100000b\"\ninterval = \"60min\"\nspread = \"5ms\"\n\
                congestion_control = \"reno\"";
    let played = play(workload, |player| player.timed(Metric::Request) == 1);
    assert_eq!(series(&played, Metric::Request).values.len(), 1);
    assert_eq!((played.load.delivered_up_bytes, played.load.delivered_down_bytes), (0, 800_000));
}

#[test]
fn requests_and_segments_go_on() {
    let workloads = "[[workload]]\nkind = \"rpc\"\nrequest = \"300b\"\nresponse = \"7000b\"\ninterval = \"1ms\"\n\
                 congestion_control = \"reno\"\n[[workload]]\nkind = \"video\"\nrate = \"8mbit\"\nevery = \"10ms\"\n\
                 congestion_control = \"reno\"";
    let played = play(workloads, |player| player.timed(Metric::Request) >= 40);
    // The first is the client's; only what was in progress at the end is censored.
    let both: Vec<&Series> = played.series.iter().filter(|s| s.key.metric == Metric::Request).collect();
    assert_eq!(both.iter().map(|s| s.key.scope.as_deref()).collect::<Vec<_>>(), [Some("rpc"), Some("video")]);
    assert!(both.iter().all(|s| s.values.len() >= 2 && s.censored.len() <= 1), "{both:?}");
    // Segments of 10 ms at 8 Mbit/s. Those that arrived are complete; the one in progress need not
    // be.
    let whole = (both[1].values.len() - both[1].censored.len()) as u64;
    assert!(played.load.delivered_down_bytes >= whole * 10_000);
}

#[test]
fn a_player_requests_segments_as_it_plays_them() {
    let workloads = "[[workload]]\nkind = \"rpc\"\ninterval = \"5ms\"\ncongestion_control = \"reno\"\n\
                 [[workload]]\nkind = \"video\"\nrates = [\"1mbit\", \"8mbit\"]\nevery = \"10ms\"\nbuffer = \"20ms\"\n\
                 congestion_control = \"reno\"";
    let played = play(workloads, |player| player.timed(Metric::Request) >= 40);
    let rates = series(&played, Metric::VideoRate);
    assert_eq!((rates.values[0], rates.key.scope.as_deref()), (1e6, Some("video")));
    assert!(rates.values.len() >= 3 && rates.values.contains(&8e6), "{rates:?}");
    assert_eq!(played.notes, []);
}

#[test]
fn every_datagram_is_logged() {
    let workloads = "[[workload]]\nkind = \"call\"\n[[workload]]\nkind = \"game\"\ninterval = \"5ms\"\n[[workload]]\nkind = \"video\"\n\
                 name = \"camera\"\nrate = \"1mbit\"\nkey_frame = \"20000b\"\n[[workload]]\nkind = \"poisson\"\n\
                 rate = \"10mbit\"\nsize = 1000";
    let played = play(workloads, |player| player.delivered().up > 200_000);
    let of = |metric| played.series.iter().filter(move |s| s.key.metric == metric);
    // Both directions of a call and of a game, and the camera's.
    assert_eq!(
        (of(Metric::PacketDelay).count(), of(Metric::CallMos).count(), of(Metric::UpdateLateness).count()),
        (5, 2, 2)
    );
    let camera = of(Metric::PacketDelay).find(|s| s.key.scope.as_deref() == Some("camera")).unwrap();
    // 20000 bytes in packets of 1400 minus 28, and the first of the regular ones.
    assert!(camera.values.len() >= 16, "{}", camera.values.len());
    let heard = of(Metric::CallMos).flat_map(|s| &s.values);
    assert!(heard.copied().all(|mos| (1.0..=4.5).contains(&mos)));
}

#[test]
fn peers_come_and_go_until_the_end() {
    let workload =
        "[[workload]]\nkind = \"swarm\"\nflows = 3\nchurn = \"5ms\"\ncongestion_control = \"reno\"";
    let played = play(workload, |player| player.delivered().up > 10_000_000);
    assert_eq!(played.notes, []);
}

#[test]
fn what_never_began_ends_too() {
    let plan = plan("[[workload]]\nkind = \"call\"");
    let mut player = Player::new(plan.workloads, plan.run, 1, Clock::start()).unwrap();
    player.enter(Direction::Up, HERE).unwrap();
    player.enter(Direction::Down, HERE).unwrap();
    assert!(player.finish().series.is_empty());
}

#[test]
fn units_begin_and_end_as_in_the_simulator() {
    let plan = plan(
        "[[workload]]\nkind = \"call\"\nflows = 2\nstart = \"1s\"\nstop = \"3s\"\n[[workload]]\nkind = \"incast\"\nflows = 9\n\
         [[workload]]\nkind = \"rpc\"\nstart = \"60min\"",
    );
    let all = units(&plan.workloads, &plan.run, 5, Clock::start());
    let ways: Vec<_> = all.iter().map(|unit| (unit.workload, unit.flow, unit.way, unit.source)).collect();
    let (up, down) = (Direction::Up, Direction::Down);
    // The last workload would start at the end of the run.
    assert_eq!(
        ways,
        [
            (0, 0, up, Some(0)),
            (0, 0, down, Some(1)),
            (0, 1, up, Some(2)),
            (0, 1, down, Some(3)),
            (1, 0, down, None)
        ]
    );
    assert_eq!((all[0].start, all[0].stop), (Duration::from_secs(1), Duration::from_secs(3)));
    let late = |n: usize| all[n].start - all[0].start;
    assert!((1..4).all(|n| late(n) < Duration::from_millis(10)));
    assert_eq!(all[4].stop, plan.run.duration);
}

/// A transfer before them has its own number.
#[test]
fn series_of_datagrams_are_called_as_in_the_simulator() {
    let workloads = "[[workload]]\nkind = \"bulk\"\nflows = 3\nbytes = \"1000b\"\ncongestion_control = \"reno\"\n\
                 [[workload]]\nkind = \"call\"\nflows = 2\n[[workload]]\nkind = \"video\"\nname = \"camera\"\nflows = 2\n\
                 rate = \"1mbit\"\nkey_frame = \"20000b\"\n[[workload]]\nkind = \"game\"\ninterval = \"5ms\"";
    let keys = |series: &[Series]| -> Vec<String> {
        let datagrams = [Metric::PacketDelay, Metric::CallMos, Metric::UpdateLateness];
        let mut keys: Vec<_> =
            series.iter().map(|one| &one.key).filter(|key| datagrams.contains(&key.metric)).collect();
        keys.sort();
        keys.into_iter().map(|key| format!("{key:?}")).collect()
    };
    let mut plan = plan(workloads);
    plan.run.duration = Duration::from_secs(1);
    let simulated = fathom_sim::simulate(&plan, &fathom_sim::Options::new(1)).run.series;
    let played = play(workloads, |player| player.delivered().down > 500_000);
    // Two calls and a game in both directions with two metrics each, two cameras.
    assert_eq!(keys(&simulated).len(), 2 * 4 + 4 + 2);
    assert_eq!(keys(&played.series), keys(&simulated));
}

#[test]
fn what_the_lab_cannot_do_is_named() {
    let why = |keys: &str| refusal(&plan(&format!("[[workload]]\n{keys}")).workloads);
    for (keys, named) in [
        ("kind = \"rpc\"\nextra_rtt = \"10ms\"", "workload rpc: extra_rtt"),
        ("kind = \"bulk\"\naccess_rate = \"1mbit\"", "workload bulk: access_rate"),
        ("kind = \"bulk\"\nhosts = 2", "workload bulk: hosts"),
        ("kind = \"bulk\"\nfirst_host = 2", "workload bulk: first_host"),
        ("kind = \"cbr\"\nrate = \"1mbit\"\nfrom_hop = \"hop\"", "workload cbr: from_hop"),
        ("kind = \"web\"\nmin_rto = \"1s\"", "workload web: min_rto"),
        ("kind = \"web\"\ninitial_window = 3", "workload web: initial_window"),
        ("kind = \"game\"\nsize = 30", "workload game: size"),
        ("kind = \"cbr\"\nrate = \"1mbit\"\nsize = 1501", "workload cbr: size"),
        ("kind = \"poisson\"\nrate = \"1mbit\"\nsizes = \"exponential\"", "workload poisson: sizes"),
        ("kind = \"backup\"", "workload backup: this kernel does not support congestion control \"ledbat\""),
        ("kind = \"bulk\"\nflows = 513\ncongestion_control = \"reno\"", "513 concurrent connections"),
        (
            "kind = \"bulk\"\necn = true\ncongestion_control = \"reno\"\n[[workload]]\nkind = \"rpc\"\n\
             congestion_control = \"reno\"",
            "ecn:",
        ),
    ] {
        let said = why(keys).unwrap_or_else(|| panic!("{keys} is played"));
        assert!(said.starts_with(named), "{keys}: {said}");
    }
}
