//! See the function that this runs, which an ordinary test runs over the corpus and over random bytes too.
#![no_main]
#[path = "../../core/packet/wire/tests/it/tcp_option_bytes.rs"]
mod tcp_option_bytes;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tcp_option_bytes::check(bytes));
