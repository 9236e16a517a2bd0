//! Runs the committed fuzz corpus through the fuzz targets, so that bugs found once stay fixed.
use crate::{qdisc_spec_bytes, scenario_bytes, units_bytes};
use std::path::Path;

fn run_corpus(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus").join(name);
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 10, "{name}: {} files", files.len());
    files.iter().for_each(|path| target(&std::fs::read(path).unwrap()));
}

#[test]
fn committed_corpus() {
    run_corpus("scenario", scenario_bytes::check);
    run_corpus("qdisc_spec", qdisc_spec_bytes::check);
    run_corpus("units", units_bytes::check);
}

/// A file changed or truncated at every third byte is accepted or rejected, without a panic.
#[test]
fn damaged_files() {
    let text = fathom_scenario::builtin("lte").unwrap().as_bytes();
    for at in (0..text.len()).step_by(3) {
        scenario_bytes::check(&text[..at]);
        for byte in [b'"', b'0', b'=', b'\n', 0xff] {
            let mut damaged = text.to_vec();
            damaged[at] = byte;
            scenario_bytes::check(&damaged);
        }
    }
}
