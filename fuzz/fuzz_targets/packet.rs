//! Fuzzes packet parsing. A regular test runs the same check.
#![no_main]
#[path = "../../core/packet/wire/tests/it/packet_bytes.rs"]
mod packet_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| packet_bytes::check(bytes));
