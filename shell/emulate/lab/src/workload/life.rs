//! Lifetime of threads, and how they are stopped.
use fathom_os::clock::Clock;
use fathom_units::Time;
use socket2::Socket;
use std::net::Shutdown;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// Maximum duration of one wait; longer waits are split.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// Locks a mutex and ignores poisoning: no critical section here leaves inconsistent data.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lifetime of a unit, or of the whole player.
#[derive(Debug)]
pub(crate) struct Life {
    clock: Clock,
    over: Mutex<bool>,
    bell: Condvar,
    sockets: Mutex<Vec<Weak<Socket>>>,
}

impl Life {
    pub(crate) fn new(clock: Clock) -> Life {
        Life { clock, over: Mutex::default(), bell: Condvar::new(), sockets: Mutex::default() }
    }
    pub(crate) fn is_over(&self) -> bool {
        *lock(&self.over)
    }
    /// Sleeps until `at`; returns false if the lifetime ends first.
    pub(crate) fn sleep_until(&self, at: Time) -> bool {
        let mut over = lock(&self.over);
        while !*over {
            let left = Duration::from_nanos(at.saturating_since(self.clock.now()).as_nanos());
            if left.is_zero() {
                return true;
            }
            let woken = self.bell.wait_timeout(over, left.min(LONGEST_WAIT));
            over = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }
    /// Registers `socket`: its waiting threads are woken at the end.
    pub(crate) fn keep(&self, socket: &Arc<Socket>) {
        let mut sockets = lock(&self.sockets);
        sockets.retain(|other| other.strong_count() > 0);
        sockets.push(Arc::downgrade(socket));
        drop(sockets);
        if self.is_over() {
            wake(socket);
        }
    }
    /// Ends the lifetime.
    pub(crate) fn end(&self) {
        *lock(&self.over) = true;
        self.bell.notify_all();
        lock(&self.sockets).iter().filter_map(Weak::upgrade).for_each(|socket| wake(&socket));
    }
}

/// Makes threads that connect, read or write return. Fails only for sockets that are already
/// closed.
fn wake(socket: &Socket) {
    drop(socket.shutdown(Shutdown::Both));
}
