//! See the function that this runs, which an ordinary test runs over the corpus and over damaged bytes too.
#![no_main]
#[path = "../../core/watch/import/tests/it/rrd_bytes.rs"]
mod rrd_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rrd_bytes::check(bytes));
