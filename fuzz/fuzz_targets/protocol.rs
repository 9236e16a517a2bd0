//! Whatever the other side sends: see the function that this runs, which an ordinary test runs over the corpus too.
#![no_main]
#[path = "../../core/measure/probe/tests/it/protocol_bytes.rs"]
mod protocol_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| protocol_bytes::check(bytes));
