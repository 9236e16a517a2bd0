//! Measures a path in the simulator, as `fathom test` would, and keeps the truth.
use crate::draw::{CROSS_TRAFFIC, Path};
use fathom_run::Run;
use fathom_scenario::{Plan, ScenarioError};
use fathom_sim::{FlowOutcome, Options, QueueLog};
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
    let options =
        Options { flow_series: FLOW_SERIES, log_queues: true, hide_workloads: true, ..Options::new(1) };
    let mut outcome = fathom_sim::simulate(&plan, &options);
    // A test does not see the traffic of others.
    outcome.run.series.retain(|series| series.key.scope.as_deref() != Some(CROSS_TRAFFIC));
    let is_load = |flow: &&FlowOutcome| flow.workload != CROSS_TRAFFIC;
    let mut delivered = BTreeMap::new();
    for flow in outcome.flows.iter().filter(is_load) {
        *delivered.entry(flow.direction).or_insert(0) += flow.delivered_bytes;
    }
    let log = outcome.queue_log.unwrap_or_else(|| QueueLog { waits: Vec::new(), lost_probes: Vec::new() });
    Measured { plan, run: outcome.run, log, delivered }
}
