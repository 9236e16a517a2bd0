//! Runs the corpus of the fuzz target as an ordinary test.
use crate::autorate_bytes;
use std::path::Path;

#[test]
fn the_corpus_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/autorate");
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        autorate_bytes::check(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 5, "{} files in {}", count, folder.display());
}
