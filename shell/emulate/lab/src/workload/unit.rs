//! From works to units: one for each transfer, peer, page, client, incast, viewer, and way of a call.
use crate::workload::life::Life;
use fathom_os::clock::Clock;
use fathom_scenario::{RunPlan, START_WITHIN, WorkKind, WorkPlan};
use fathom_units::{Direction, Duration, Rng};
use std::sync::Arc;

/// One thread's part.
#[derive(Debug)]
pub(crate) struct Unit {
    /// Its work's number.
    pub(crate) work: u32,
    /// Number of its flow among those of its work, from 0; both ways of a call have the same.
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

/// The units of `works`, each at the time at which the simulator has it.
pub(crate) fn units(works: &[WorkPlan], run: &RunPlan, seed: u64, clock: Clock) -> Vec<Arc<Unit>> {
    let mut rng = Rng::stream(seed, "start");
    let (mut all, mut sources) = (Vec::new(), 0..);
    for (number, work) in works.iter().enumerate() {
        let stop = work.stop.unwrap_or(run.duration).min(run.duration);
        for (nth, way) in ways(work).into_iter().enumerate() {
            let late = if nth == 0 { 0 } else { rng.below(START_WITHIN.as_nanos()) };
            let start = work.start + Duration::from_nanos(late);
            let own = rng.next_u64();
            if start < stop {
                all.push(Arc::new(Unit {
                    work: number as u32,
                    flow: if both_ways(work) { nth / 2 } else { nth } as u32,
                    way,
                    source: if work.is_tcp() { None } else { sources.next() },
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

const fn both_ways(work: &WorkPlan) -> bool {
    matches!(work.kind, WorkKind::Call | WorkKind::Game { .. })
}

/// One for each unit.
fn ways(work: &WorkPlan) -> Vec<Direction> {
    let flows = work.flows as usize;
    match work.kind {
        WorkKind::Incast { .. } => vec![work.direction],
        WorkKind::Web(_) | WorkKind::Rpc { .. } => vec![Direction::Up; flows],
        _ if both_ways(work) => [Direction::Up, Direction::Down].repeat(flows),
        _ => vec![work.direction; flows],
    }
}
