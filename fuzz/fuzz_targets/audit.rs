//! Fuzzes host facts. A regular test runs the same check.
#![no_main]
#[path = "../../core/analyze/audit/tests/it/listing_bytes.rs"]
mod listing_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| listing_bytes::check(bytes));
