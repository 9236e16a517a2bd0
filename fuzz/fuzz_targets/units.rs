//! See the function that this runs, which an ordinary test runs over the corpus too.
#![no_main]
#[path = "../../core/model/scenario/tests/it/units_bytes.rs"]
mod units_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| units_bytes::check(bytes));
