//! Events of a running test as JSON, one per line. Their schema is `docs/schema/event.schema.json`.
use crate::MeasureEvent;
use fathom_client::{Event, HopStatus};
use fathom_diagnose::Diagnosis;
use fathom_report::document;
use fathom_run::{Phase, Run, Value};
use serde_json::{Value as Json, json};

/// Incremented when a reader of the previous version would misread a line.
pub(crate) const VERSION: u32 = 1;

/// The event as a line, without its end; `None` if the line of another event says the same.
#[must_use]
pub fn line(event: &MeasureEvent<'_>) -> Option<String> {
    let json = match event {
        MeasureEvent::Started { title, .. } => json!({
            "event": "started", "version": VERSION, "tool_version": env!("CARGO_PKG_VERSION"), "title": title,
        }),
        MeasureEvent::Test(event) => of_test(event),
        MeasureEvent::Ended => return None,
    };
    Some(json.to_string())
}

/// The last line: the document of `--json`.
#[must_use]
pub fn result_line(run: &Run, diagnosis: &Diagnosis) -> String {
    json!({ "event": "result", "document": document(run, diagnosis) }).to_string()
}

fn of_test(event: &Event) -> Json {
    match event {
        Event::Connected(address) => json!({ "event": "connected", "address": address }),
        Event::Cost(cost) => {
            json!({ "event": "cost", "up_bytes": cost.up.get(), "down_bytes": cost.down.get() })
        }
        Event::PhaseStarted { kind, at } => {
            json!({ "event": "phase_started", "phase": kind, "at_s": at.as_secs_f64() })
        }
        Event::Observed { key, observation } => {
            let (name, value) = match observation.value {
                Value::Observed(value) => ("value", value),
                Value::Censored { at_least } => ("at_least", at_least),
            };
            let mut json = json!({ "event": "observed", "at_s": observation.at.as_secs_f64(), name: value });
            if let (Json::Object(json), Ok(Json::Object(key))) = (&mut json, serde_json::to_value(key)) {
                json.extend(key);
            }
            json
        }
        Event::Path(hops) => {
            let hop = |hop: &HopStatus| {
                json!({
                    "number": hop.number, "address": hop.address, "sent_packets": hop.sent, "lost_packets": hop.lost,
                })
            };
            json!({ "event": "path", "hops": hops.iter().map(hop).collect::<Vec<_>>() })
        }
        Event::PhaseEnded(Phase { kind, start_ns, end_ns, end, load }) => json!({
            "event": "phase_ended", "phase": kind, "start_s": *start_ns as f64 / 1e9,
            "end_s": *end_ns as f64 / 1e9, "end": end, "load": load,
        }),
        Event::BurstsStarted => json!({ "event": "bursts_started" }),
        Event::Note(note) => {
            json!({ "event": "note", "note": note, "text": fathom_prose::note(note) })
        }
    }
}
