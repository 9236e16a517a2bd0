//! The body that an Alertmanager takes (its API, version 2).
use crate::notice::Notice;
use fathom_units::{Duration, WallTime};
use fathom_watch_alert::Change;
use serde_json::{Value, json};

/// How often those that are raised are sent again: an Alertmanager forgets what nobody repeats.
pub(crate) const RESEND_EVERY: Duration = Duration::from_secs(60);
/// It ends by itself after so many times that, should this program be gone.
const OUTLIVES: u64 = 4;

/// Under what an Alertmanager knows an alert.
pub(crate) fn key(notice: &Notice) -> (String, String, String) {
    (notice.alert.clone(), notice.target.clone(), notice.probe.clone())
}

/// All of these in one request.
pub(crate) fn body<'n>(notices: impl Iterator<Item = &'n Notice>, now: WallTime) -> Value {
    Value::Array(notices.map(|notice| one(notice, now)).collect())
}

fn one(notice: &Notice, now: WallTime) -> Value {
    let ends = match notice.change {
        Change::Cleared => notice.at,
        _ => WallTime(now.0.saturating_add((RESEND_EVERY * OUTLIVES).as_nanos())),
    };
    let mut labels = json!({
        "alertname": notice.alert,
        "type": notice.condition,
        "target": notice.target,
        "group": notice.group,
        "probe": notice.probe,
        "job": "fathom",
    });
    if let Some(labels) = labels.as_object_mut() {
        // What is cleared because its rule is gone has no type; a label more would be another alert.
        labels.remove("type");
        if notice.is_test {
            labels.insert("test".to_owned(), json!("true"));
        }
        labels.retain(|_, value| value != "");
    }
    json!({
        "labels": labels,
        "annotations": { "summary": notice.title(), "description": notice.evidence, "note": notice.note },
        "startsAt": notice.raised_at.to_string(),
        "endsAt": ends.to_string(),
    })
}
