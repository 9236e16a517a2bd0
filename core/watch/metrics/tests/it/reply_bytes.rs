//! What must hold for any bytes that a receiver answers with.
use fathom_watch_metrics::{Partial, partial_success};

pub(crate) fn check(bytes: &[u8]) {
    if let Some(partial) = partial_success(bytes) {
        assert_ne!(partial, Partial::default(), "what says nothing is none");
        // Each byte that is no text becomes a mark of three.
        assert!(partial.message.len() <= 3 * bytes.len());
    }
}
