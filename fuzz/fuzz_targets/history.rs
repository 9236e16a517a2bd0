//! See the function that this runs, which an ordinary test runs over the corpus and over random bytes too.
#![no_main]
#[path = "../../core/watch/samples/tests/it/chunk_bytes.rs"]
mod chunk_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chunk_bytes::check(bytes));
