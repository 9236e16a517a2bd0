//! All destinations of a watch.
use crate::destination::Destination;
use crate::role::Names;
use crate::routers::Routers;
use crate::sender::{Note, Worker};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum wait at a stop for a request in progress. Incomplete stretches are sent again after the
/// next start.
const STOP_LIMIT: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(20);

struct Running {
    to: Destination,
    /// Dropped to signal the stop.
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// The sending threads.
pub struct Pusher {
    store: PathBuf,
    names: Arc<RwLock<Arc<Names>>>,
    routers: Routers,
    running: Vec<Running>,
    notes: (Sender<Note>, Receiver<Note>),
}

impl Pusher {
    /// Starts sending the history in `store`.
    #[must_use]
    pub fn start(all: Vec<Destination>, names: Names, routers: Routers, store: &Path) -> Pusher {
        let (store, names) = (store.to_owned(), Arc::new(RwLock::new(Arc::new(names))));
        let mut pusher = Pusher { store, names, routers, running: Vec::new(), notes: channel() };
        all.into_iter().for_each(|to| pusher.start_one(to));
        pusher
    }
    /// Replaces the destinations and names. Unchanged destinations continue.
    pub fn reload(&mut self, all: Vec<Destination>, names: Names) {
        *self.names.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(names);
        let (stay, gone): (Vec<Running>, Vec<Running>) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|one| all.iter().any(|to| to.is_same(&one.to)));
        stop(gone);
        let new: Vec<Destination> =
            all.into_iter().filter(|to| !stay.iter().any(|one| one.to.is_same(to))).collect();
        self.running = stay;
        new.into_iter().for_each(|to| self.start_one(to));
    }
    /// Notes since the last call.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        self.notes.1.try_iter().collect()
    }
    /// Stops, after a short wait for requests in progress.
    pub fn stop(self) {
        stop(self.running);
    }
    fn start_one(&mut self, to: Destination) {
        let (stop, stopped) = channel();
        let (names, notes) = (Arc::clone(&self.names), self.notes.0.clone());
        let known = (names, Arc::clone(&self.routers));
        let worker = Worker::new(to.clone(), &self.store, known, stopped, notes);
        let thread = std::thread::spawn(move || worker.run());
        self.running.push(Running { to, stop, thread });
    }
}

fn stop(running: Vec<Running>) {
    let threads: Vec<JoinHandle<()>> = running
        .into_iter()
        .map(|Running { stop, thread, .. }| {
            drop(stop);
            thread
        })
        .collect();
    let began = Instant::now();
    while began.elapsed() < STOP_LIMIT && threads.iter().any(|thread| !thread.is_finished()) {
        std::thread::sleep(LOOK_EVERY);
    }
}
