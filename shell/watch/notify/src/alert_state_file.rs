//! Stores the state of alerts in a file next to the history.
use crate::outbox::write;
use fathom_units::WallTime;
use fathom_watch_alert::{AlertState, Value};
use serde_json::json;
use std::path::{Path, PathBuf};

const FILE: &str = "alerts.json";

/// The file `alerts.json`.
#[derive(Clone, Debug)]
pub struct AlertStateFile {
    file: PathBuf,
}

impl AlertStateFile {
    /// The file in this directory.
    #[must_use]
    pub fn in_dir(dir: &Path) -> AlertStateFile {
        AlertStateFile { file: dir.join(FILE) }
    }
    /// Loads the states of alerts; empty if there is no file. A damaged file is renamed.
    ///
    /// # Errors
    /// If the file is damaged. Reported once, because the file is then renamed.
    pub fn load(&self) -> Result<Vec<AlertState>, String> {
        let Ok(text) = std::fs::read_to_string(&self.file) else { return Ok(Vec::new()) };
        let read = serde_json::from_str::<serde_json::Value>(&text).ok();
        let all = read.as_ref().and_then(|v| v.get("alerts")).and_then(serde_json::Value::as_array);
        let all = all.and_then(|all| all.iter().map(read_one).collect::<Option<Vec<AlertState>>>());
        all.ok_or_else(|| {
            let aside = self.file.with_extension("damaged");
            let _ = std::fs::rename(&self.file, &aside);
            format!(
                "{} is damaged and was renamed to {}: the states of alerts are lost",
                self.file.display(),
                aside.display()
            )
        })
    }
    /// Saves the states of alerts.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, all: &[AlertState]) -> Result<(), String> {
        let all: Vec<serde_json::Value> = all.iter().map(one).collect();
        let text = json!({ "version": 1, "alerts": all }).to_string();
        write(&self.file, &text).map_err(|error| format!("{}: {error}", self.file.display()))
    }
}

fn one(state: &AlertState) -> serde_json::Value {
    let values = |values: &[Value]| values.iter().map(value).collect::<Vec<_>>();
    json!({
        "alert": state.alert, "target": state.target, "probe": state.probe, "raised": state.is_raised,
        "flapping": state.is_flapping, "sent": state.is_sent, "to": state.to, "since_ns": state.since.0,
        "raised_at_ns": state.raised_at.0, "told_ns": state.notified.0, "why": state.why,
        "changes_ns": state.changes.iter().map(|at| at.0).collect::<Vec<_>>(),
        "loss_percent": values(&state.loss), "rtt_ms": values(&state.rtt),
    })
}

fn value(value: &Value) -> serde_json::Value {
    match value {
        Value::Start => json!("S"),
        Value::Unknown => json!("U"),
        Value::Number(number) => json!(number),
    }
}

fn read_one(state: &serde_json::Value) -> Option<AlertState> {
    let text = |key: &str| state.get(key)?.as_str().map(str::to_owned);
    let flag = |key: &str| state.get(key)?.as_bool();
    let time = |key: &str| state.get(key)?.as_u64().map(WallTime);
    let list = |key: &str| state.get(key)?.as_array().cloned();
    let values = |key: &str| list(key)?.iter().map(read_value).collect::<Option<Vec<Value>>>();
    Some(AlertState {
        alert: text("alert")?,
        target: text("target")?,
        probe: text("probe")?,
        is_raised: flag("raised")?,
        is_flapping: flag("flapping")?,
        is_sent: flag("sent")?,
        to: list("to")?.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?,
        since: time("since_ns")?,
        raised_at: time("raised_at_ns")?,
        notified: time("told_ns")?,
        why: text("why")?,
        changes: list("changes_ns")?.iter().map(|at| at.as_u64().map(WallTime)).collect::<Option<_>>()?,
        loss: values("loss_percent")?,
        rtt: values("rtt_ms")?,
    })
}

fn read_value(value: &serde_json::Value) -> Option<Value> {
    match value.as_str() {
        Some("S") => Some(Value::Start),
        Some("U") => Some(Value::Unknown),
        Some(_) => None,
        None => value.as_f64().map(Value::Number),
    }
}
