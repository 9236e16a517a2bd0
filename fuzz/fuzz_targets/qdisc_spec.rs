//! See the function that this runs, which an ordinary test runs over the corpus too.
#![no_main]
#[path = "../../core/model/scenario/tests/it/qdisc_spec_bytes.rs"]
mod qdisc_spec_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| qdisc_spec_bytes::check(bytes));
