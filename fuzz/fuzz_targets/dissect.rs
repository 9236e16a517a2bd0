//! Fuzzes packet dissection. A regular test runs the same check.
#![no_main]
#[path = "../../core/packet/capture/tests/it/dissect_bytes.rs"]
mod dissect_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dissect_bytes::check(bytes));
