//! Saved controllers: see the function that this runs, which an ordinary test runs over the corpus too.
#![no_main]
#[path = "../../core/measure/shape/tests/it/autorate_bytes.rs"]
mod autorate_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| autorate_bytes::check(bytes));
