//! Both runs in virtual time.
use super::DemoRequest;
use crate::scenario::with_queue;
use crate::sim::simulate;
use crate::{AppError, CancelToken, MeasureEvent};
use fathom_run::Run;
use fathom_scenario::Plan;

/// Of the random numbers of the line.
const SEED: u64 = 1;

pub(super) fn before(
    request: &DemoRequest,
    cancel: &CancelToken,
    _progress: &mut (dyn FnMut(MeasureEvent<'_>) + Send),
) -> Result<Run, AppError> {
    upload(request, request.plan.clone(), cancel)
}

pub(super) fn after(
    request: &DemoRequest,
    cancel: &CancelToken,
    _progress: &mut (dyn FnMut(MeasureEvent<'_>) + Send),
) -> Result<Run, AppError> {
    let line = with_queue(&request.plan.line, &request.queue);
    upload(request, Plan { line, ..request.plan.clone() }, cancel)
}

/// The load of the plan, with the flows of the request.
fn upload(request: &DemoRequest, mut plan: Plan, cancel: &CancelToken) -> Result<Run, AppError> {
    let nothing = || AppError::NothingToSend { scenario: request.plan.name.clone() };
    let load = plan.load.as_mut().ok_or_else(nothing)?;
    load.up_flows = request.flows;
    load.congestion_control.clone_from(&request.congestion_control);
    Ok(simulate(&plan, SEED, cancel).run)
}
