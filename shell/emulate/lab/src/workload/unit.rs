//! Splits workloads into units: one per transfer, peer, page, client, incast, viewer, and direction
//! of a call.
use crate::workload::life::Life;
use fathom_os::clock::Clock;
use fathom_scenario::{RunPlan, START_WITHIN, WorkloadKind, WorkloadPlan};
use fathom_units::{Direction, Duration, Rng};
use std::sync::Arc;

/// The work of one thread.
#[derive(Debug)]
pub(crate) struct Unit {
    /// Index of its workload.
    pub(crate) workload: u32,
    /// Number of its flow within the workload, from 0; both directions of a call share it.
    pub(crate) flow: u32,
    /// Direction of its data: the sending side opens its connections. Requests belong to the user.
    pub(crate) way: Direction,
    /// Number among the units that send datagrams; it identifies their datagrams.
    pub(crate) source: Option<u32>,
    /// Start, relative to the start of the load.
    pub(crate) start: Duration,
    pub(crate) stop: Duration,
    /// Seed of its random numbers.
    pub(crate) seed: u64,
    pub(crate) life: Life,
}

/// The units of `workloads`, each starting at the same time as in the simulator.
pub(crate) fn units(workloads: &[WorkloadPlan], run: &RunPlan, seed: u64, clock: Clock) -> Vec<Arc<Unit>> {
    let mut rng = Rng::stream(seed, "start");
    let (mut all, mut sources) = (Vec::new(), 0..);
    for (number, workload) in workloads.iter().enumerate() {
        let stop = workload.stop.unwrap_or(run.duration).min(run.duration);
        for (nth, way) in ways(workload).into_iter().enumerate() {
            let late = if nth == 0 { 0 } else { rng.below(START_WITHIN.as_nanos()) };
            let start = workload.start + Duration::from_nanos(late);
            let own = rng.next_u64();
            if start < stop {
                all.push(Arc::new(Unit {
                    workload: number as u32,
                    flow: if both_ways(workload) { nth / 2 } else { nth } as u32,
                    way,
                    source: if workload.is_tcp() { None } else { sources.next() },
                    start,
                    stop,
                    seed: own,
                    life: Life::new(clock),
                }));
            }
        }
    }
    all
}

const fn both_ways(workload: &WorkloadPlan) -> bool {
    matches!(workload.kind, WorkloadKind::Call | WorkloadKind::Game { .. })
}

/// The direction of each unit.
fn ways(workload: &WorkloadPlan) -> Vec<Direction> {
    let flows = workload.flows as usize;
    match workload.kind {
        WorkloadKind::Incast { .. } => vec![workload.direction],
        WorkloadKind::Web(_) | WorkloadKind::Rpc { .. } | WorkloadKind::Adaptive(_) => {
            vec![Direction::Up; flows]
        }
        _ if both_ways(workload) => [Direction::Up, Direction::Down].repeat(flows),
        _ => vec![workload.direction; flows],
    }
}
