//! `fathom fix --undo`.
use super::show;
use crate::args::FixArgs;
use crate::failure::{Exit, Outcome};
use crate::terminal;
use fathom_app::fix::{UndoRequest, UndoneInterface, undo};
use fathom_shaper::{Restored, Undone};

/// Undoes the fix of one interface, or of all; and what the system would start.
pub(super) fn run(args: &FixArgs, device: Option<&str>) -> Outcome {
    let boot_root = (!args.keep_boot).then_some(args.root.as_path());
    let report = undo(&UndoRequest { state: &args.state, interface: device, boot_root })?;
    if args.json {
        return show::print_json(&report.result);
    }
    if report.interfaces.is_empty() {
        terminal::print(&format!("nothing is on: {} has no state of a fix\n", args.state.display()))?;
    }
    for UndoneInterface { interface, undone, is_boot_removed } in &report.interfaces {
        let more = if *is_boot_removed { "; it does not come back when the system starts" } else { "" };
        terminal::print(&format!("{interface}: {}{more}\n", words(undone)))?;
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
