//! Fuzzes RRD files. A regular test runs the same check.
#![no_main]
#[path = "../../core/watch/import/tests/it/rrd_bytes.rs"]
mod rrd_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rrd_bytes::check(bytes));
