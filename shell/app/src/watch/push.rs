//! What a watch sends to others.
use super::{Events, WatchEvent};
use crate::AppError;
use fathom_watch_engine::{Event, Monitor, THIS_HOST};
use fathom_watch_plan::Plan;
use fathom_watch_push::{Destination, Names, Progress, Pusher};
use std::path::Path;

/// The destinations of a plan, with all that their files say.
pub(super) fn destinations(plan: &Plan) -> Result<Vec<Destination>, AppError> {
    plan.pushes
        .iter()
        .map(|push| Destination::of(push).map_err(|e| AppError::WatchPlan(e.to_string())))
        .collect()
}

/// How far each destination is: those that the plan names, and those that the history was sent to before.
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

/// Starts to send.
pub(super) fn start(plan: &Plan, store: &Path) -> Result<Pusher, AppError> {
    Ok(Pusher::start(destinations(plan)?, Names::of(plan, THIS_HOST), store))
}

/// Takes up what a new plan says. Its files were looked at when it was checked: one that went since leaves all as it was.
pub(super) fn reload(pusher: &mut Pusher, plan: &Plan, events: &Events) {
    match destinations(plan) {
        Ok(all) => pusher.reload(all, Names::of(plan, THIS_HOST)),
        Err(error) => events(WatchEvent::PushNotReloaded(error)),
    }
}

/// Reports what happened to destinations, and remembers it.
pub(super) fn report(pusher: &Pusher, monitor: &Monitor, events: &Events) {
    for note in pusher.notes() {
        events(WatchEvent::Push(note.text.clone()));
        monitor.remember(Event { at: note.at, kind: "push", text: note.text });
    }
}
