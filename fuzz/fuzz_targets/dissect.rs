//! See the function that this runs, which an ordinary test runs over the corpus and over random bytes too.
#![no_main]
#[path = "../../core/packet/capture/tests/it/dissect_bytes.rs"]
mod dissect_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dissect_bytes::check(bytes));
