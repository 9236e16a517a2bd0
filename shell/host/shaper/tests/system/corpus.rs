//! The corpus of the fuzz target as an ordinary test, and random corruptions of it.
use crate::state_bytes;
use fathom_shaper::State;
use fathom_units::Rng;
use std::path::Path;

#[test]
fn the_corpus_passes_damaged_too() {
    let seed = 5;
    println!("seed {seed}");
    let mut rng = Rng::new(seed);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/fix_state");
    let mut whole = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        whole += usize::from(State::parse(&String::from_utf8_lossy(&bytes)).is_ok());
        state_bytes::check(&bytes);
        for _ in 0..500 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + rng.below(3) {
                let at = rng.below(damaged.len() as u64) as usize;
                damaged[at] = b"0123456789abcdef\"{}[],:- \xff"[rng.below(26) as usize];
            }
            state_bytes::check(&damaged);
        }
    }
    assert!(whole >= 2, "{whole} states in {}", folder.display());
}
