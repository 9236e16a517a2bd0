//! Status of a watch: the last minute of each target from the history, and the progress of each
//! push destination.
use crate::archive;
use crate::line_tests::{LastTest, last_test};
use crate::push::progress;
use fathom_app::AppError;
use fathom_app::history::HistorySource;
use fathom_app::history::directory;
use fathom_diagnose::{Diagnosis, RecentSeries, diagnose_recent};
use fathom_os::clock::wall_now;
use fathom_prose::{Verdict, compare_recent, recent_verdict};
use fathom_report::{CommandDocument, judged_document};
use fathom_units::{Duration, WallTime};
use fathom_watch_archive::{Progress as ArchiveProgress, Sent};
use fathom_watch_plan::{TEST_DELAYS, is_of_test};
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
/// A test takes less than this.
const LONGEST_TEST: Duration = Duration::from_secs(300);
/// Older results are those of tests that are no longer made: the longest interval is a week.
const TESTS_WITHIN: Duration = Duration::from_secs(14 * 86_400);

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

/// The last result of a scheduled test.
#[derive(Clone, PartialEq, Debug)]
pub struct TestStatus {
    /// Name of the test.
    pub name: String,
    /// When it ended.
    pub at: WallTime,
    /// Each of its series that has a value, in seconds, bit/s and bytes; none if it failed.
    pub values: Vec<(String, f64)>,
}

/// Status of a watch.
#[derive(Clone, Debug)]
pub struct Status {
    /// Each series that was measured in the last minute, the worst first.
    pub targets: Vec<TargetStatus>,
    /// The last result of each scheduled test.
    pub tests: Vec<TestStatus>,
    /// The test that loaded the line in the last minute: `targets` has the minute before it.
    pub tested: Option<String>,
    /// Time of the newest sample of the history.
    pub history_end: Option<WallTime>,
    /// Progress of each push destination.
    pub pushes: Vec<Progress>,
    /// Progress of each archive.
    pub archives: Vec<ArchiveProgress>,
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
    let history_end = newest_of_all(&mut reader).map_err(AppError::history)?;
    let now = wall_now();
    let is_fresh = |end: &WallTime| now.0.saturating_sub(end.0) <= BEHIND.as_nanos();
    let end = history_end.filter(is_fresh).unwrap_or(now);
    let last = last_test(&directory).filter(|last| overlaps(last, end));
    let end = last.as_ref().map_or(end, |last| last.began);
    let targets = read(&mut reader, end).map_err(AppError::history)?;
    let tests = tests(&mut reader, now).map_err(AppError::history)?;
    Ok(Status {
        targets,
        tests,
        tested: last.map(|last| last.name),
        history_end,
        pushes: progress(plan.as_ref(), &directory),
        archives: archive::progress(plan.as_ref(), &directory),
        faults: reader.faults(),
    })
}

/// Whether a test loaded the line in the minute before `end`. A test that never ended was killed,
/// unless it is recent.
fn overlaps(last: &LastTest, end: WallTime) -> bool {
    let until = last.ended.map_or(last.began.0.saturating_add(LONGEST_TEST.as_nanos()), |ended| ended.0);
    last.began < end && end.0.saturating_sub(WINDOW.as_nanos()) < until
}

/// The last result of each test.
fn tests(reader: &mut HistoryReader, now: WallTime) -> Result<Vec<TestStatus>, HistoryError> {
    let all = reader.series()?;
    let mut tests = Vec::new();
    for (main, key) in all.iter().filter(|(_, key)| key.probe == TEST_DELAYS[0]) {
        let Some(at) = reader.newest(*main)?.map(|sample| sample.at) else { continue };
        if now.0.saturating_sub(at.0) > TESTS_WITHIN.as_nanos() {
            continue;
        }
        let mut values = Vec::new();
        for (id, own) in all.iter().filter(|(_, own)| own.target == key.target && is_of_test(&own.probe)) {
            let column = reader.columns(*id, at, WallTime(at.0 + 1_000_000), 1)?.pop();
            let value = column.and_then(|column| column.sketch.quantile(0.5));
            values.extend(value.map(|value| (own.probe.clone(), value)));
        }
        tests.push(TestStatus { name: key.target.clone(), at, values });
    }
    Ok(tests)
}

/// Each series of the minute before `end`.
fn read(reader: &mut HistoryReader, end: WallTime) -> Result<Vec<TargetStatus>, HistoryError> {
    let before = |span: Duration| WallTime(end.0.saturating_sub(span.as_nanos()));
    let after_end = WallTime(end.0 + 1_000_000);
    let mut targets = Vec::new();
    for (id, key) in reader.series()? {
        if key.unit != Unit::Seconds || is_of_test(&key.probe) {
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
    Ok(targets)
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
        let tests: Vec<Value> = self.tests.iter().map(test_document).collect();
        let archives: Vec<Value> = self.archives.iter().map(archive_document).collect();
        let data = json!({
            "targets": targets, "tests": tests, "tested": self.tested, "pushes": pushes, "archives": archives,
        });
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

fn test_document(test: &TestStatus) -> Value {
    let value = |probe: &str| test.values.iter().find(|(known, _)| known == probe).map(|(_, value)| *value);
    json!({
        "test": test.name,
        "at": test.at.to_string(),
        "lag_up_s": value("lag up"),
        "lag_down_s": value("lag down"),
        "idle_p50_s": value("idle"),
        "goodput_up_bits_per_second": value("rate up"),
        "goodput_down_bits_per_second": value("rate down"),
        "buffer_up_bytes": value("buffer up"),
        "buffer_down_bytes": value("buffer down"),
    })
}

fn archive_document(archive: &ArchiveProgress) -> Value {
    match &archive.sent {
        Ok(Sent { until, objects, refused, results }) => json!({
            "name": archive.name, "sent_until": until.map(|until| until.to_string()), "objects": objects,
            "refused": refused, "results": results,
        }),
        Err(why) => json!({ "name": archive.name, "problem": why }),
    }
}

fn push_document(push: &Progress) -> Value {
    match &push.sent_until {
        Ok(until) => {
            json!({ "name": push.name, "sent_until": until.to_string(), "behind_s": behind(*until).as_secs_f64() })
        }
        Err(why) => json!({ "name": push.name, "problem": why }),
    }
}
