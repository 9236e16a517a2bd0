//! Fuzzes pcap files. A regular test runs the same check.
#![no_main]
#[path = "../../core/packet/capture/tests/it/format_bytes.rs"]
mod format_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| format_bytes::check(bytes));
