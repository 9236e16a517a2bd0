//! Parts of a page about captures, apart from the charts: flows and files.
use super::{Pair, for_each, name_above};
use crate::svg::escape;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{Capture, CapturedFlow, Run};
use fathom_text::{bytes, counted, milliseconds_bare, percent, rate, seconds, thousands};

/// Flows in the table, the largest first.
const FLOWS: usize = 12;

const HEAD: &str = "<tr><th>flow</th><th class=\"words\">from → to</th><th>payload</th><th>goodput</th>";
/// Headings of a flow's round trips.
const ROUND_TRIPS: [&str; 4] = ["min", "median", "p95", "max"];
/// Those of them that there is room for next to other captures.
const ALL: &[usize] = &[0, 1, 2, 3];
const MIDDLE_AND_HIGH: &[usize] = &[1, 2];

/// The flows by the numbers that charts and findings call them; nothing without a capture.
pub(super) fn flows(runs: &[Pair<'_>]) -> String {
    if runs.iter().all(|(run, _)| run.capture.is_none()) {
        return String::new();
    }
    let shown = if runs.len() > 1 { MIDDLE_AND_HIGH } else { ALL };
    let trips: String = shown
        .iter()
        .filter_map(|place| ROUND_TRIPS.get(*place))
        .map(|which| format!("<th>round trip<small>{which}, ms</small></th>"))
        .collect();
    let head = format!("{HEAD}{trips}<th>retransmitted<small>packets</small></th></tr>");
    let tables = for_each(runs, |(run, _)| {
        let rows = run.capture.as_ref().map_or_else(String::new, |capture| rows(capture, shown));
        let name = name_above(runs, run);
        format!("<div>{name}<div class=\"card scroll\"><table>{head}{rows}</table></div></div>")
    });
    format!("<h2>Flows</h2>{tables}")
}

fn rows(capture: &Capture, trips: &[usize]) -> String {
    let shown = capture.flows.iter().take(FLOWS);
    let mut rows: String = shown.clone().flat_map(|flow| [0, 1].map(|end| row(flow, end, trips))).collect();
    let more = capture.flow_count.saturating_sub(shown.count() as u64);
    if more > 0 {
        rows +=
            &format!("<tr><td></td><td class=\"words\">and {} more flows</td></tr>", thousands(more as f64));
    }
    rows
}

/// One direction of a flow; nothing of one that carried nothing.
fn row(flow: &CapturedFlow, end: usize, trips: &[usize]) -> String {
    let Some(((side, from), to)) = flow.sent.get(end).zip(flow.ends.get(end)).zip(flow.ends.get(1 - end))
    else {
        return String::new();
    };
    if side.payload_bytes == 0 {
        return String::new();
    }
    let dash = || String::from("–");
    let ms = side.rtt.map_or([dash(), dash(), dash(), dash()], |rtt| {
        [rtt.min_s, rtt.p50_s, rtt.p95_s, rtt.max_s].map(milliseconds_bare)
    });
    let again = side.retransmissions.packets();
    let again = match again {
        0 => String::from("0"),
        some => {
            format!("{} ({})", thousands(some as f64), percent(some as f64 / side.packets.max(1) as f64))
        }
    };
    let goodput = side.goodput_bits_per_second.map_or_else(dash, rate);
    let cells: String = [bytes(side.payload_bytes as f64), goodput]
        .into_iter()
        .chain(trips.iter().filter_map(|place| ms.get(*place).cloned()))
        .chain([again])
        .map(|cell| format!("<td>{cell}</td>"))
        .collect();
    format!(
        "<tr><td>{}</td><td class=\"words\">{} →\u{a0}{}</td>{cells}</tr>",
        flow.number,
        escape(from),
        escape(to)
    )
}

/// The files and what is wrong with them, for a person.
pub(super) fn facts(run: &Run, capture: &Capture) -> Vec<(String, String)> {
    let mut facts: Vec<(String, String)> = Vec::new();
    for source in &capture.sources {
        let size = format!(
            "{}, {}, {}",
            counted(source.frames, "frame", "frames"),
            bytes(source.wire_bytes as f64),
            seconds(source.duration_s)
        );
        facts.push((source.name.clone(), size));
        facts.extend(source.defects.iter().map(|defect| ("defect".into(), fathom_prose::defect(defect))));
    }
    facts.extend(capture.unknown.iter().map(|flow| ("unknown".into(), fathom_prose::unknown(flow))));
    facts.extend(run.notes.iter().map(|note| ("note".into(), fathom_prose::note(note))));
    facts
}

/// Definitions of the terms of the page.
pub(super) const FOOTER: &str = "The delay of a queue is the time that packets wait on one part of the path, above the minimum seen there. A round \
     trip is from the capture point to the other end and back, where it is known which transmission was answered. Outstanding data is sent \
     but neither acknowledged nor selectively acknowledged. Goodput is payload that was acknowledged for the first time. Curves show the \
     minimum and the maximum of each short time as a band.";
