//! Pushes the metrics of a watch to other systems.
use super::{Events, WatchEvent};
use crate::AppError;
use fathom_watch_engine::{Event, Monitor, THIS_HOST};
use fathom_watch_plan::Plan;
use fathom_watch_push::{Destination, Names, Progress, Pusher};
use std::path::Path;

/// The destinations of a plan, with the content of their files.
pub(super) fn destinations(plan: &Plan) -> Result<Vec<Destination>, AppError> {
    plan.pushes
        .iter()
        .map(|push| Destination::of(push).map_err(|e| AppError::WatchPlan(e.to_string())))
        .collect()
}

/// Progress of each destination: those of the plan and those of earlier runs.
pub(super) fn progress(plan: Option<&Plan>, store: &Path) -> Vec<Progress> {
    let mut all = fathom_watch_push::progress(store);
    for push in plan.into_iter().flat_map(|plan| &plan.pushes) {
        if !all.iter().any(|one| one.name == push.name) {
            all.push(Progress {
                name: push.name.clone(),
                sent_until: Err("nothing was sent yet".to_owned()),
            });
        }
    }
    all
}

/// Starts pushing.
pub(super) fn start(plan: &Plan, store: &Path) -> Result<Pusher, AppError> {
    Ok(Pusher::start(destinations(plan)?, Names::of(plan, THIS_HOST), store))
}

/// Applies a new plan. If one of its files has disappeared since the plan was checked, nothing
/// changes.
pub(super) fn reload(pusher: &mut Pusher, plan: &Plan, events: &Events) {
    match destinations(plan) {
        Ok(all) => pusher.reload(all, Names::of(plan, THIS_HOST)),
        Err(error) => events(WatchEvent::PushNotReloaded(error)),
    }
}

/// Reports the events of destinations and records them in the history.
pub(super) fn report(pusher: &Pusher, monitor: &Monitor, events: &Events) {
    for note in pusher.notes() {
        events(WatchEvent::Push(note.text.clone()));
        monitor.remember(Event { at: note.at, kind: "push", text: note.text });
    }
}
