//! See the function that this runs, which an ordinary test runs over the corpus and over damaged bytes too.
#![no_main]
#[path = "../../core/packet/tc/tests/it/tc_bytes.rs"]
mod tc_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tc_bytes::check(bytes));
