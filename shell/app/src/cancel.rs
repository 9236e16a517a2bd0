//! Cancellation of a use case by its caller.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by the caller and the use case. Once cancelled, it stays cancelled.
#[derive(Clone, Default, Debug)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        CancelToken::default()
    }
    /// Asks the use case to end early. Its result is what it has gathered until then.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether the caller has cancelled the use case.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
    /// The flag, for code that takes an `AtomicBool`.
    #[must_use]
    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }
}

/// Uses a flag that other code sets, such as a signal handler.
impl From<Arc<AtomicBool>> for CancelToken {
    fn from(flag: Arc<AtomicBool>) -> Self {
        CancelToken(flag)
    }
}
