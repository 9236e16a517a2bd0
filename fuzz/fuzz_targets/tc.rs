//! Fuzzes tc netlink replies. A regular test runs the same check.
#![no_main]
#[path = "../../core/packet/tc/tests/it/tc_bytes.rs"]
mod tc_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tc_bytes::check(bytes));
