//! Status of a watch: the last minute of each target from the history, and the progress of each
//! push destination.
use super::HistorySource;
use super::history::directory;
use super::push::progress;
use crate::AppError;
use fathom_diagnose::Diagnosis;
use fathom_os::clock::wall_now;
use fathom_report::{CommandDocument, command_document};
use fathom_units::{Duration, WallTime};
use fathom_watch_push::Progress;
use fathom_watch_samples::{Column, Sample, Unit};
use fathom_watch_store::{HistoryError, HistoryReader, SeriesKey};
use serde_json::{Value, json};

/// Maximum delay of the history behind the measurements.
const BEHIND: Duration = Duration::from_secs(15);
const WINDOW: Duration = Duration::from_secs(60);

/// The last minute of a series.
#[derive(Clone, Debug)]
pub struct TargetStatus {
    /// The series.
    pub key: SeriesKey,
    /// The results of its probes.
    pub minute: Column,
    /// The newest sample.
    pub newest: Option<Sample>,
}

/// Status of a watch.
#[derive(Clone, Debug)]
pub struct Status {
    /// Each series that was measured in the last minute, by target.
    pub targets: Vec<TargetStatus>,
    /// Progress of each push destination.
    pub pushes: Vec<Progress>,
    /// Parts of the history that cannot be read.
    pub faults: Vec<String>,
}

/// Reads the last minute.
///
/// # Errors
/// If the history cannot be read.
pub fn status(source: &HistorySource) -> Result<Status, AppError> {
    let plan = source.plan()?;
    let directory = directory(source.store.as_deref(), plan.as_ref())?;
    let mut reader = HistoryReader::open(&directory).map_err(AppError::history)?;
    let targets = read(&mut reader).map_err(AppError::history)?;
    Ok(Status { targets, pushes: progress(plan.as_ref(), &directory), faults: reader.faults() })
}

fn read(reader: &mut HistoryReader) -> Result<Vec<TargetStatus>, HistoryError> {
    let newest_end = newest_of_all(reader, wall_now())?;
    let from = WallTime(newest_end.0.saturating_sub(WINDOW.as_nanos()));
    let mut targets = Vec::new();
    for (id, key) in reader.series()? {
        if key.unit != Unit::Seconds {
            continue;
        }
        let column = reader.columns(id, from, WallTime(newest_end.0 + 1_000_000), 1)?.pop();
        let newest = reader.newest(id)?;
        // A target that is no longer watched has no probes in the last minute.
        if let Some(minute) = column.filter(|column| column.tally.sent + column.tally.failed > 0) {
            targets.push(TargetStatus { key, minute, newest });
        }
    }
    targets.sort_by(|a, b| (&a.key.target, &a.key.probe).cmp(&(&b.key.target, &b.key.probe)));
    Ok(targets)
}

/// The end of the last minute: now, or the end of the history if it is only a little behind.
fn newest_of_all(reader: &mut HistoryReader, now: WallTime) -> Result<WallTime, HistoryError> {
    let mut newest = WallTime(0);
    for (id, _) in reader.series()? {
        newest = newest.max(reader.newest(id)?.map_or(newest, |sample| sample.at));
    }
    let is_fresh = now.0.saturating_sub(newest.0) <= BEHIND.as_nanos();
    Ok(if is_fresh { newest } else { now })
}

/// How far a destination is behind, in whole seconds. Smaller delays are normal, because samples
/// wait for their outcomes.
#[must_use]
pub fn behind(until: WallTime) -> Duration {
    Duration::from_secs(wall_now().0.saturating_sub(until.0) / 1_000_000_000)
}

impl Status {
    /// The JSON document.
    #[must_use]
    pub fn document(&self) -> CommandDocument {
        let targets: Vec<Value> = self.targets.iter().map(target_document).collect();
        let pushes: Vec<Value> = self.pushes.iter().map(push_document).collect();
        let headline = format!("{} series in the last minute", targets.len());
        let data = json!({ "targets": targets, "pushes": pushes });
        command_document("watch status", headline, &Diagnosis::default(), ("status", data))
    }
}

fn target_document(target: &TargetStatus) -> Value {
    let (tally, sketch) = (&target.minute.tally, &target.minute.sketch);
    json!({
        "target": target.key.target,
        "probe": target.key.probe,
        "from": target.minute.from.to_string(),
        "to": target.minute.to.to_string(),
        "sent": tally.sent,
        "answered": tally.answered,
        "late": tally.late,
        "lost": tally.lost,
        "failed": tally.failed,
        "duplicates": tally.duplicates,
        "reordered": tally.reordered,
        "loss_ratio": tally.loss_ratio(),
        "median_s": sketch.quantile(0.5),
        "p95_s": sketch.quantile(0.95),
        "max_s": sketch.max(),
        "newest_at": target.newest.map(|sample| sample.at.to_string()),
    })
}

fn push_document(push: &Progress) -> Value {
    match &push.sent_until {
        Ok(until) => {
            json!({ "name": push.name, "sent_until": until.to_string(), "behind_s": behind(*until).as_secs_f64() })
        }
        Err(why) => json!({ "name": push.name, "problem": why }),
    }
}
