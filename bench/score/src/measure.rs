//! Measures a path in the simulator as `fathom test` does, and keeps the truth.
use crate::draw::Path;
use fathom_probe::PhasePlan;
use fathom_run::{Metric, PhaseKind, Run, SeriesKey};
use fathom_scenario::{Plan, ScenarioError};
use fathom_sim::{Options, TestOptions, Wait};
use fathom_units::{Direction, Time};

/// Flows that have their own series: all.
const FLOW_SERIES: u32 = 4096;

/// A path, what a test recorded on it, and what really happened.
pub(crate) struct Measured {
    pub(crate) plan: Plan,
    pub(crate) run: Run,
    /// Packets by queue, in the order in which they left: those of hop 0 up, hop 0 down, hop 1 up,
    /// and so on.
    pub(crate) waits: Vec<Vec<Wait>>,
    /// When the UDP probes that were dropped or lost were sent; not known with the kernel.
    pub(crate) lost_probes: Option<Vec<Time>>,
}

impl Measured {
    /// Whether the simulator measured it, not the kernel.
    pub(crate) fn is_simulated(&self) -> bool {
        self.lost_probes.is_some()
    }
    /// Mean rate of the load of a direction while it was loaded alone, in bit/s of payload.
    pub(crate) fn rate(&self, direction: Direction) -> f64 {
        let phase = self.run.phases.iter().find(|phase| phase.kind == alone(direction));
        let Some((phase, load)) = phase.and_then(|phase| Some((phase, phase.load.as_ref()?))) else {
            return 0.0;
        };
        let bytes = match direction {
            Direction::Up => load.delivered_up_bytes,
            Direction::Down => load.delivered_down_bytes,
        };
        bytes as f64 * 8.0 / phase.seconds().max(1e-3)
    }
    /// Mean rate in the second half of that phase, after the start of the load.
    pub(crate) fn late_rate(&self, direction: Direction) -> f64 {
        let phase = self.run.phases.iter().find(|phase| phase.kind == alone(direction));
        let series = self.run.series(&SeriesKey::directed(Metric::DeliveryRate, direction));
        let Some((phase, series)) = phase.zip(series) else { return self.rate(direction) };
        let middle_ns = phase.start_ns.midpoint(phase.end_ns);
        let late = series.within(phase).filter(|o| o.at.as_nanos() >= middle_ns);
        let rates: Vec<f64> = late.filter_map(|o| o.value.observed()).collect();
        rates.iter().sum::<f64>() / rates.len().max(1) as f64
    }
}

/// The phase in which only `direction` is loaded.
pub(crate) const fn alone(direction: Direction) -> PhaseKind {
    match direction {
        Direction::Up => PhaseKind::Up,
        Direction::Down => PhaseKind::Down,
    }
}

pub(crate) fn parse(path: &Path) -> Result<Plan, ScenarioError> {
    let files = |name: &str| {
        let found = path.files.iter().find(|(file, _)| file == name);
        found.map(|(_, text)| text.clone()).ok_or_else(|| "there is no such trace".to_owned())
    };
    fathom_scenario::parse_with_files(&path.text, &path.name, &files)
}

/// Runs the test. The duration of the scenario's load limits that of each phase with load.
pub(crate) fn measure(plan: Plan) -> Measured {
    let mut options = TestOptions::new(1);
    options.options = Options { flow_series: FLOW_SERIES, log_queues: true, ..options.options };
    let longest = plan.load.as_ref().map(|load| load.duration);
    for phase in options.phases.iter_mut().filter(|phase| !phase.kind.loads().is_empty()) {
        let PhasePlan { min, max, .. } = *phase;
        phase.max = longest.map_or(max, |longest| longest.min(max));
        phase.min = phase.max.min(min);
    }
    let outcome = fathom_sim::test(&plan, &options);
    let log = outcome.queue_log.unwrap_or_default();
    Measured { plan, run: outcome.run, waits: log.waits, lost_probes: Some(log.lost_probes) }
}
