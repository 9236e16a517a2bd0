//! The thread of an archive.
use crate::archive::Archive;
use crate::worker::Worker;
use fathom_os::clock::wall_now;
use fathom_units::WallTime;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Maximum wait at a stop for a request in progress. Its object is sent again after the next start.
const STOP_LIMIT: Duration = Duration::from_secs(2);

/// The wall clock.
pub type Clock = Arc<dyn Fn() -> WallTime + Send + Sync>;

/// A message that is also recorded as an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// When it happened.
    pub at: WallTime,
    /// Description.
    pub text: String,
}

/// The sending thread of an archive.
pub struct Archiver {
    /// Dropped to signal the stop.
    stop: Sender<()>,
    /// Ends the reading of the history.
    reading_ends: Arc<AtomicBool>,
    notes: Receiver<Note>,
    /// Closed when the thread has ended.
    ended: Receiver<()>,
}

impl Archiver {
    /// Starts sending the history in `store` and the results.
    #[must_use]
    pub fn start(archive: Archive, store: &Path) -> Archiver {
        Archiver::start_with_clock(archive, store, Arc::new(wall_now))
    }
    /// As [`Archiver::start`], with another clock.
    #[must_use]
    pub fn start_with_clock(archive: Archive, store: &Path, clock: Clock) -> Archiver {
        let (stop, stopped) = channel();
        let (sender, notes) = channel();
        let reading_ends = Arc::new(AtomicBool::new(false));
        let worker = Worker::new(archive, store, clock, (stopped, Arc::clone(&reading_ends)), sender);
        let (running, ended) = channel();
        std::thread::spawn(move || {
            worker.run();
            drop(running);
        });
        Archiver { stop, reading_ends, notes, ended }
    }
    /// Notes since the last call.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        self.notes.try_iter().collect()
    }
    /// Stops, after a short wait for a request in progress.
    pub fn stop(self) {
        drop(self.stop);
        self.reading_ends.store(true, Ordering::Relaxed);
        // Nothing is sent: it ends with the thread, or at the limit.
        let _: Result<(), _> = self.ended.recv_timeout(STOP_LIMIT);
    }
}
