//! The run of any packets; an ordinary test runs this over the corpus and over random packets too.
#![no_main]
#[path = "../../core/analyze/capture-run/tests/it/trace_bytes.rs"]
mod trace_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    trace_bytes::check(bytes);
    trace_bytes::check_shards(bytes);
});
