//! The fuzzer's corpus, and corrupted databases.
use super::encode::{any, encode};
use super::rrd_bytes::check;
use fathom_units::Rng;
use fathom_watch_import::rrd::Layout;
use std::path::Path;

#[test]
fn the_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/rrd");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        for (n, layout) in Layout::ALL.into_iter().enumerate() {
            let bytes = encode(&any(&mut Rng::new(n as u64), layout, [1, 3, 4][n % 3]));
            std::fs::write(folder.join(layout.to_string().replace([' ', ','], "-")), bytes).unwrap();
        }
    }
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(files.len() >= 10, "{files:?}");
    files.iter().for_each(|file| check(&std::fs::read(file).unwrap()));
}

#[test]
fn damaged_ones() {
    for seed in 0..5_000 {
        let mut rng = Rng::new(seed);
        let layout = Layout::ALL[rng.below(Layout::ALL.len() as u64) as usize];
        let mut bytes = encode(&any(&mut rng, layout, 3));
        for _ in 0..=rng.below(4) {
            let place = rng.below(400.min(bytes.len() as u64)) as usize;
            bytes[place] = rng.next_u64() as u8;
        }
        check(&bytes);
    }
}
