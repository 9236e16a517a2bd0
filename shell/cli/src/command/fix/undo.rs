//! `fathom fix --undo`: rolls back.
use super::show;
use crate::args::FixArgs;
use crate::failure::{Exit, Failure, Outcome};
use crate::terminal;
use fathom_app::fix::{UndoRequest, UndoneInterface, undo};
use fathom_shaper::{Restored, Undone};

/// Rolls back one interface or all, and removes what would start with the system.
pub(super) fn run(args: &FixArgs, device: Option<&str>) -> Outcome {
    let boot_root = (!args.keep_boot).then_some(args.root.as_path());
    let report = undo(&UndoRequest { state: &args.state, interface: device, boot_root })?;
    if args.json {
        return show::print_json(&report.result);
    }
    if report.interfaces.is_empty() {
        terminal::print(&format!("nothing to roll back: {} has no rollback state\n", args.state.display()))?;
    }
    print(&report.interfaces)?;
    Ok(Exit::Healthy)
}

/// Prints what was rolled back.
pub(super) fn print(interfaces: &[UndoneInterface]) -> Result<(), Failure> {
    for UndoneInterface { interface, undone, is_boot_removed } in interfaces {
        let more = if *is_boot_removed { "; it no longer starts with the system" } else { "" };
        terminal::print(&format!("{interface}: {}{more}\n", words(undone)))?;
    }
    Ok(())
}

fn words(undone: &Undone) -> String {
    let words = match undone {
        Undone::Back(Restored::Kept(changes)) => {
            return format!("the shaper was removed; left as others set it since: {}", changes.join(", "));
        }
        Undone::Nothing => "nothing was shaped",
        Undone::EarlierBoot => "nothing is shaped: the system has restarted since",
        Undone::Back(Restored::Same) => "restored",
        Undone::Back(Restored::Gone) => "the interface no longer exists; removed the devices created for it",
    };
    words.to_owned()
}
