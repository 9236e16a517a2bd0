//! See the function that this runs, which an ordinary test runs over the corpus and over damaged bytes too.
#![no_main]
#[path = "../../shell/host/shaper/tests/it/state_bytes.rs"]
mod state_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| state_bytes::check(bytes));
