//! The fuzzer's corpus and random bytes.
use super::chunk_bytes::check;
use super::support::any_chunk;
use fathom_units::Rng;
use fathom_watch_samples::{Entry, Frame, Windows};
use std::fs;
use std::path::Path;

#[test]
fn the_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/history");
    let files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(files.len() >= 6, "{files:?}");
    for file in files {
        check(&fs::read(file).unwrap());
    }
}

#[test]
fn random_bytes_and_damaged_ones() {
    for seed in 0..3_000 {
        let mut rng = Rng::new(seed);
        let chunk = any_chunk(&mut rng);
        let mut windows = Windows::new(600_000);
        windows.add_chunk(&chunk);
        let frame = Frame { entries: vec![Entry { series: 3, new: chunk.clone(), amended: Vec::new() }] };
        let mut bytes =
            vec![chunk.encode(), windows.encode(), frame.encode()].swap_remove(rng.below(3) as usize);
        // Without the checksum: `check` computes it again.
        bytes.truncate(bytes.len() - 4);
        for _ in 0..rng.below(4) {
            let place = rng.below(bytes.len() as u64) as usize;
            bytes[place] = rng.next_u64() as u8;
        }
        check(&bytes);
        let random: Vec<u8> = (0..rng.below(40)).map(|_| rng.next_u64() as u8).collect();
        check(&random);
        let kind = [b'c', b'w', b'j'][rng.below(3) as usize];
        check(&[&[kind, 1][..], &random].concat());
    }
}
