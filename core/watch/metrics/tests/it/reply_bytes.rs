//! Properties that hold for any reply bytes.
use fathom_watch_metrics::{Partial, partial_success};

pub(crate) fn check(bytes: &[u8]) {
    if let Some(partial) = partial_success(bytes) {
        assert_ne!(partial, Partial::default(), "what says nothing is none");
        // Each invalid byte becomes a replacement character of three bytes.
        assert!(partial.message.len() <= 3 * bytes.len());
    }
}
