//! Output of `fathom fix`.
use crate::failure::{Exit, Outcome};
use crate::terminal;
use fathom_app::fix::{FixResult, Looks};
use fathom_prose::{conflict_advice, finding};
use fathom_run::Finding;
use fathom_shaper::{Place, Plan, Side, short};
use fathom_tc::{Request, Stats};
use fathom_text::counted;
use fathom_units::Bytes;
use std::fmt::Write;
use std::path::Path;

/// Number of commands shown for one step. The flow hash has more than a hundred similar ones.
const SHOWN: usize = 4;

/// The plan with its undo commands.
pub(super) fn plan(plan: &Plan) -> String {
    let side = |what: &str, side: &Option<Side>| {
        side.as_ref().map(|side| format!("{what} at most {}", side.shaper.rate))
    };
    let both = [side("egress", &plan.up), side("ingress", &plan.down)];
    let both: Vec<String> = both.into_iter().flatten().collect();
    let mut text = format!("{}: {}, with {}\n", plan.device, both.join(", "), plan.kind);
    for (number, step) in (1..).zip(&plan.steps) {
        let _ = write!(text, "\n{number}. {}\n", step.does);
        text += &commands("   ", &step.requests);
    }
    text += "\nTo undo:\n";
    for step in plan.steps.iter().rev() {
        text += &commands("   ", &step.undo);
    }
    text
}

fn commands(indent: &str, requests: &[Request]) -> String {
    let mut text = String::new();
    for request in requests.iter().take(SHOWN) {
        let _ = writeln!(text, "{indent}{}", short(&request.to_string()));
    }
    if requests.len() > SHOWN {
        let more = requests.len() - SHOWN;
        let _ = writeln!(text, "{indent}... and {more} more (--json shows all)");
    }
    text
}

/// Conflicts as warnings, each with what to try.
pub(super) fn warnings(found: &[Finding]) -> String {
    let mut text = String::new();
    for conflict in found {
        let advice = conflict_advice(conflict).unwrap_or_default();
        let _ = write!(text, "\nwarning: {}\n  try: {advice}\n", finding(conflict, None));
    }
    text
}

/// The packets that passed while the shaper was on.
pub(super) fn held(Looks { before, after }: &Looks, found: &[Finding]) -> String {
    let mut text = String::new();
    for (what, from, to) in [("egress", &before.up, &after.up), ("ingress", &before.down, &after.down)] {
        if let (Some(from), Some(to)) = (from, to) {
            let _ = writeln!(text, "{what}: {}", passed(from, to));
        }
    }
    text += &warnings(found);
    text + &format!("{} is restored.\n", after.link.name)
}

fn passed(from: &Stats, to: &Stats) -> String {
    let bytes = Bytes(to.sent_bytes.saturating_sub(from.sent_bytes));
    let packets = to.sent_packets.saturating_sub(from.sent_packets);
    let drops = to.drops.saturating_sub(from.drops);
    let marks = to.marks().map_or_else(String::new, |marks| format!(", {marks} marked"));
    format!("{bytes} in {}, {drops} dropped{marks}", counted(packets, "packet", "packets"))
}

/// Prints the JSON document of `--json`.
pub(super) fn print_json(result: &FixResult) -> Outcome {
    terminal::print(&format!("{:#}\n", result.document()))?;
    Ok(Exit::Healthy)
}

/// The command that undoes a fix.
pub(super) fn undo_line(device: &str, folder: &Path) -> String {
    // A later command needs the same flag.
    let state = if folder == Path::new(Place::USUAL) {
        String::new()
    } else {
        format!(" --state {}", folder.display())
    };
    format!("undo: fathom fix --undo {device}{state}\n")
}

/// The unit that starts the shaper with the system, if there is one.
pub(super) fn boot_line(file: Option<&Path>) -> String {
    file.map(|file| format!("Starts with the system: {}.\n", file.display())).unwrap_or_default()
}
