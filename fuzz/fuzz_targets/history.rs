//! Fuzzes watch history. A regular test runs the same check.
#![no_main]
#[path = "../../core/watch/samples/tests/it/chunk_bytes.rs"]
mod chunk_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| chunk_bytes::check(bytes));
