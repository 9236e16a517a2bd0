//! Applications over loopback: what is recorded, not how long it takes.
use crate::support::{UNPRIVILEGED, application, phase, quick, run, server};
use fathom_client::TestConfig;
use fathom_run::{Metric, Note, PhaseKind, Run, Series};
use fathom_scenario::applications;
use fathom_server::Config;
use fathom_units::Direction;

/// Small pages, short segments, a call and a game, so that a second has several of each.
const QUICK: &str = r#"
[[workload]]
kind = "web"
connections = 3
shards = 2
objects = 2
bytes = "20kb"
interval = "50ms"
[[workload]]
kind = "video"
rates = ["1mbit", "4mbit"]
every = "200ms"
buffer = "1s"
[[workload]]
kind = "call"
[[workload]]
kind = "game"
interval = "10ms"
"#;

fn config(port: u16) -> TestConfig {
    use PhaseKind::{Both, Drain, Idle};
    let phases = [Idle, Idle, Both, Drain].map(|kind| phase(kind, 1_000, 1_000)).to_vec();
    TestConfig { phases, probes: UNPRIVILEGED.to_vec(), ..quick(port) }
}

fn of<'r>(run: &'r Run, metric: Metric, scope: &str) -> Vec<&'r Series> {
    let all: Vec<_> = run
        .series
        .iter()
        .filter(|s| s.key.metric == metric && s.key.scope.as_deref() == Some(scope))
        .collect();
    assert!(!all.is_empty(), "no {metric:?} of {scope}; notes {:?}", run.notes);
    all
}

#[test]
fn applications_run_in_the_second_idle_phase_and_next_to_the_load() {
    let server = server(Config::default());
    let applications = applications(QUICK, "quick").unwrap();
    let run = run(&TestConfig { applications, ..config(server.local_port()) }).unwrap();
    assert_eq!(run.partial, None);
    assert!(!run.notes.iter().any(|n| matches!(n, Note::WorkloadEndedEarly { .. })), "{:?}", run.notes);
    let [first, second, both, drain] = &run.phases[..] else { panic!("{:?}", run.phases) };
    for (metric, scope) in [
        (Metric::PageLoad, "web"),
        (Metric::VideoRate, "video"),
        (Metric::PacketDelay, "call"),
        (Metric::PacketDelay, "game"),
        (Metric::CallMos, "call"),
        (Metric::DeadlineMisses, "game"),
    ] {
        let count = |phase| of(&run, metric, scope).iter().map(|s| s.within(phase).count()).sum::<usize>();
        assert_eq!(count(first), 0, "{metric:?} {scope}");
        assert!(count(second) > 0 && count(both) > 0, "{metric:?} {scope}");
        // What began before the drain may have been recorded a moment later.
        assert!(count(drain) <= 2, "{metric:?} {scope}: {}", count(drain));
    }
    // 1 s at 20 ms, in each direction.
    for way in Direction::BOTH {
        let call = of(&run, Metric::PacketDelay, "call");
        let call = call.iter().find(|s| s.key.direction == Some(way)).unwrap();
        let sent = call.within(second).count();
        assert!((25..=55).contains(&sent), "{way}: {sent}");
    }
    // The video holds five segments after the first, and later as many as it plays.
    let video = of(&run, Metric::VideoRate, "video");
    assert!(video[0].values.contains(&4e6), "{:?}", video[0].values);
    for series in &run.series {
        assert!(series.at_ns.is_sorted(), "{:?}", series.key);
    }
}

#[test]
fn an_application_is_the_load() {
    let server = server(Config::default());
    let mut web = applications(QUICK, "quick").unwrap();
    web.truncate(1);
    let config = TestConfig { probes: UNPRIVILEGED.to_vec(), ..quick(server.local_port()) };
    let run = run(&config.loaded_by(web.remove(0))).unwrap();
    assert_eq!(run.partial, None);
    let kinds: Vec<PhaseKind> = run.phases.iter().map(|phase| phase.kind).collect();
    assert_eq!(kinds, [PhaseKind::Idle, PhaseKind::Down, PhaseKind::Drain]);
    let load = run.phases[1].load.as_ref().unwrap();
    assert_eq!((load.flows_up, load.flows_down), (0, 1));
    let pages: usize = of(&run, Metric::PageLoad, "web").iter().map(|s| s.values.len()).sum();
    // Each complete page has 12 objects of 20 kB; the last is reset.
    let page = 12 * 20 * 1024;
    let delivered = usize::try_from(load.delivered_down_bytes).unwrap();
    assert!(pages > 1 && (pages * page..(pages + 2) * page).contains(&delivered), "{pages} {delivered}");
}

#[test]
fn transfers_without_an_end_set_the_flows() {
    let config = quick(1);
    let swarm = config.clone().loaded_by(application("swarm").remove(0));
    assert_eq!((swarm.flows, &swarm.load_application), (20, &None));
    let kinds: Vec<PhaseKind> = swarm.phases.iter().map(|phase| phase.kind).collect();
    assert_eq!(kinds, [PhaseKind::Idle, PhaseKind::Up, PhaseKind::Drain]);
    let web = config.clone().loaded_by(application("web").remove(0));
    assert_eq!((web.flows, web.load_application.is_some()), (0, true));
    assert_eq!(config.clone().with_applications(Vec::new()), config);
}

#[test]
fn an_application_that_the_server_refuses_ends_and_is_noted() {
    // A page of 54 connections needs more flows than this session may have.
    let server = server(Config { max_flows: 8, ..Config::default() });
    let applications = application("web-sharded");
    let run = run(&TestConfig { applications, flows: 1, ..config(server.local_port()) }).unwrap();
    let failed = |note: &Note| {
        matches!(note, Note::WorkloadEndedEarly { workload, message }
            if workload == "web-sharded" && message.contains("limit of 8 flows"))
    };
    assert!(run.notes.iter().any(failed), "{:?}", run.notes);
    assert_eq!(run.partial, None);
}
