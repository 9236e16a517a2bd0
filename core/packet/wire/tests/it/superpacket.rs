//! Compares virtual segments with segments made by copying.
use crate::reference::{Tcp, sum};
use fathom_units::Rng;
use fathom_wire::{MAX_HEADER_BYTES, Rewrite, SuperPacket, VnetHeader, WireError};
use std::ops::Range;

/// What TUN would deliver for `tcp` with segments of `mss`.
fn as_read(tcp: &Tcp, mss: usize) -> (VnetHeader, Vec<u8>) {
    let kind = if tcp.is_v6() { VnetHeader::GSO_TCPV6 } else { VnetHeader::GSO_TCPV4 };
    let ecn = if tcp.flags & 0x80 != 0 { VnetHeader::GSO_ECN } else { 0 };
    let vnet = VnetHeader {
        flags: VnetHeader::NEEDS_CSUM,
        gso_type: kind | ecn,
        gso_size: mss as u16,
        ..VnetHeader::default()
    };
    (vnet, tcp.build())
}

fn written(
    packet: &SuperPacket,
    bytes: &[u8],
    segments: Range<usize>,
    change: Rewrite,
) -> (VnetHeader, Vec<u8>) {
    let mut header = [0; MAX_HEADER_BYTES];
    let run = packet.rewrite(bytes, segments, change, &mut header);
    (run.vnet, [&header[..run.header_len], &bytes[run.payload]].concat())
}

/// Completes the checksum as the kernel does for NEEDS_CSUM.
fn complete(vnet: VnetHeader, mut bytes: Vec<u8>) -> Vec<u8> {
    assert_eq!(vnet.flags, VnetHeader::NEEDS_CSUM);
    let start = usize::from(vnet.csum_start);
    let at = start + usize::from(vnet.csum_offset);
    let checksum = !sum(&bytes[start..]);
    bytes[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
    bytes
}

#[test]
fn every_run_of_segments_matches_copying() {
    for seed in 0..300 {
        let mut rng = Rng::new(seed);
        let mss = 1 + rng.below(1460) as usize;
        let payload = 1 + rng.below(mss as u64 * 12) as usize;
        let tcp = Tcp::random(&mut rng, seed % 2 == 1, payload);
        let (vnet, bytes) = as_read(&tcp, mss);
        let packet = SuperPacket::new_checked(vnet, &bytes).unwrap();
        let wire = tcp.segmented(mss);
        assert_eq!(packet.segments(), wire.len(), "seed {seed}");
        for first in 0..wire.len() {
            assert_eq!(packet.segment_len(first), wire[first].build().len(), "seed {seed}");
            for end in first + 1..=wire.len() {
                check_run(&packet, &bytes, &wire, first..end, mss, seed);
            }
        }
    }
}

fn check_run(
    packet: &SuperPacket,
    bytes: &[u8],
    wire: &[Tcp],
    segments: Range<usize>,
    mss: usize,
    seed: u64,
) {
    let (vnet, run) = written(packet, bytes, segments.clone(), Rewrite::default());
    // One header for the payload of the run, as the reference builds it.
    let mut expected = wire[segments.start].clone();
    expected.payload = wire[segments.clone()].iter().flat_map(|t| t.payload.clone()).collect();
    expected.flags |= wire[segments.end - 1].flags & (0x08 | 0x01);
    assert_eq!(complete(vnet, run), expected.build(), "seed {seed} segments {segments:?}");
    // Split again, it gives the packets of the original.
    for (again, once) in expected.segmented(mss).iter().zip(&wire[segments.clone()]) {
        assert_eq!(again.build(), once.build(), "seed {seed} segments {segments:?}");
    }
    check_vnet(vnet, &expected, segments.len(), mss);
}

fn check_vnet(vnet: VnetHeader, expected: &Tcp, segments: usize, mss: usize) {
    assert_eq!(usize::from(vnet.hdr_len), expected.header_len());
    assert_eq!(usize::from(vnet.csum_start), expected.header_len() - 20 - expected.options.len());
    assert_eq!(vnet.csum_offset, 16);
    let kind = if expected.is_v6() { VnetHeader::GSO_TCPV6 } else { VnetHeader::GSO_TCPV4 };
    let ecn = if expected.flags & 0x80 != 0 { VnetHeader::GSO_ECN } else { 0 };
    let wanted = if segments > 1 { (kind | ecn, mss as u16) } else { (VnetHeader::GSO_NONE, 0) };
    assert_eq!((vnet.gso_type, vnet.gso_size), wanted);
    assert_eq!(VnetHeader::decode(vnet.encode()), vnet);
}

#[test]
fn marks_dscp_and_hops_are_written_with_their_checksum() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let tcp = Tcp::random(&mut rng, seed % 2 == 1, 4000);
        let (vnet, bytes) = as_read(&tcp, 1448);
        let packet = SuperPacket::new_checked(vnet, &bytes).unwrap();
        let (run_vnet, run) = written(&packet, &bytes, 1..3, Rewrite { ce: true, dscp: Some(46), hops: 2 });
        let mut expected = tcp.segmented(1448)[1].clone();
        expected.payload = tcp.payload[1448..4000].to_vec();
        expected.flags |= tcp.flags & (0x08 | 0x01);
        expected.class = 46 << 2 | 3;
        expected.ttl -= 2;
        assert_eq!(complete(run_vnet, run), expected.build(), "seed {seed}");
    }
}

#[test]
fn an_unsegmented_packet_keeps_all_but_marks_and_hops() {
    let tcp = Tcp::random(&mut Rng::new(7), false, 900);
    let vnet = VnetHeader {
        flags: VnetHeader::NEEDS_CSUM,
        csum_start: 20,
        csum_offset: 16,
        ..VnetHeader::default()
    };
    let bytes = tcp.build();
    let packet = SuperPacket::new_checked(vnet, &bytes).unwrap();
    assert_eq!((packet.segments(), packet.segment_len(0)), (1, bytes.len()));
    let (same, run) = written(&packet, &bytes, 0..1, Rewrite { ce: true, dscp: None, hops: 1 });
    let expected = Tcp { class: tcp.class | 3, ttl: tcp.ttl - 1, ..tcp };
    assert_eq!((same, run), (vnet, expected.build()));
}

#[test]
fn rejects_packets_that_cannot_be_segmented() {
    let tcp = Tcp::random(&mut Rng::new(1), false, 5000);
    let (vnet, mut bytes) = as_read(&tcp, 1448);
    let field = |header, packet: &[u8]| match SuperPacket::new_checked(header, packet) {
        Err(WireError::Malformed { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    assert_eq!(field(VnetHeader { gso_size: 0, ..vnet }, &bytes), "segment size");
    assert_eq!(field(VnetHeader { gso_type: 5, ..vnet }, &bytes), "segmentation type");
    bytes[9] = 17;
    assert_eq!(field(vnet, &bytes), "protocol");
}
