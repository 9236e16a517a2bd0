//! From workloads to units: one for each transfer, peer, page, client, incast, viewer, and way of a call.
use crate::workload::life::Life;
use fathom_os::clock::Clock;
use fathom_scenario::{RunPlan, START_WITHIN, WorkloadKind, WorkloadPlan};
use fathom_units::{Direction, Duration, Rng};
use std::sync::Arc;

/// One thread's part.
#[derive(Debug)]
pub(crate) struct Unit {
    /// Its workload's number.
    pub(crate) workload: u32,
    /// Number of its flow among those of its workload, from 0; both ways of a call have the same.
    pub(crate) flow: u32,
    /// The way of its data: the side that sends it opens its connections. Requests are the user's.
    pub(crate) way: Direction,
    /// Its number among those that send datagrams, by which they are known.
    pub(crate) source: Option<u32>,
    /// After the begin of the load.
    pub(crate) start: Duration,
    pub(crate) stop: Duration,
    /// Of all that it draws.
    pub(crate) seed: u64,
    pub(crate) life: Life,
}

/// The units of `workloads`, each at the time at which the simulator has it.
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

/// One for each unit.
fn ways(workload: &WorkloadPlan) -> Vec<Direction> {
    let flows = workload.flows as usize;
    match workload.kind {
        WorkloadKind::Incast { .. } => vec![workload.direction],
        WorkloadKind::Web(_) | WorkloadKind::Rpc { .. } => vec![Direction::Up; flows],
        _ if both_ways(workload) => [Direction::Up, Direction::Down].repeat(flows),
        _ => vec![workload.direction; flows],
    }
}
