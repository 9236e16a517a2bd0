//! Measures a path in the simulator, as `fathom test` would, and keeps the truth.
use crate::draw::{CROSS_TRAFFIC, Path};
use fathom_run::{Metric, Observation, PhaseKind, Run, Series, SeriesKey, Value};
use fathom_scenario::{Plan, ScenarioError, load_kind};
use fathom_sim::{FlowOutcome, Options, Outcome, QueueLog};
use fathom_units::Direction;
use std::collections::BTreeMap;

/// Flows that have their own series: all.
const FLOW_SERIES: u32 = 4096;

/// A path, what a test recorded on it, and what really happened.
pub(crate) struct Measured {
    pub(crate) plan: Plan,
    pub(crate) run: Run,
    pub(crate) log: QueueLog,
    /// Payload that the load delivered in each direction, bytes.
    pub(crate) delivered: BTreeMap<Direction, u64>,
}

pub(crate) fn parse(path: &Path) -> Result<Plan, ScenarioError> {
    let files = |name: &str| {
        let found = path.files.iter().find(|(file, _)| file == name);
        found.map(|(_, text)| text.clone()).ok_or_else(|| "there is no such trace".to_owned())
    };
    fathom_scenario::parse_with_files(&path.text, &path.name, &files)
}

pub(crate) fn measure(plan: Plan) -> Measured {
    let options = Options { flow_series: FLOW_SERIES, log_queues: true, ..Options::new(1) };
    let mut outcome = fathom_sim::simulate(&plan, &options);
    hide_cross_traffic(&plan, &mut outcome);
    let is_load = |flow: &&FlowOutcome| flow.workload != CROSS_TRAFFIC;
    let mut delivered = BTreeMap::new();
    for flow in outcome.flows.iter().filter(is_load) {
        *delivered.entry(flow.direction).or_insert(0) += flow.delivered_bytes;
    }
    let log = outcome.queue_log.unwrap_or_else(|| QueueLog { waits: Vec::new(), lost_probes: Vec::new() });
    Measured { plan, run: outcome.run, log, delivered }
}

/// Removes what a test cannot know from the run: the simulator counts all bulk traffic as load.
fn hide_cross_traffic(plan: &Plan, outcome: &mut Outcome) {
    let Some(load) = plan.load.as_ref().filter(|_| !plan.workloads.is_empty()) else { return };
    let is_load: Vec<bool> = outcome.flows.iter().map(|flow| flow.workload != CROSS_TRAFFIC).collect();
    let series = &mut outcome.run.series;
    series.retain(|series| {
        let key = &series.key;
        let is_total = matches!(key.metric, Metric::Goodput | Metric::DeliveryRate) && key.flow.is_none();
        let is_of_load = key.flow.is_none_or(|flow| is_load.get(flow as usize - 1).copied().unwrap_or(false));
        !is_total && is_of_load && key.scope.as_deref() != Some(CROSS_TRAFFIC)
    });
    let totals: Vec<Series> = Direction::BOTH.into_iter().filter_map(|d| goodput(series, d)).collect();
    series.splice(0..0, totals);
    let kind = load_kind(&load.workloads());
    for phase in &mut outcome.run.phases {
        let Some(of_phase) = &mut phase.load else { continue };
        phase.kind = kind;
        let delivered = |direction| {
            let flows = outcome.flows.iter().zip(&is_load);
            let of_load = flows.filter(|(flow, is_load)| **is_load && flow.direction == direction);
            of_load.map(|(flow, _)| flow.delivered_bytes).sum()
        };
        (of_phase.flows_up, of_phase.flows_down) = (load.up_flows, load.down_flows);
        of_phase.delivered_up_bytes = delivered(Direction::Up);
        of_phase.delivered_down_bytes = delivered(Direction::Down);
        of_phase.congestion_control.clone_from(&load.congestion_control);
    }
    debug_assert!(kind != PhaseKind::Idle, "a path has a load");
}

/// Sum of the goodput of the flows of a direction.
fn goodput(series: &[Series], direction: Direction) -> Option<Series> {
    let mut total: BTreeMap<u64, f64> = BTreeMap::new();
    let of_flows = |s: &&Series| {
        s.key.metric == Metric::Goodput && s.key.direction == Some(direction) && s.key.flow.is_some()
    };
    for flow in series.iter().filter(of_flows) {
        for observation in flow.iter() {
            if let Value::Observed(value) = observation.value {
                *total.entry(observation.at.as_nanos()).or_default() += value;
            }
        }
    }
    let mut sum = Series::new(SeriesKey::directed(Metric::Goodput, direction));
    for (at, value) in total {
        sum.push(Observation { at: fathom_units::Time::from_nanos(at), value: Value::Observed(value) });
    }
    (!sum.values.is_empty()).then_some(sum)
}
