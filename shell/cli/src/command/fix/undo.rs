//! `fathom fix --undo`.
use super::{failure, show};
use crate::args::FixArgs;
use crate::failure::{Exit, Outcome};
use crate::terminal;
use fathom_shaper::{Boot, Place, Restored, Undone, undo};
use serde_json::json;

/// Undoes the fix of one interface, or of all; and what the system would start.
pub(super) fn run(args: &FixArgs, device: Option<&str>) -> Outcome {
    let places = match device {
        Some(device) => vec![Place::new(&args.state, device)],
        None => Place::all(&args.state).map_err(|error| failure(&error))?,
    };
    let mut told = Vec::new();
    for place in &places {
        let undone = undo(place).map_err(|error| failure(&error))?;
        let boot = Boot::of(&args.root, &place.device).ok().filter(|_| !args.keep_boot);
        let is_removed = boot.map_or(Ok(false), |boot| boot.remove()).map_err(|error| failure(&error))?;
        told.push((place.device.clone(), undone, is_removed));
    }
    if args.json {
        let all: Vec<_> = told
            .iter()
            .map(|(name, undone, boot)| {
                json!({ "interface": name, "result": words(undone), "boot_removed": boot })
            })
            .collect();
        return show::print_json(&json!(all));
    }
    if told.is_empty() {
        terminal::print(&format!("nothing is on: {} has no state of a fix\n", args.state.display()))?;
    }
    for (name, undone, is_removed) in told {
        let more = if is_removed { "; it does not come back when the system starts" } else { "" };
        terminal::print(&format!("{name}: {}{more}\n", words(&undone)))?;
    }
    Ok(Exit::Healthy)
}

const fn words(undone: &Undone) -> &'static str {
    match undone {
        Undone::Nothing => "nothing was on",
        Undone::EarlierBoot => "nothing is on: the system was started again since",
        Undone::Back(Restored::Same) => "as it was before",
        Undone::Back(Restored::Gone) => "the interface is gone; what was made beside it is removed",
    }
}
