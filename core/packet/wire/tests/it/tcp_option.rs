//! Options of the handshake, and those of later RFCs.
use crate::tcp_option_bytes::check;
use fathom_units::Rng;
use fathom_wire::{TcpOption, TcpOptions};
use std::path::Path;

#[test]
fn options_have_their_names() {
    let ecn =
        |ect_0_bytes, ce_bytes, ect_1_bytes| TcpOption::AccurateEcn { ect_0_bytes, ce_bytes, ect_1_bytes };
    let table: [(&[u8], TcpOption); 20] = [
        (&[2, 4, 0x05, 0xb4], TcpOption::SegmentSize(1460)),
        (&[2, 3, 5], TcpOption::Other(2)),
        (&[3, 3, 14], TcpOption::WindowScale(14)),
        (&[3, 2], TcpOption::Other(3)),
        (&[4, 2], TcpOption::SackPermitted),
        (&[4, 3, 0], TcpOption::Other(4)),
        (&[34, 2], TcpOption::FastOpen(0)),
        (&[34, 6, 1, 2, 3, 4], TcpOption::FastOpen(4)),
        (&[254, 8, 0xf9, 0x89, 1, 2, 3, 4], TcpOption::FastOpen(4)),
        (&[254, 4, 0xac, 0xce], TcpOption::Other(254)),
        (&[172, 2], ecn(None, None, None)),
        (&[172, 5, 0, 1, 0], ecn(Some(256), None, None)),
        (&[172, 11, 0, 0, 1, 0, 0, 2, 0, 0, 3], ecn(Some(1), Some(2), Some(3))),
        (&[174, 11, 0, 0, 1, 0, 0, 2, 0, 0, 3], ecn(Some(3), Some(2), Some(1))),
        (&[174, 6, 0, 0, 1, 0], TcpOption::Other(174)),
        (&[30, 4, 0x21, 0], TcpOption::Multipath(2)),
        (&[30, 2], TcpOption::Other(30)),
        (&[28, 4, 0, 90], TcpOption::UserTimeout(90)),
        (&[28, 4, 0x80, 2], TcpOption::UserTimeout(120)),
        (&[19, 4, 1, 1], TcpOption::Other(19)),
    ];
    for (bytes, expected) in table {
        assert_eq!(TcpOptions::new(bytes).collect::<Vec<_>>(), [expected], "{bytes:?}");
    }
}

#[test]
fn corpus_and_noise() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/tcp_option");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 10, "{}", files.len());
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        (0..=bytes.len()).for_each(|end| check(&bytes[..end]));
    }
    for seed in 0..10_000 {
        let mut rng = Rng::new(seed);
        let bytes: Vec<u8> = (0..40).map(|_| rng.below(if seed % 2 == 0 { 256 } else { 12 }) as u8).collect();
        check(&bytes);
    }
}
