//! The fuzz corpora, and files damaged deliberately.
use crate::{dissect_bytes, format_bytes};
use std::path::Path;

fn run(name: &str, least: usize, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus").join(name);
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= least, "{name}: {}", files.len());
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        check(&bytes);
        for at in 0..bytes.len() {
            check(&bytes[..at]);
            for byte in [0, 1, 0x7f, 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = byte;
                check(&damaged);
            }
        }
    }
}

#[test]
fn committed_corpora() {
    run("pcap", 5, format_bytes::check);
    run("pcapng", 5, format_bytes::check);
    run("dissect", 20, dissect_bytes::check);
}
