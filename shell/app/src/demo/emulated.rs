//! Both runs over an emulated line.
use super::DemoRequest;
use crate::emulated::{EmulatedTest, Load, measure};
use crate::scenario::{rates, with_queue};
use crate::{AppError, CancelToken, MeasureEvent};
use fathom_client::PhasePlan;
use fathom_run::{PhaseKind, Run};
use fathom_scenario::LinePlan;
use fathom_units::Duration;

/// Phases of the first run: kind, minimum and maximum in seconds. Both runs together may take 60 s.
/// CUBIC fills the buffer of the default line in about 12 s.
const BEFORE: [(PhaseKind, u64, u64); 3] =
    [(PhaseKind::Idle, 2, 3), (PhaseKind::Up, 16, 22), (PhaseKind::Drain, 1, 4)];
/// Phases of the second run. A managed queue shows nothing new after 12 s.
const AFTER: [(PhaseKind, u64, u64); 3] =
    [(PhaseKind::Idle, 2, 3), (PhaseKind::Up, 12, 14), (PhaseKind::Drain, 1, 2)];

pub(super) fn before(
    request: &DemoRequest,
    cancel: &CancelToken,
    progress: &mut (dyn FnMut(MeasureEvent<'_>) + Send),
) -> Result<Run, AppError> {
    let line = &request.plan.line;
    measure(&test(request, line.clone(), &bottleneck_queue(line), &BEFORE), cancel, progress)
}

pub(super) fn after(
    request: &DemoRequest,
    cancel: &CancelToken,
    progress: &mut (dyn FnMut(MeasureEvent<'_>) + Send),
) -> Result<Run, AppError> {
    let line = with_queue(&request.plan.line, &request.queue);
    measure(&test(request, line, &request.queue_name, &AFTER), cancel, progress)
}

/// The queue in front of the slowest uplink, as text.
fn bottleneck_queue(line: &LinePlan) -> String {
    let slowest =
        line.hops.iter().filter(|h| h.up.nominal_rate().is_some()).min_by_key(|h| h.up.nominal_rate());
    slowest.map_or_else(|| "no limit".to_owned(), |hop| hop.up.queue.to_string())
}

fn test(
    request: &DemoRequest,
    line: LinePlan,
    queue: &str,
    phases: &[(PhaseKind, u64, u64)],
) -> EmulatedTest {
    let phase = |(kind, min, max): &(PhaseKind, u64, u64)| PhasePlan {
        kind: *kind,
        min: Duration::from_secs(*min),
        max: Duration::from_secs(*max),
    };
    let load = Load {
        flows: request.flows,
        congestion_control: request.congestion_control.clone(),
        phases: phases.iter().map(phase).collect(),
        seed: 1,
        workloads: None,
    };
    let title = format!("{} ({}), {queue}", request.plan.name, rates(&request.plan.line));
    EmulatedTest { line, load, title, command: "demo" }
}
