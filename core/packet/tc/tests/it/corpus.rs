//! Runs the fuzz corpus as a regular test, and randomly damaged copies of it.
use crate::tc_bytes;
use fathom_units::Rng;
use std::path::Path;

fn files() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/tc");
    std::fs::read_dir(&folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect()
}

#[test]
fn the_corpus_passes() {
    let files = files();
    files.iter().for_each(|bytes| tc_bytes::check(bytes));
    assert!(files.len() >= 8, "{} files", files.len());
}

#[test]
fn damaged_answers_pass() {
    let seed = 7;
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    for file in files() {
        for _ in 0..400 {
            let mut bytes = file.clone();
            for _ in 0..1 + rng.below(4) {
                let at = rng.below(bytes.len().min(4_096) as u64) as usize;
                bytes[at] = rng.next_u64() as u8;
            }
            bytes.truncate(1 + rng.below(bytes.len() as u64) as usize);
            tc_bytes::check(&bytes);
        }
    }
}
