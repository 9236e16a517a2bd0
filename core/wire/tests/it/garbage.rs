//! No bytes make a view panic.
use crate::reference::Tcp;
use fathom_units::Rng;
use fathom_wire::icmp::time_exceeded;
use fathom_wire::{IpPacket, MAX_HEADER_BYTES, Rewrite, SuperPacket, VnetHeader, flow_of};

/// Uses everything that can be done with bytes that `new_checked` lets pass.
fn exercise(bytes: &[u8]) -> bool {
    let Ok(ip) = IpPacket::new_checked(bytes) else { return false };
    let _ =
        (flow_of(&ip, bytes).hash(1), ip.ecn(), ip.transport(), time_exceeded([1, 2, 3, 4].into(), bytes));
    for gso_type in [VnetHeader::GSO_NONE, VnetHeader::GSO_TCPV4, VnetHeader::GSO_TCPV6, 0x83] {
        let vnet = VnetHeader { gso_type, gso_size: 100, ..VnetHeader::default() };
        if let Ok(packet) = SuperPacket::new_checked(vnet, bytes) {
            let mut header = [0; MAX_HEADER_BYTES];
            let all = 0..packet.segments();
            let run = packet.rewrite(bytes, all, Rewrite { ce: true, hops: 3 }, &mut header);
            assert_eq!(run.payload.end, ip.total_len());
        }
    }
    true
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
            // Mostly in the headers, where the lengths are.
            let at = rng.below(bytes.len().clamp(1, 80) as u64) as usize;
            if let Some(byte) = bytes.get_mut(at) {
                *byte = rng.next_u64() as u8;
            }
        }
        if rng.chance(0.3) {
            bytes.truncate(rng.below(bytes.len() as u64 + 1) as usize);
        }
        passed += usize::from(exercise(&bytes));
    }
    // Else the test would test nothing but the first check.
    assert!(passed > 2_000, "only {passed} got past the first check");
}
