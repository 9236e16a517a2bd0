//! Fuzzes requests of Prometheus remote-write. A regular test runs the same check.
#![no_main]
#[path = "../../core/fleet/admission/tests/it/write_bytes.rs"]
mod write_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| write_bytes::check(bytes));
