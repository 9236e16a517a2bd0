//! Texts and documents of a fix.
use crate::failure::{Exit, Outcome};
use crate::terminal;
use fathom_shaper::conflicts::Conflict;
use fathom_shaper::{Look, Place, Plan, Side, short};
use fathom_tc::{Request, Stats};
use fathom_units::Bytes;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// Commands of one step that are shown; the flow hash has more than a hundred that are alike.
const SHOWN: usize = 4;

/// The plan with its undo commands, and the conflicts.
pub(super) fn plan(plan: &Plan, conflicts: &[Conflict]) -> String {
    let side = |what: &str, side: &Option<Side>| {
        side.as_ref().map(|side| format!("{what} at most {}", side.shaper.rate))
    };
    let both = [side("what leaves", &plan.up), side("what arrives", &plan.down)];
    let both: Vec<String> = both.into_iter().flatten().collect();
    let mut text = format!("{}: {}, by {}\n", plan.device, both.join(", "), plan.kind);
    for (number, step) in (1..).zip(&plan.steps) {
        let _ = write!(text, "\n{number}. {}\n", step.does);
        text += &commands("   ", &step.requests);
    }
    text += "\nTo undo it:\n";
    for step in plan.steps.iter().rev() {
        text += &commands("   ", &step.undo);
    }
    text + &warnings(conflicts)
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

/// Conflicts, each with what to try.
fn warnings(found: &[Conflict]) -> String {
    let mut text = String::new();
    for conflict in found {
        let _ = write!(text, "\nwarning: {}\n  try: {}\n", conflict.what, conflict.advice);
    }
    text
}

/// What passed while it was on.
pub(super) fn held([before, after]: [&Look; 2], found: &[Conflict]) -> String {
    let mut text = String::new();
    for (what, from, to) in [("left", &before.up, &after.up), ("arrived", &before.down, &after.down)] {
        if let (Some(from), Some(to)) = (from, to) {
            let _ = writeln!(text, "{what}: {}", passed(from, to));
        }
    }
    text += &warnings(found);
    text + &format!("{} is as it was before.\n", after.link.name)
}

fn passed(from: &Stats, to: &Stats) -> String {
    let bytes = Bytes(to.sent_bytes.saturating_sub(from.sent_bytes));
    let packets = to.sent_packets.saturating_sub(from.sent_packets);
    let drops = to.drops.saturating_sub(from.drops);
    let marks = to.marks().map_or_else(String::new, |marks| format!(", {marks} marked"));
    format!("{bytes} in {packets} packets, {drops} dropped{marks}")
}

/// Of a shaper, between two looks, for JSON.
pub(super) fn counters(from: Option<&Stats>, to: Option<&Stats>) -> Value {
    let (Some(from), Some(to)) = (from, to) else { return Value::Null };
    json!({
        "sent_bytes": to.sent_bytes.saturating_sub(from.sent_bytes),
        "sent_packets": to.sent_packets.saturating_sub(from.sent_packets),
        "dropped_packets": to.drops.saturating_sub(from.drops),
        "marked_packets": to.marks(),
        "backlog_bytes": to.backlog_bytes,
    })
}

/// The one document of `--json`.
pub(super) fn document(about: Value, result: &str, found: &[Conflict], counters: Option<Value>) -> Value {
    let warnings: Vec<Value> =
        found.iter().map(|conflict| json!({ "what": conflict.what, "try": conflict.advice })).collect();
    json!({ "result": result, "plan": about, "warnings": warnings, "counters": counters })
}

pub(super) fn print_json(document: &Value) -> Outcome {
    terminal::print(&format!("{document:#}\n"))?;
    Ok(Exit::Healthy)
}

/// The flag that a later command needs too.
pub(super) fn state_flag(folder: &Path) -> String {
    if folder == Path::new(Place::USUAL) { String::new() } else { format!(" --state {}", folder.display()) }
}
