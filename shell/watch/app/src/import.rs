//! Imports from SmokePing: converts its configuration, and imports its databases into the history.
use crate::open_history;
use fathom_app::AppError;
use fathom_os::clock::wall_now;
use fathom_os::files::{read_at_most, read_text_at_most};
use fathom_units::WallTime;
use fathom_watch_import::smokeping::{Imported, ImportedTarget, MAX_BYTES, Rounds, import, rounds};
use fathom_watch_plan::{MAX_FILE_BYTES, Plan};
use fathom_watch_samples::Unit;
use fathom_watch_store::{Event, History, ImportSummary, Repair, SeriesId, SeriesKey};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often progress is reported.
const REPORT_EVERY: Duration = Duration::from_secs(2);
/// Maximum depth of directories: symbolic links can form a cycle.
const MAX_DEPTH: usize = 64;
/// Maximum size of a database, in bytes. SmokePing's default archives with 20 pings take 3 MB.
const MAX_DATABASE_BYTES: u64 = 64 << 20;

/// A converted configuration.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The converted configuration.
    pub imported: Imported,
    /// The plan of the converted configuration.
    pub plan: Plan,
}

/// Converts a configuration of SmokePing. Calls `note` for everything that is not converted.
/// `output` is the name of the result in errors.
///
/// # Errors
/// If it cannot be read, or has no target that a watch can probe.
pub fn convert(config: &Path, output: &str, note: &mut dyn FnMut(String)) -> Result<Conversion, AppError> {
    let file = config.display().to_string();
    // The encoding of the file is unknown.
    let mut read = |name: &str| {
        let bytes = read_at_most(Path::new(name), MAX_BYTES as u64).map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    let imported = import(&file, &mut read).map_err(|mistake| AppError::WatchPlan(mistake.to_string()))?;
    imported.notes.iter().for_each(|one| note(one.to_string()));
    if imported.targets.is_empty() {
        return Err(AppError::NothingToWatch { file });
    }
    let plan = fathom_watch_plan::parse(&imported.toml, output);
    let plan = plan.map_err(|mistake| AppError::WatchPlan(mistake.to_string()))?;
    Ok(Conversion { imported, plan })
}

impl Conversion {
    /// Writes the configuration. An existing file with other content is not overwritten, because it
    /// may have been edited.
    ///
    /// # Errors
    /// If there is such a file, or it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), AppError> {
        let toml = &self.imported.toml;
        match read_text_at_most(path, MAX_FILE_BYTES as u64) {
            Ok(existing) if existing == *toml => return Ok(()),
            Ok(_) => return Err(AppError::OtherContent { path: path.to_owned() }),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(_) => return Err(AppError::OtherContent { path: path.to_owned() }),
        }
        let refused =
            |error: std::io::Error| AppError::Unwritable { path: path.to_owned(), reason: error.to_string() };
        std::fs::write(path, toml).map_err(refused)
    }
}

/// Progress of an import.
#[derive(Debug)]
pub enum ImportEvent {
    /// The history was repaired.
    Repaired(Repair),
    /// A target has no database.
    NoDatabase {
        /// The expected path.
        path: PathBuf,
        /// The target.
        target: String,
    },
    /// A database was not imported.
    NotImported {
        /// The database.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// A database belongs to no target of the plan.
    LeftOut {
        /// The database.
        path: PathBuf,
        /// Whether another host (a slave of SmokePing) measured it.
        is_of_slave: bool,
    },
    /// Progress.
    Progress {
        /// Databases done.
        done: usize,
        /// Databases in all.
        total: usize,
        /// Samples read so far.
        samples: u64,
    },
}

/// Summary of an import.
#[derive(Clone, Default, Debug)]
pub struct ImportOutcome {
    /// Databases read.
    pub databases: u64,
    /// Their size.
    pub bytes: u64,
    /// Samples in them.
    pub samples: u64,
    /// What was written. `None` for a dry run.
    pub written: Option<ImportWritten>,
}

/// What an import has written.
#[derive(Clone, Copy, Default, Debug)]
pub struct ImportWritten {
    /// The numbers of samples.
    pub summary: ImportSummary,
    /// Duration of the import.
    pub took: Duration,
    /// Size of the history, in bytes.
    pub history_bytes: u64,
}

/// Imports the databases in the directory `rrd` into the history in `store`. Without `store`, only
/// counts samples.
///
/// # Errors
/// If the directory or the history cannot be read, or the history cannot be written.
pub fn import_databases(
    conversion: &Conversion,
    rrd: &Path,
    store: Option<&Path>,
    progress: &mut dyn FnMut(ImportEvent),
) -> Result<ImportOutcome, AppError> {
    let mut left: BTreeSet<PathBuf> = BTreeSet::new();
    find(rrd, 0, &mut left).map_err(|source| AppError::NoDatabases { path: rrd.to_owned(), source })?;
    let repaired = &mut |repair| progress(ImportEvent::Repaired(repair));
    let history = store.map(|store| open_history(store, None, repaired)).transpose()?;
    let (begun, mut reported) = (Instant::now(), Instant::now());
    let (outcome, summary) = Default::default();
    let mut importer = Importer { plan: &conversion.plan, history, outcome, summary };
    let targets = &conversion.imported.targets;
    for (place, target) in targets.iter().enumerate() {
        let path = rrd.join(format!("{}.rrd", target.name));
        if !left.remove(&path) {
            progress(ImportEvent::NoDatabase { path, target: target.name.clone() });
            continue;
        }
        if let Err(why) = importer.import(&path, target) {
            progress(ImportEvent::NotImported { path, why });
        }
        if reported.elapsed() >= REPORT_EVERY {
            reported = Instant::now();
            let samples = importer.outcome.samples;
            progress(ImportEvent::Progress { done: place + 1, total: targets.len(), samples });
        }
    }
    for path in left {
        let is_of_slave = path.to_string_lossy().contains('~');
        progress(ImportEvent::LeftOut { path, is_of_slave });
    }
    importer.finish(begun, progress)
}

/// Finds all databases in a directory and its subdirectories.
fn find(dir: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() && depth < MAX_DEPTH {
            find(&path, depth + 1, found)?;
        } else if path.extension().is_some_and(|end| end == "rrd") {
            found.insert(path);
        }
    }
    Ok(())
}

struct Importer<'a> {
    plan: &'a Plan,
    history: Option<History>,
    outcome: ImportOutcome,
    summary: ImportSummary,
}

impl Importer<'_> {
    fn import(&mut self, path: &Path, target: &ImportedTarget) -> Result<(), String> {
        let bytes = read_at_most(path, MAX_DATABASE_BYTES).map_err(|e| e.to_string())?;
        let rounds = rounds(&fathom_watch_import::rrd::read(&bytes).map_err(|e| e.to_string())?)?;
        self.outcome.databases += 1;
        self.outcome.bytes += bytes.len() as u64;
        self.outcome.samples += rounds.samples.len() as u64;
        let Some(history) = &mut self.history else { return Ok(()) };
        let planned =
            self.plan.targets.iter().find(|t| t.name == target.name).ok_or("belongs to no target")?;
        let (target_name, probe) = (planned.name.clone(), planned.probe.clone());
        let key = SeriesKey { target: target_name, probe, unit: Unit::Seconds };
        let series = history.series(&key).map_err(|e| e.to_string())?;
        let brought = history.bring_in(series, &rounds.samples, wall_now()).map_err(|e| e.to_string())?;
        self.summary.samples += brought.samples;
        self.summary.known += brought.known;
        self.summary.out_of_time += brought.out_of_time;
        if brought.samples > 0 {
            add_events(history, series, target, &rounds);
        }
        Ok(())
    }
    fn finish(
        self,
        begun: Instant,
        progress: &mut dyn FnMut(ImportEvent),
    ) -> Result<ImportOutcome, AppError> {
        let Importer { history, outcome, summary, .. } = self;
        let Some(mut history) = history else { return Ok(outcome) };
        history.close(wall_now()).into_iter().for_each(|repair| progress(ImportEvent::Repaired(repair)));
        let status = history.status();
        if let Some(trouble) = &status.trouble {
            return Err(AppError::History(trouble.text.clone()));
        }
        let written = ImportWritten { summary, took: begun.elapsed(), history_bytes: status.used.get() };
        Ok(ImportOutcome { written: Some(written), ..outcome })
    }
}

/// Adds events that explain these samples to readers of the plot.
fn add_events(history: &mut History, series: SeriesId, target: &ImportedTarget, rounds: &Rounds) {
    let mut event = |at, until, text| {
        history.event(&Event {
            at,
            until: Some(until),
            series: Some(series),
            kind: "import".into(),
            text,
            value: None,
        });
    };
    if let Some((from, until)) = rounds.averaged {
        let text = "averages of many rounds, from SmokePing: of each rank by itself, so that high percentiles are too low";
        event(from, until, text.to_owned());
    }
    let ends = rounds.samples.first().zip(rounds.samples.last());
    if let (Some(module), Some((first, last))) = (&target.differs, ends) {
        let wall = |ms: u64| WallTime(ms.saturating_mul(1_000_000));
        let text =
            format!("measured by SmokePing's probe {module}, which times something else than is timed here");
        event(wall(first.at_ms), wall(last.at_ms), text);
    }
}
