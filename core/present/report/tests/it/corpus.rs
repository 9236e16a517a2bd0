//! Runs the committed fuzz corpus through the fuzz target, and damaged files made from a good one.
use crate::line::{BLOATED, Line};
use crate::run_file_bytes::check;
use std::path::Path;

/// A short run; all of its kinds of series, few observations.
fn small() -> Vec<u8> {
    let mut run = Line { phase_s: 0.2, loss_ratio: 0.2, ..BLOATED }.run();
    run.instrument.timer_lateness = fathom_run::Instrument::default().timer_lateness;
    run.instrument.send_lateness = fathom_run::Instrument::default().send_lateness;
    run.instrument.timer_lateness.record(fathom_units::Duration::from_micros(60));
    run.series.retain(|s| s.key.flow.is_none_or(|f| f.is_multiple_of(10)));
    serde_json::to_vec(&run).expect("a run can be written")
}

#[test]
fn committed_corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/run_file");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(folder.join("good.json"), small()).expect("the corpus can be written");
    }
    let files: Vec<_> = std::fs::read_dir(folder).expect("the corpus is committed").collect();
    assert!(files.len() >= 10, "{} files", files.len());
    for file in files {
        check(&std::fs::read(file.expect("an entry").path()).expect("a readable file"));
    }
}

/// A good file cut off anywhere, or with bytes changed: read or refused, never a panic.
#[test]
fn damaged_files() {
    let good = small();
    check(&good);
    for seed in 0..400 {
        let mut rng = fathom_units::Rng::new(seed);
        check(&good[..rng.below(good.len() as u64) as usize]);
        let mut damaged = good.clone();
        for _ in 0..=rng.below(4) {
            let at = rng.below(good.len() as u64) as usize;
            damaged[at] = b"0123456789-+eE.,:[]{}\"n "[rng.below(24) as usize];
        }
        check(&damaged);
    }
}
