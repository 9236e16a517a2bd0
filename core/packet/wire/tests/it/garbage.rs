//! Random, truncated and corrupted packets.
use crate::packet_bytes;
use crate::reference::Tcp;
use fathom_units::Rng;
use fathom_wire::IpPacket;

#[test]
fn the_corpus_at_every_length() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/packet");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 8, "{files:?}");
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        assert!(IpPacket::new_checked(&bytes[..]).is_ok(), "{}: refused by the first check", path.display());
        (0..=bytes.len()).for_each(|end| packet_bytes::check(&bytes[..end]));
    }
}

#[test]
fn random_truncated_and_corrupted_bytes() {
    let mut passed = 0;
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let mut bytes = if seed % 4 == 0 {
            (0..rng.below(100)).map(|_| rng.next_u64() as u8).collect()
        } else {
            let payload = rng.below(600) as usize;
            Tcp::random(&mut rng, seed % 2 == 1, payload).build()
        };
        for _ in 0..rng.below(6) {
            // Mostly in the headers, which contain the lengths.
            let at = rng.below(bytes.len().clamp(1, 80) as u64) as usize;
            if let Some(byte) = bytes.get_mut(at) {
                *byte = rng.next_u64() as u8;
            }
        }
        if rng.chance(0.3) {
            bytes.truncate(rng.below(bytes.len() as u64 + 1) as usize);
        }
        packet_bytes::check(&bytes);
        passed += usize::from(IpPacket::new_checked(&bytes[..]).is_ok());
    }
    // Otherwise the test would only cover the first check.
    assert!(passed > 2_000, "only {passed} got past the first check");
}
