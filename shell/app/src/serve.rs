//! The server that other hosts test against.
use crate::{AppError, CancelToken};
use fathom_discovery::announce;
use fathom_os::confine::drop_rights;
use fathom_os::files::raise_limit;
pub use fathom_os::names::own_name;
use fathom_pages::{Judge, Judged, TestId};
use fathom_run::Run;
pub use fathom_server::{
    Config, Event, IPERF3_PORT, IRTT_PORT, STAMP_PORT, Server, SessionEnd, Stats, WebConfig,
};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Time between two checks for cancellation.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Files of browsers that are kept; the oldest are removed.
const MAX_FILES: usize = 10_000;
/// Start of their names.
const FILE_PREFIX: &str = "page-";
const FILE_ENDING: &str = ".json.gz";

/// Judges the runs of browsers as those of the command line, and keeps them in a directory.
struct Diagnoses {
    results: Option<PathBuf>,
    /// Why the last one was not kept.
    trouble: Mutex<Option<AppError>>,
}

impl Diagnoses {
    fn save(&self, folder: &Path, id: TestId, run: &Run) -> Result<(), AppError> {
        // Colons are no part of names on other systems.
        let name = format!("{FILE_PREFIX}{}-{id}{FILE_ENDING}", run.started.replace(':', "-"));
        fathom_store::save(&folder.join(name), run).map_err(AppError::Save)?;
        let mut own = own_files(folder);
        own.sort();
        let surplus = own.len().saturating_sub(MAX_FILES);
        // One that another program removes at the same time is gone, too.
        own.iter().take(surplus).for_each(|path| drop(std::fs::remove_file(path)));
        Ok(())
    }
}

/// The results of browsers in a directory.
fn own_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| name_of(path).starts_with(FILE_PREFIX)).collect()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The file of a picture, from its pixels.
fn png(pixels: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, fathom_preview::WIDTH, fathom_preview::HEIGHT);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(file)
}

impl Judge for Diagnoses {
    fn scripts(&self) -> &[&str] {
        &fathom_trace_page::SCRIPTS
    }
    fn keeps(&self) -> bool {
        self.results.is_some()
    }
    fn kept(&self, id: TestId) -> Option<Run> {
        let ending = format!("-{id}{FILE_ENDING}");
        let file =
            own_files(self.results.as_deref()?).into_iter().find(|path| name_of(path).ends_with(&ending))?;
        // A file that was damaged since is as good as gone.
        fathom_store::load(&file).ok()
    }
    fn keep(&self, id: TestId, run: &Run) {
        let saved = self.results.as_deref().map_or(Ok(()), |folder| self.save(folder, id, run));
        if let Err(error) = saved {
            *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }
    fn judge(&self, run: &Run) -> Judged {
        let diagnosis = fathom_diagnose::diagnose(run);
        let document = fathom_report::document(run, &diagnosis);
        let brief = fathom_report::brief(run, &diagnosis);
        let pixels = fathom_preview::preview(run, &diagnosis);
        Judged {
            headline: document.verdict.headline.to_string(),
            preview: png(&pixels).unwrap_or_default(),
            brief: serde_json::to_string(&brief).unwrap_or_default(),
            // A document has numbers and text only, which JSON can hold.
            json: serde_json::to_string(&document).unwrap_or_default(),
            page: fathom_report::html(&[(run, &diagnosis)]),
        }
    }
}

/// What a running server reports.
pub enum Progress<'a> {
    /// It is listening.
    Ready(&'a Server),
    /// Something happened.
    Event(Event),
    /// It could not be announced on the local network.
    NotAnnounced(io::Error),
    /// The result of a browser was not kept.
    NotKept(AppError),
    /// The rights that it does not need could not be dropped.
    NotConfined(io::Error),
}

/// Serves until it is cancelled. Before, the calling thread drops the rights to write files, to run
/// programs, and to make system calls that a server does not need. With `is_announced`, hosts of
/// the local network can find it. In the directory `results`, which it creates, it keeps the
/// results of browsers whose users agree.
///
/// # Errors
/// If the addresses cannot be bound, or the directory cannot be created.
pub fn run(
    config: Config,
    is_announced: bool,
    results: Option<PathBuf>,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Stats, AppError> {
    // With the usual 1,024, a few clients with many flows would leave none for others. If the
    // system refuses, connections beyond its limit wait in the backlog.
    let _ = raise_limit();
    results.as_deref().map_or(Ok(()), crate::output::make_directory)?;
    if let Err(error) = drop_rights(results.as_deref().as_slice()) {
        progress(Progress::NotConfined(error));
    }
    let (addresses, requires_token) = (config.listen.clone(), config.token.is_some());
    let diagnoses = Arc::new(Diagnoses { results, trouble: Mutex::default() });
    let server = Server::start_with_page(config, Arc::<Diagnoses>::clone(&diagnoses))?;
    progress(Progress::Ready(&server));
    // Withdrawn when it is dropped.
    let _announcement = is_announced
        .then(|| announce(&own_name(), &addresses, server.local_port(), requires_token))
        .transpose()
        .unwrap_or_else(|error| {
            progress(Progress::NotAnnounced(error));
            None
        });
    while !cancel.is_cancelled() {
        std::thread::sleep(LOOK_EVERY);
        server.events().into_iter().for_each(|event| progress(Progress::Event(event)));
        let trouble = diagnoses.trouble.lock().unwrap_or_else(PoisonError::into_inner).take();
        trouble.into_iter().for_each(|error| progress(Progress::NotKept(error)));
    }
    let stats = server.stats();
    server.stop();
    Ok(stats)
}
