//! The directory of test results, which the web page shows with the history.
use fathom_diagnose::diagnose;
use fathom_run::Run;
use fathom_store::load;
use fathom_units::WallTime;
use fathom_watch_web::TestResult;
use std::collections::BTreeMap;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

/// Maximum number of files that are read: a larger directory is not a results directory.
const MAX_FILES: usize = 4_096;
/// Maximum size of a result file, in bytes. The result of an hour of tests has some MB.
const MAX_BYTES: u64 = 64 << 20;

/// A file that was read. It is read again only if it has changed.
struct Known {
    changed: Option<SystemTime>,
    bytes: u64,
    /// `None` if the file is not a result.
    result: Option<TestResult>,
}

/// The directory and the files that were read.
pub(super) struct ResultsDir {
    folder: PathBuf,
    known: Mutex<BTreeMap<String, Known>>,
}

impl ResultsDir {
    pub(super) fn new(folder: PathBuf) -> Self {
        ResultsDir { folder, known: Mutex::default() }
    }
    /// The results within a time range.
    pub(super) fn between(&self, from: WallTime, to: WallTime) -> Vec<TestResult> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // A directory that cannot be read has no results. It may come back.
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten().take(MAX_FILES);
        let now: BTreeMap<String, Known> = files.filter_map(|file| look(&file, &mut known)).collect();
        *known = now;
        let all = known.values().filter_map(|known| known.result.clone());
        all.filter(|result| result.at < to && result.until >= from).collect()
    }
    /// The report page of a result that [`ResultsDir::between`] returned.
    pub(super) fn report(&self, name: &str) -> Option<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(name)?.result.as_ref()?;
        drop(known);
        let run = load(&self.folder.join(name)).ok()?;
        Some(fathom_report::html(&[(&run, &diagnose(&run))]))
    }
}

fn look(file: &DirEntry, known: &mut BTreeMap<String, Known>) -> Option<(String, Known)> {
    let name = file.file_name().into_string().ok()?;
    let is_named_so = name.ends_with(".json") || name.ends_with(".json.gz");
    let about = file.metadata().ok().filter(|about| is_named_so && about.is_file())?;
    let (changed, bytes) = (about.modified().ok(), about.len());
    let as_before = known.remove(&name).filter(|known| (known.changed, known.bytes) == (changed, bytes));
    let made = || Known { changed, bytes, result: result(&file.path(), &name, bytes) };
    Some((name.clone(), as_before.unwrap_or_else(made)))
}

fn result(path: &Path, name: &str, bytes: u64) -> Option<TestResult> {
    let run = (bytes <= MAX_BYTES).then(|| load(path).ok())??;
    let at: WallTime = run.started.parse().ok()?;
    let until = WallTime(at.0.saturating_add(length_ns(&run)));
    let text = format!("fathom {}: {}", run.command, fathom_prose::verdict(&run, &diagnose(&run)).headline);
    Some(TestResult { name: name.into(), at, until, text })
}

fn length_ns(run: &Run) -> u64 {
    run.phases.iter().map(|phase| phase.end_ns).max().unwrap_or(0)
}
