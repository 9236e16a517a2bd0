//! Malicious files: their run can be read again, and is the same with shards.
use crate::trace_bytes::{EACH, check, check_shards};
use fathom_units::Rng;
use std::path::Path;

/// Random bytes, many of them unchanged from the previous packet.
#[test]
fn runs_of_random_packets_can_be_read() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let mut bytes = vec![0_u8; 400 * EACH];
        for at in 0..bytes.len() {
            bytes[at] = if at < EACH || rng.chance(0.3) { rng.next_u64() as u8 } else { bytes[at - EACH] };
        }
        println!("seed {seed}");
        check(&bytes);
        check_shards(&bytes);
    }
}

#[test]
fn runs_of_the_fuzz_corpus_can_be_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/trace");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 6, "{files:?}");
    for path in files {
        println!("{}", path.display());
        let bytes = std::fs::read(path).unwrap();
        check(&bytes);
        check_shards(&bytes);
        // Without the first packets, or with others.
        check(&bytes[10 * EACH..]);
        check(&[&bytes[20 * EACH..], &bytes[..]].concat());
    }
}
