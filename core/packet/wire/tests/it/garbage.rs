//! Random, truncated and corrupted packets.
use crate::packet_bytes;
use crate::reference::Tcp;
use fathom_units::Rng;
use fathom_wire::IpPacket;

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
