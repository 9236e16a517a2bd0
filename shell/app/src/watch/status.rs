//! Status of a watch: the last minute of each target from the history, and the progress of each
//! push destination.
use super::HistorySource;
use super::history::directory;
use super::push::progress;
use crate::AppError;
use fathom_diagnose::{Diagnosis, RecentSeries, diagnose_recent};
use fathom_os::clock::wall_now;
use fathom_prose::{Verdict, compare_recent, recent_verdict};
use fathom_report::{CommandDocument, judged_document};
use fathom_units::{Duration, WallTime};
use fathom_watch_push::Progress;
use fathom_watch_samples::{Column, Sample, Sketch, Unit};
use fathom_watch_store::{HistoryError, HistoryReader};
use serde_json::{Value, json};

/// Maximum delay of the history behind the measurements.
const BEHIND: Duration = Duration::from_secs(15);
const WINDOW: Duration = Duration::from_secs(60);
/// The period from which the base latency is taken.
const DAY: Duration = Duration::from_secs(86_400);
const HOURS: usize = 24;

/// The last minute of a series.
#[derive(Clone, Debug)]
pub struct TargetStatus {
    /// What it shows.
    pub recent: RecentSeries,
    /// The results of its probes.
    pub minute: Column,
    /// The newest sample.
    pub newest: Option<Sample>,
}

/// Status of a watch.
#[derive(Clone, Debug)]
pub struct Status {
    /// Each series that was measured in the last minute, the worst first.
    pub targets: Vec<TargetStatus>,
    /// Time of the newest sample of the history.
    pub history_end: Option<WallTime>,
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
    let (targets, history_end) = read(&mut reader).map_err(AppError::history)?;
    Ok(Status { targets, history_end, pushes: progress(plan.as_ref(), &directory), faults: reader.faults() })
}

/// Each series of the last minute, and the time of the newest sample.
fn read(reader: &mut HistoryReader) -> Result<(Vec<TargetStatus>, Option<WallTime>), HistoryError> {
    let history_end = newest_of_all(reader)?;
    let now = wall_now();
    let is_fresh = |end: &WallTime| now.0.saturating_sub(end.0) <= BEHIND.as_nanos();
    let end = history_end.filter(is_fresh).unwrap_or(now);
    let before = |span: Duration| WallTime(end.0.saturating_sub(span.as_nanos()));
    let after_end = WallTime(end.0 + 1_000_000);
    let mut targets = Vec::new();
    for (id, key) in reader.series()? {
        if key.unit != Unit::Seconds {
            continue;
        }
        let minute = reader.columns(id, before(WINDOW), after_end, 1)?.pop();
        // A target that is no longer watched has no probes in the last minute.
        let Some(minute) = minute.filter(|column| column.tally.sent + column.tally.failed > 0) else {
            continue;
        };
        // Wider columns would be aligned to days.
        let mut day = Sketch::default();
        reader.columns(id, before(DAY), after_end, HOURS)?.iter().for_each(|hour| day.merge(&hour.sketch));
        let newest = reader.newest(id)?;
        targets.push(TargetStatus {
            recent: diagnose_recent(&key.target, &key.probe, &minute, &day),
            minute,
            newest,
        });
    }
    targets.sort_by(|a, b| compare_recent(&a.recent, &b.recent));
    Ok((targets, history_end))
}

fn newest_of_all(reader: &mut HistoryReader) -> Result<Option<WallTime>, HistoryError> {
    let mut newest = None;
    for (id, _) in reader.series()? {
        newest = newest.max(reader.newest(id)?.map(|sample| sample.at));
    }
    Ok(newest)
}

/// How far a destination is behind, in whole seconds. Smaller delays are normal, because samples
/// wait for their outcomes.
#[must_use]
pub fn behind(until: WallTime) -> Duration {
    Duration::from_secs(wall_now().0.saturating_sub(until.0) / 1_000_000_000)
}

impl Status {
    /// What each series shows, the worst first.
    #[must_use]
    pub fn series(&self) -> Vec<RecentSeries> {
        self.targets.iter().map(|target| target.recent.clone()).collect()
    }
    fn verdict(&self) -> Verdict {
        let end = self.history_end.map(|end| end.to_string());
        recent_verdict(&self.series(), end.as_deref())
    }
    /// The JSON document.
    #[must_use]
    pub fn document(&self) -> CommandDocument {
        let targets: Vec<Value> = self.targets.iter().map(target_document).collect();
        let pushes: Vec<Value> = self.pushes.iter().map(push_document).collect();
        let data = json!({ "targets": targets, "pushes": pushes });
        judged_document("watch status", &self.verdict(), &Diagnosis::default(), ("status", data))
    }
}

fn target_document(target: &TargetStatus) -> Value {
    let (tally, sketch) = (&target.minute.tally, &target.minute.sketch);
    json!({
        "target": target.recent.target,
        "probe": target.recent.probe,
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
        "base_p5_s": target.recent.base_p5_s,
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
