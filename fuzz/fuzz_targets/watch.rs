//! See the function that this runs, which an ordinary test runs over the corpus too.
#![no_main]
#[path = "../../core/watch/plan/tests/it/watch_bytes.rs"]
mod watch_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| watch_bytes::check(bytes));
