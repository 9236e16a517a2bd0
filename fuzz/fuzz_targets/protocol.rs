//! Fuzzes test protocol messages. A regular test runs the same check.
#![no_main]
#[path = "../../core/measure/probe/tests/it/protocol_bytes.rs"]
mod protocol_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| protocol_bytes::check(bytes));
