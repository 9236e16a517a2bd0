//! Pushes the metrics of a watch to other systems.
use crate::routers::Routers;
use crate::{Events, WatchEvent};
use fathom_app::AppError;
use fathom_watch_engine::{Event, Monitor, THIS_HOST};
use fathom_watch_plan::{Plan, Push};
pub(super) use fathom_watch_push::Gateway as Access;
use fathom_watch_push::{Destination, Gateway, Names, Progress, Pusher};
use std::path::Path;
use std::sync::Arc;

/// The destinations of a plan, with the content of their files. Without a gateway, those to it are
/// left out.
pub(super) fn destinations(plan: &Plan, gateway: Option<&Gateway>) -> Result<Vec<Destination>, AppError> {
    let destination = |push: &Push| match gateway {
        Some(gateway) if push.to_gateway => Some(Destination::at(push, gateway)),
        None if push.to_gateway => None,
        _ => Some(Destination::of(push)),
    };
    let all = plan.pushes.iter().filter_map(destination);
    all.map(|one| one.map_err(|error| AppError::WatchPlan(error.to_string()))).collect()
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
pub(super) fn start(
    plan: &Plan,
    store: &Path,
    gateway: Option<&Gateway>,
    routers: &Arc<Routers>,
) -> Result<Pusher, AppError> {
    let routers = Arc::clone(routers);
    let known = Arc::new(move || routers.known());
    Ok(Pusher::start(destinations(plan, gateway)?, Names::of(plan, THIS_HOST), known, store))
}

/// Applies a new plan. If one of its files has disappeared since the plan was checked, nothing
/// changes.
pub(super) fn reload(pusher: &mut Pusher, plan: &Plan, gateway: Option<&Gateway>, events: &Events) {
    match destinations(plan, gateway) {
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
