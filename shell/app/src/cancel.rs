//! How a caller ends a use case before it is done.
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by the caller and the use case. Once cancelled, it stays so.
#[derive(Clone, Default, Debug)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that nobody has cancelled.
    #[must_use]
    pub fn new() -> Self {
        CancelToken::default()
    }
    /// Asks the use case to end in order: what it has gathered is its result.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
    /// Whether the caller has asked for the end.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
    /// The flag itself, for code that takes one.
    #[must_use]
    pub fn flag(&self) -> &AtomicBool {
        &self.0
    }
}

/// A flag that something else sets, such as a handler of signals.
impl From<Arc<AtomicBool>> for CancelToken {
    fn from(flag: Arc<AtomicBool>) -> Self {
        CancelToken(flag)
    }
}
