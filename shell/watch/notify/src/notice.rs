//! One notification, in words and as JSON.
use fathom_units::WallTime;
use fathom_watch_alert::{Change, Transition};
use serde_json::{Value, json};

/// Version of the JSON body; incremented for incompatible changes.
const VERSION: u64 = 1;

/// One notification to one receiver.
#[derive(Clone, PartialEq, Debug)]
pub struct Notice {
    pub(crate) at: WallTime,
    pub(crate) change: Change,
    pub(crate) alert: String,
    pub(crate) condition: String,
    pub(crate) target: String,
    pub(crate) group: String,
    pub(crate) probe: String,
    pub(crate) raised_at: WallTime,
    pub(crate) evidence: String,
    pub(crate) value: Option<f64>,
    pub(crate) limit: Option<f64>,
    pub(crate) note: String,
    pub(crate) is_test: bool,
}

impl From<&Transition> for Notice {
    fn from(one: &Transition) -> Self {
        Notice {
            at: one.at,
            change: one.change,
            alert: one.alert.clone(),
            condition: one.condition.to_owned(),
            target: one.target.clone(),
            group: one.group.clone(),
            probe: one.probe.clone(),
            raised_at: one.raised_at,
            evidence: one.evidence.text.clone(),
            value: one.evidence.value,
            limit: one.evidence.limit,
            note: one.note.clone(),
            is_test: false,
        }
    }
}

impl Notice {
    /// A notification that is marked as a test, of an alert or of none.
    #[must_use]
    pub fn test(alert: &str, at: WallTime) -> Notice {
        Notice {
            at,
            change: Change::Raised,
            alert: alert.to_owned(),
            condition: "test".to_owned(),
            target: "test".to_owned(),
            group: String::new(),
            probe: "test".to_owned(),
            raised_at: at,
            evidence: "this is a test notification from fathom watch; nothing is wrong".to_owned(),
            value: None,
            limit: None,
            note: String::new(),
            is_test: true,
        }
    }
    /// The notification in one line.
    #[must_use]
    pub fn title(&self) -> String {
        let test = if self.is_test { "TEST: " } else { "" };
        let (change, alert) = (self.change.name(), &self.alert);
        format!("{test}{alert} {change}: {} {}", self.target, self.probe)
    }
    /// The JSON body of a webhook, and the input of a command, as described in `docs/watch.md`.
    #[must_use]
    pub fn json(&self) -> Value {
        let unit = if self.condition == "loss" { "ratio" } else { "s" };
        let mut body = json!({
            "version": VERSION,
            "test": self.is_test,
            "status": self.change.name(),
            "alert": self.alert,
            "type": self.condition,
            "target": self.target,
            "group": self.group,
            "probe": self.probe,
            "at": self.at.to_string(),
            "raised_at": self.raised_at.to_string(),
            "title": self.title(),
            "evidence": self.evidence,
            "note": self.note,
        });
        if let Some(map) = body.as_object_mut() {
            let numbers = [("value", self.value), ("limit", self.limit)];
            for (key, number) in numbers.into_iter().filter_map(|(key, n)| n.map(|n| (key, n))) {
                map.insert(format!("{key}_{unit}"), json!(number));
            }
        }
        body
    }
    /// The form stored in an outbox.
    pub(crate) fn kept(&self) -> Value {
        json!({
            "at_ns": self.at.0, "change": self.change.name(), "alert": self.alert, "condition": self.condition,
            "target": self.target, "group": self.group, "probe": self.probe, "raised_at_ns": self.raised_at.0,
            "evidence": self.evidence, "value": self.value, "limit": self.limit, "note": self.note,
        })
    }
    pub(crate) fn read(kept: &Value) -> Option<Notice> {
        let text = |key: &str| kept.get(key)?.as_str().map(str::to_owned);
        let time = |key: &str| kept.get(key)?.as_u64().map(WallTime);
        let number = |key: &str| kept.get(key).and_then(Value::as_f64);
        let word = text("change")?;
        let all = [Change::Raised, Change::Cleared, Change::Flapping, Change::Still];
        Some(Notice {
            at: time("at_ns")?,
            change: all.into_iter().find(|change| change.name() == word)?,
            alert: text("alert")?,
            condition: text("condition")?,
            target: text("target")?,
            group: text("group")?,
            probe: text("probe")?,
            raised_at: time("raised_at_ns")?,
            evidence: text("evidence")?,
            value: number("value"),
            limit: number("limit"),
            note: text("note")?,
            is_test: false,
        })
    }
}
