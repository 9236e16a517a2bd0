//! Fuzzes queue discipline specs. A regular test runs the same check.
#![no_main]
#[path = "../../core/model/scenario/tests/it/qdisc_spec_bytes.rs"]
mod qdisc_spec_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| qdisc_spec_bytes::check(bytes));
