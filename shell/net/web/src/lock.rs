//! Locks of data that is consistent after a panic.
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex and ignores poisoning. For data that each change leaves consistent, also if the
/// thread panics after it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
