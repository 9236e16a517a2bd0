//! See the function that this runs, which an ordinary test runs over the corpus and over damaged bytes too.
#![no_main]
#[path = "../../core/watch/import/tests/it/smokeping_bytes.rs"]
mod smokeping_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    smokeping_bytes::check(bytes);
});
