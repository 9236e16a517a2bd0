//! Fuzzes OTLP replies. A regular test runs the same check.
#![no_main]
#[path = "../../core/watch/metrics/tests/it/reply_bytes.rs"]
mod reply_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reply_bytes::check(bytes));
