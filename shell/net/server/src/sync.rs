//! What threads of a server share: a stop signal, slots for connections, locks.
use fathom_units::Duration;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// One of the connections that a server may have; released when dropped.
#[derive(Debug)]
pub(crate) struct Slot(Arc<AtomicU32>);

impl Slot {
    /// `None` if `max` of them are taken already.
    pub(crate) fn take(taken: &Arc<AtomicU32>, max: u32) -> Option<Slot> {
        let mut count = taken.load(Relaxed);
        while count < max {
            match taken.compare_exchange_weak(count, count + 1, Relaxed, Relaxed) {
                Ok(_) => return Some(Slot(Arc::clone(taken))),
                Err(now) => count = now,
            }
        }
        None
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Tells every thread to end; a thread that waits in poll(2) watches it too.
#[derive(Debug)]
pub(crate) struct Stop {
    is_set: AtomicBool,
    /// Dropped to tell: the other end then stays readable for all.
    near: Mutex<Option<UnixStream>>,
    far: UnixStream,
}

impl Stop {
    pub(crate) fn new() -> io::Result<Stop> {
        let (near, far) = UnixStream::pair()?;
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

/// A thread that panicked leaves counters and maps whole: every change under these locks is one call.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until `is_done` of what `mutex` guards, at most `patience`; whoever changes it notifies `changed`.
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
