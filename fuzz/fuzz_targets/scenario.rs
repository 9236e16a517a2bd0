#![no_main]
libfuzzer_sys::fuzz_target!(|data: &[u8]| fathom_fuzz::scenario::run(data));
