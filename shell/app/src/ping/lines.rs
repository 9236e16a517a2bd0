//! Events of a running ping as JSON, one per line. Their schema is `docs/schema/event.schema.json`.
use super::Progress;
use crate::test::lines::VERSION;
use fathom_client::{PingEvent, ReplyKind};
use serde_json::{Value as Json, json};

/// The event as a line, without its end; `None` if it is not for others. `names` are those of the
/// targets, and `title` that of the run.
#[must_use]
pub fn line(progress: &Progress<'_>, names: &[String], title: &str) -> Option<String> {
    let json = match progress {
        Progress::Failed(target, error) => {
            json!({ "event": "failed", "target": target, "text": error.to_string() })
        }
        Progress::Started(..) => json!({
            "event": "started", "version": VERSION, "tool_version": env!("CARGO_PKG_VERSION"), "title": title,
        }),
        Progress::Event { event, is_late, .. } => of_event(event, *is_late, names)?,
    };
    Some(json.to_string())
}

fn of_event(event: &PingEvent, is_late: bool, names: &[String]) -> Option<Json> {
    Some(match event {
        PingEvent::Sent { .. } | PingEvent::Idle => return None,
        PingEvent::NotSent { target, reason } => {
            json!({ "event": "not_sent", "target": names.get(*target), "reason": reason })
        }
        PingEvent::Note { target, note } => json!({
            "event": "note", "target": names.get(*target), "note": note, "text": fathom_prose::note(note),
        }),
        PingEvent::Refused { target, sequence, by, error } => json!({
            "event": "refused",
            "target": names.get(*target),
            "sequence": u64::from(*sequence) + 1,
            "by": by,
            "icmp_type": error.icmp_type,
            "code": error.code,
            "text": error.to_string(),
        }),
        PingEvent::Reply { target, reply, one_way } => {
            let mut json = json!({
                "event": "reply",
                "target": names.get(*target),
                "sequence": u64::from(reply.sequence) + 1,
                "at_s": reply.sent.as_secs_f64(),
                "value": reply.reply.delay.as_secs_f64(),
                "duplicate": reply.reply.kind == ReplyKind::Duplicate,
                "late": is_late,
                "reordered": reply.reply.is_reordered,
            });
            if let (Some(one_way), Json::Object(json)) = (one_way, &mut json) {
                json.insert("up_s".to_owned(), one_way.up.as_secs_f64().into());
                json.insert("down_s".to_owned(), one_way.down.as_secs_f64().into());
            }
            json
        }
    })
}
