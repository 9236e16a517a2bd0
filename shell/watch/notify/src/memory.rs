//! How alerts stand, in a file beside the history.
use crate::outbox::write;
use fathom_units::WallTime;
use fathom_watch_alert::{Remembered, Value};
use serde_json::json;
use std::path::{Path, PathBuf};

const FILE: &str = "alerts.json";

/// The file.
#[derive(Clone, Debug)]
pub struct Memory {
    file: PathBuf,
}

impl Memory {
    /// In this directory.
    #[must_use]
    pub fn in_dir(dir: &Path) -> Memory {
        Memory { file: dir.join(FILE) }
    }
    /// How alerts stood. Nothing is remembered where there is no file; one that is damaged is set aside and said.
    ///
    /// # Errors
    /// In words, once: the file is then out of the way.
    pub fn load(&self) -> Result<Vec<Remembered>, String> {
        let Ok(text) = std::fs::read_to_string(&self.file) else { return Ok(Vec::new()) };
        let read = serde_json::from_str::<serde_json::Value>(&text).ok();
        let all = read.as_ref().and_then(|v| v.get("alerts")).and_then(serde_json::Value::as_array);
        let all = all.and_then(|all| all.iter().map(read_one).collect::<Option<Vec<Remembered>>>());
        all.ok_or_else(|| {
            let aside = self.file.with_extension("damaged");
            let _ = std::fs::rename(&self.file, &aside);
            format!(
                "{} is damaged and was set aside as {}: which alerts were raised is forgotten",
                self.file.display(),
                aside.display()
            )
        })
    }
    /// Keeps how they stand.
    ///
    /// # Errors
    /// In words: the disk is full, or gone.
    pub fn save(&self, all: &[Remembered]) -> Result<(), String> {
        let all: Vec<serde_json::Value> = all.iter().map(one).collect();
        let text = json!({ "version": 1, "alerts": all }).to_string();
        write(&self.file, &text).map_err(|error| format!("{}: {error}", self.file.display()))
    }
}

fn one(kept: &Remembered) -> serde_json::Value {
    let values = |values: &[Value]| values.iter().map(value).collect::<Vec<_>>();
    json!({
        "alert": kept.alert, "target": kept.target, "probe": kept.probe, "raised": kept.is_raised,
        "flapping": kept.is_flapping, "sent": kept.is_sent, "to": kept.to, "since_ns": kept.since.0,
        "raised_at_ns": kept.raised_at.0, "told_ns": kept.told.0, "why": kept.why,
        "changes_ns": kept.changes.iter().map(|at| at.0).collect::<Vec<_>>(),
        "loss_percent": values(&kept.loss), "rtt_ms": values(&kept.rtt),
    })
}

fn value(value: &Value) -> serde_json::Value {
    match value {
        Value::Start => json!("S"),
        Value::Unknown => json!("U"),
        Value::Number(number) => json!(number),
    }
}

fn read_one(kept: &serde_json::Value) -> Option<Remembered> {
    let text = |key: &str| kept.get(key)?.as_str().map(str::to_owned);
    let flag = |key: &str| kept.get(key)?.as_bool();
    let time = |key: &str| kept.get(key)?.as_u64().map(WallTime);
    let list = |key: &str| kept.get(key)?.as_array().cloned();
    let values = |key: &str| list(key)?.iter().map(read_value).collect::<Option<Vec<Value>>>();
    Some(Remembered {
        alert: text("alert")?,
        target: text("target")?,
        probe: text("probe")?,
        is_raised: flag("raised")?,
        is_flapping: flag("flapping")?,
        is_sent: flag("sent")?,
        to: list("to")?.iter().map(|name| name.as_str().map(str::to_owned)).collect::<Option<_>>()?,
        since: time("since_ns")?,
        raised_at: time("raised_at_ns")?,
        told: time("told_ns")?,
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
