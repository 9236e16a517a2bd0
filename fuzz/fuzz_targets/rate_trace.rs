//! Fuzzes rate traces. A regular test runs the same check.
#![no_main]
#[path = "../../core/emulate/link/tests/it/rate_trace_bytes.rs"]
mod rate_trace_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rate_trace_bytes::check(bytes));
