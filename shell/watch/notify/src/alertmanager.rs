//! Request bodies for an Alertmanager (its API, version 2).
use crate::notice::Notice;
use fathom_units::{Duration, WallTime};
use fathom_watch_alert::Change;
use serde_json::{Value, json};

/// Interval of resending raised alerts: an Alertmanager resolves alerts that are not repeated.
pub(crate) const RESEND_EVERY: Duration = Duration::from_secs(60);
/// An alert expires after this many intervals if this program stops.
const OUTLIVES: u64 = 4;

/// The identity of an alert in an Alertmanager.
pub(crate) fn key(notice: &Notice) -> (String, String, String) {
    (notice.alert.clone(), notice.target.clone(), notice.probe.clone())
}

/// One request with all notices.
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
        // An alert cleared because its rule was removed has no type. Different labels would make it
        // another alert.
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
