//! Fuzzes TCP options. A regular test runs the same check.
#![no_main]
#[path = "../../core/packet/wire/tests/it/tcp_option_bytes.rs"]
mod tcp_option_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tcp_option_bytes::check(bytes));
