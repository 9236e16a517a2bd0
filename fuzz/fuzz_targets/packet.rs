//! See the function that this runs, which an ordinary test runs over random bytes too.
#![no_main]
#[path = "../../core/packet/wire/tests/it/packet_bytes.rs"]
mod packet_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| packet_bytes::check(bytes));
