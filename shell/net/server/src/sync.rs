//! Synchronization of server threads: stop signal, count of connections, locks.
use fathom_os::fd::{AsFd, BorrowedFd};
use fathom_os::local::{self, LocalStream};
use fathom_units::Duration;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// One open connection in the count of all; taken out when dropped.
#[derive(Debug)]
pub(crate) struct Slot(Arc<AtomicU32>);

impl Slot {
    pub(crate) fn take(taken: &Arc<AtomicU32>) -> Slot {
        taken.fetch_add(1, Relaxed);
        Slot(Arc::clone(taken))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Asks all threads to end; threads can also wait for it with poll(2).
#[derive(Debug)]
pub(crate) struct Stop {
    is_set: AtomicBool,
    /// Dropped to signal the stop: the other end then stays readable for all threads.
    near: Mutex<Option<LocalStream>>,
    far: LocalStream,
}

impl Stop {
    pub(crate) fn new() -> io::Result<Stop> {
        let (near, far) = local::pair()?;
        Ok(Stop { is_set: AtomicBool::new(false), near: Mutex::new(Some(near)), far })
    }
    pub(crate) fn set(&self) {
        self.is_set.store(true, Relaxed);
        lock(&self.near).take();
    }
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Relaxed)
    }
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.far.as_fd()
    }
}

/// Ignores poisoning: every change under these locks is a single call, so the data is consistent
/// after a panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits up to `patience` until `is_done` holds for the content of `mutex`. The thread that changes
/// it notifies `changed`.
pub(crate) fn wait_until<T>(
    mutex: &Mutex<T>,
    changed: &Condvar,
    patience: Duration,
    is_done: impl Fn(&T) -> bool,
) {
    let patience = std::time::Duration::from_nanos(patience.as_nanos());
    let waited = changed.wait_timeout_while(lock(mutex), patience, |value| !is_done(value));
    drop(waited.unwrap_or_else(PoisonError::into_inner));
}
