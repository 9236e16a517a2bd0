//! Sends the objects of an archive one after the other.
use crate::answer::{Answer, Failure};
use crate::archive::Archive;
use crate::archiver::{Clock, Note};
use crate::cursor::{Cursor, Loaded};
use crate::feed::Feed;
use crate::hour::Hour;
use crate::object::Object;
use crate::outage::Outage;
use crate::place::{Place, place};
use crate::site::Description;
use crate::temporary::TemporaryFile;
use fathom_os::error::without_code;
use fathom_units::WallTime;
use fathom_watch_metrics::Backoff;
use fathom_watch_store::HistoryError;
use fathom_watch_store::export::ExportError;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// Interval of checks for an hour that is settled.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Pause after the history could not be read.
const HISTORY_PAUSE: Duration = Duration::from_secs(10);

/// Why the work was interrupted.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The watch is stopping.
    Stop,
    /// The history cannot be read.
    History(HistoryError),
}

impl From<HistoryError> for Halt {
    fn from(error: HistoryError) -> Self {
        Halt::History(error)
    }
}

/// What was reported, so that it is reported once.
#[derive(Default)]
pub(crate) struct Reported {
    pub(crate) unsaved: bool,
    pub(crate) unreadable: bool,
    pub(crate) no_results: bool,
}

/// The file with the content of an object.
enum Made {
    Temporary(TemporaryFile),
    Result(PathBuf),
}

impl Made {
    fn path(&self) -> &Path {
        match self {
            Made::Temporary(file) => &file.path,
            Made::Result(path) => path,
        }
    }
}

/// Why the file of an object could not be made.
enum MakeError {
    Halt(Halt),
    File(Failure),
}

/// Sends to one store.
pub(crate) struct Worker {
    pub(crate) archive: Archive,
    pub(crate) feed: Feed,
    pub(crate) cursor: Cursor,
    pub(crate) clock: Clock,
    pub(crate) reported: Reported,
    pub(crate) description: Description,
    /// When the results were last looked at.
    pub(crate) results_seen: Option<Instant>,
    /// The end of the hours that were last compared.
    pub(crate) compared: Option<Hour>,
    /// The current hour when the clock was last read, if it was before the cursor.
    pub(crate) behind: Option<Hour>,
    place: Box<dyn Place>,
    path: PathBuf,
    stop: Receiver<()>,
    notes: Sender<Note>,
    outage: Outage,
    backoff: Backoff,
}

impl Worker {
    pub(crate) fn new(
        archive: Archive,
        store: &Path,
        clock: Clock,
        (stop, reading_ends): (Receiver<()>, Arc<AtomicBool>),
        notes: Sender<Note>,
    ) -> Worker {
        Worker {
            feed: Feed::new(store, reading_ends),
            cursor: Cursor::default(),
            reported: Reported::default(),
            description: Description::default(),
            results_seen: None,
            compared: None,
            behind: None,
            place: place(&archive, store),
            path: Cursor::path(store, &archive.name),
            stop,
            notes,
            outage: Outage::default(),
            backoff: Backoff::new(clock().0),
            archive,
            clock,
        }
    }
    /// Sends until stopped.
    pub(crate) fn run(mut self) {
        self.place.temporary().clear();
        self.load();
        loop {
            let pause = match self.advance() {
                Ok(true) => Duration::ZERO,
                Ok(false) => LOOK_EVERY,
                Err(Halt::Stop) => return,
                Err(Halt::History(error)) => {
                    if self.pause(Duration::ZERO).is_err() {
                        return;
                    }
                    if !std::mem::replace(&mut self.reported.unreadable, true) {
                        self.note(&format!("cannot read the history: {error}; will retry"));
                    }
                    HISTORY_PAUSE
                }
            };
            if self.pause(pause).is_err() {
                return;
            }
        }
    }
    /// Loads the cursor; without one for this store and site, everything is sent.
    fn load(&mut self) {
        let to = format!("{} {}", self.archive.to, self.archive.site);
        let begin = Cursor { to: to.clone(), ..Cursor::default() };
        self.cursor = match Cursor::load(&self.path) {
            Loaded::Cursor(cursor) if cursor.to == to => cursor,
            Loaded::Cursor(_) | Loaded::None => begin,
            Loaded::Damaged { why, kept } => {
                let kept = kept.map_or_else(String::new, |kept| format!("; saved as {}", kept.display()));
                let path = self.path.display();
                self.note(&format!("cannot read the cursor {path} ({why}){kept}. Everything is sent again"));
                begin
            }
        };
        self.save();
    }
    pub(crate) fn save(&mut self) {
        match self.cursor.save(&self.path) {
            Ok(()) => self.reported.unsaved = false,
            Err(error) => {
                if !std::mem::replace(&mut self.reported.unsaved, true) {
                    let (path, why) = (self.path.display(), without_code(&error));
                    self.note(&format!(
                        "cannot write the cursor {path}: {why}. After a restart, objects since then are sent again"
                    ));
                }
            }
        }
    }
    /// Starts from the beginning if the cursor file was removed.
    pub(crate) fn begin_again_if_removed(&mut self) {
        let is_gone = fs::metadata(&self.path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        if is_gone && !self.reported.unsaved {
            self.load();
            self.compared = None;
            self.results_seen = None;
        }
    }
    /// Sends an object, with retries until it is accepted or refused. Returns whether it has any
    /// content.
    pub(crate) fn deliver(&mut self, object: &Object) -> Result<bool, Halt> {
        let key = object.key(&self.archive.site);
        let mut made = None;
        self.backoff.reset();
        loop {
            let answer = match self.attempt(&key, object, &mut made) {
                Ok(Some(answer)) => answer,
                Ok(None) => return Ok(false),
                Err(MakeError::File(failure)) => Answer::Retry(failure),
                Err(MakeError::Halt(halt)) => return Err(halt),
            };
            match answer {
                Answer::Accepted => {
                    self.cursor.objects += 1;
                    self.outage.accepted().iter().for_each(|text| self.note(text));
                    break;
                }
                Answer::Refused(why) => {
                    self.cursor.refused += 1;
                    let note = self.outage.refused(&key, &why);
                    note.iter().for_each(|text| self.note(text));
                    break;
                }
                Answer::Retry(failure) => {
                    let note = self.outage.failed(&key, &failure, (self.clock)());
                    note.iter().for_each(|text| self.note(text));
                    let pause = self.backoff.pause(failure.after);
                    self.pause(Duration::from_nanos(pause.as_nanos()))?;
                }
            }
        }
        // After a stop, another thread may have the cursor.
        self.pause(Duration::ZERO)?;
        Ok(true)
    }
    /// Sends the file of an object, which is made once. `None` if there is nothing to send.
    fn attempt(
        &mut self,
        key: &str,
        object: &Object,
        made: &mut Option<Made>,
    ) -> Result<Option<Answer>, MakeError> {
        if made.is_none() {
            *made = self.make(object)?;
        }
        let Some(file) = made else { return Ok(None) };
        let answer = self.place.put(key, file.path());
        // A file that was moved, or removed by others, is made again.
        if self.place.takes_files() || !file.path().exists() {
            *made = None;
        }
        Ok(Some(answer))
    }
    /// Writes the file of an object. `None` if it has no content.
    fn make(&mut self, object: &Object) -> Result<Option<Made>, MakeError> {
        if let Object::Result { path, .. } = object {
            if !path.exists() {
                return Ok(None);
            }
            if !self.place.takes_files() {
                return Ok(Some(Made::Result(path.clone())));
            }
        }
        let dir = self.place.temporary().dir().to_owned();
        let failed = |error: &io::Error| MakeError::File(Failure::of_file(&dir, error));
        let (temporary, mut file) = self.place.temporary().create().map_err(|e| failed(&e))?;
        let bytes = match object {
            Object::Table(content, hour) => match self.feed.write(*content, *hour, file) {
                Ok(rows) => rows,
                Err(ExportError::Write(error)) => return Err(failed(&error)),
                Err(ExportError::History(error)) => return Err(MakeError::Halt(error.into())),
            },
            Object::Result { path, .. } => {
                let mut from = File::open(path).map_err(|e| MakeError::File(Failure::of_file(path, &e)))?;
                io::copy(&mut from, &mut file).map_err(|e| failed(&e))?
            }
            Object::Site(text) => {
                file.write_all(text.as_bytes()).map_err(|e| failed(&e))?;
                text.len() as u64
            }
        };
        let is_empty_table = bytes == 0 && matches!(object, Object::Table(..));
        Ok((!is_empty_table).then_some(Made::Temporary(temporary)))
    }
    /// Pauses; returns an error if stopped.
    fn pause(&self, time: Duration) -> Result<(), Halt> {
        match self.stop.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => Err(Halt::Stop),
        }
    }
    /// If nobody listens, the note is dropped.
    pub(crate) fn note(&self, text: &str) {
        let at: WallTime = (self.clock)();
        let _ = self.notes.send(Note { at, text: format!("archive {}: {text}", self.archive.name) });
    }
}
