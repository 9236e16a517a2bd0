//! `truth.json` in the capture directory of a lab: what an analysis of the captures should find.
use crate::{AppError, VERSION};
use fathom_lab::{CaptureReport, LabReport, Loss, QueueReport};
use fathom_link::BottleneckParams;
use fathom_scenario::{HopPlan, LinePlan};
use fathom_units::Direction;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Writes the file if there are captures. Returns the number of captures and of packets that they
/// lack.
pub(crate) fn save(
    directory: &Path,
    facts: &BTreeMap<fathom_run::Fact, String>,
    line: &LinePlan,
    report: &LabReport,
) -> Result<Option<(usize, u64)>, AppError> {
    let Some(capture) = &report.capture else { return Ok(None) };
    let path = directory.join("truth.json");
    let text = document(facts, line, &report.queues, capture);
    std::fs::write(&path, text).map_err(|source| AppError::Truth { path, source })?;
    Ok(Some((capture.files.len(), capture.files.iter().map(|file| file.missing).sum())))
}

/// Puts each member of the list on a separate line, for readability.
fn document(
    facts: &BTreeMap<fathom_run::Fact, String>,
    line: &LinePlan,
    queues: &[QueueReport],
    capture: &CaptureReport,
) -> String {
    let files = capture
        .files
        .iter()
        .map(|f| json!({"file": f.name, "place": f.place, "packets": f.packets, "missing": f.missing}));
    let both = |hop: usize, plan: &HopPlan| {
        [(hop, Direction::Up, plan.up.clone()), (hop, Direction::Down, plan.down.clone())]
    };
    let sides = line.hops.iter().enumerate().flat_map(|(hop, plan)| both(hop, plan));
    let queues = sides
        .zip(queues)
        .map(|((hop, direction, params), totals)| queue(&params, totals, capture.around(hop, direction)));
    let losses = capture.losses.iter().map(|lost| loss(lost, line, capture));
    let lists = [("files", lines(files)), ("queues", lines(queues)), ("losses", lines(losses))];
    let mut text = format!("{{\n\"tool_version\": {},\n\"facts\": {}", json!(VERSION), json!(facts));
    for (name, list) in lists {
        // Writing to a String cannot fail.
        let _ = write!(text, ",\n\"{name}\": {list}");
    }
    text + "\n}\n"
}

fn lines(members: impl Iterator<Item = Value>) -> String {
    let members: Vec<_> = members.map(|member| member.to_string()).collect();
    format!("[\n{}\n]", members.join(",\n"))
}

fn queue(params: &BottleneckParams, totals: &QueueReport, between: [&str; 2]) -> Value {
    json!({
        "hop": totals.hop,
        "direction": totals.direction.name(),
        "between": between,
        "discipline": params.queue.to_string(),
        "rate_bits_per_second": params.nominal_rate().map(|rate| rate.as_bits_per_second()),
        "overhead_bytes": params.overhead.get(),
        "delay_s": params.delay.as_secs_f64(),
        "arrived_packets": totals.arrived_packets,
        "dropped_packets": totals.dropped_packets,
        "marked_packets": totals.marked_packets,
        "max_backlog_bytes": totals.max_backlog.get(),
    })
}

fn loss(lost: &Loss, line: &LinePlan, capture: &CaptureReport) -> Value {
    let sender = match lost.direction {
        Direction::Up => capture.files.first(),
        Direction::Down => capture.files.last(),
    };
    json!({
        "at_ns": lost.at.0,
        "hop": line.hops[lost.hop].name,
        "direction": lost.direction.name(),
        "reason": lost.reason.to_string(),
        "file": sender.map(|file| &file.name),
        "frame": lost.frame,
    })
}
