//! What a watch sends to others.
use crate::failure::Failure;
use crate::terminal;
use fathom_watch_engine::{Event, Monitor, THIS_HOST};
use fathom_watch_plan::Plan;
use fathom_watch_push::{Destination, Names, Progress, Pusher};
use std::path::Path;

/// The destinations of a plan, with all that their files say.
pub(super) fn destinations(plan: &Plan) -> Result<Vec<Destination>, Failure> {
    plan.pushes.iter().map(|push| Destination::of(push).map_err(Failure::input)).collect()
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
pub(super) fn start(plan: &Plan, store: &Path) -> Result<Pusher, Failure> {
    Ok(Pusher::start(destinations(plan)?, Names::of(plan, THIS_HOST), store))
}

/// Takes up what a new plan says. Its files were looked at when it was checked: one that went since leaves all as it was.
pub(super) fn reload(pusher: &mut Pusher, plan: &Plan) {
    match destinations(plan) {
        Ok(all) => pusher.reload(all, Names::of(plan, THIS_HOST)),
        Err(failure) => {
            terminal::note(&format!("fathom watch: {failure}\n  what is sent to others goes on as before"))
        }
    }
}

/// Says what happened to destinations, and remembers it.
pub(super) fn tell(pusher: &Pusher, monitor: &Monitor) {
    for note in pusher.notes() {
        terminal::note(&format!("fathom watch: {}", note.text));
        monitor.remember(Event { at: note.at, kind: "push", text: note.text });
    }
}
