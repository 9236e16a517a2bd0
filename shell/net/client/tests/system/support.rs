//! A server, a short plan, and helpers to examine a run.
use fathom_client::{Event, PhasePlan, ProbeKind, TestConfig, TestError, run_test};
use fathom_run::{Metric, PhaseKind, Run, Series, SeriesKey};
use fathom_scenario::{APPLICATIONS, WorkloadPlan, applications};
use fathom_server::{Config, Server};
use fathom_units::{Direction, Duration};
use std::sync::atomic::AtomicBool;

/// A server on loopback and a free port.
pub(crate) fn server(config: Config) -> Server {
    Server::start(Config { listen: vec!["127.0.0.1".parse().unwrap()], port: 0, ..config }).unwrap()
}

pub(crate) fn phase(kind: PhaseKind, min_ms: u64, max_ms: u64) -> PhasePlan {
    PhasePlan { kind, min: Duration::from_millis(min_ms), max: Duration::from_millis(max_ms) }
}

/// Idle, down, up, both, drain: half a second each.
pub(crate) fn quick(port: u16) -> TestConfig {
    use PhaseKind::{Both, Down, Drain, Idle, Up};
    TestConfig {
        phases: [Idle, Down, Up, Both, Drain].map(|kind| phase(kind, 500, 500)).to_vec(),
        flows: 2,
        sample_every: Duration::from_millis(20),
        patience: Duration::from_secs(2),
        ..TestConfig::new(&format!("127.0.0.1:{port}"))
    }
}

pub(crate) fn run(config: &TestConfig) -> Result<Run, TestError> {
    run_test(config, &AtomicBool::new(false), &mut |_| ())
}

pub(crate) fn run_with_events(config: &TestConfig) -> (Result<Run, TestError>, Vec<Event>) {
    let mut events = Vec::new();
    let run = run_test(config, &AtomicBool::new(false), &mut |e| events.push(e));
    (run, events)
}

/// A built-in application.
pub(crate) fn application(name: &str) -> Vec<WorkloadPlan> {
    let mut all = applications(APPLICATIONS, "applications").unwrap();
    all.retain(|plan| plan.name == name);
    all
}

/// Probe types that need no privilege.
pub(crate) const UNPRIVILEGED: [ProbeKind; 3] = [ProbeKind::Udp, ProbeKind::Connect, ProbeKind::Persistent];

pub(crate) fn series(run: &Run, metric: Metric) -> &Series {
    run.series(&SeriesKey::of(metric)).unwrap_or_else(|| panic!("no {metric:?}; notes {:?}", run.notes))
}

pub(crate) fn directed(run: &Run, metric: Metric, direction: Direction) -> &Series {
    let key = SeriesKey::directed(metric, direction);
    run.series(&key).unwrap_or_else(|| panic!("no {key:?}; notes {:?}", run.notes))
}

pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
