//! Payloads of IP, invalid lengths, and frames without IP.
use crate::build::{STAMPS, damaged, ethernet, join, segment, tcp, udp, v4, v6};
use crate::dissect_bytes;
use fathom_capture::{LinkType, NotIp, Packet, Transport, dissect};
use fathom_units::Rng;

fn raw(bytes: &[u8]) -> Packet<'_> {
    dissect(LinkType::RAW, bytes.len() as u32, bytes).unwrap()
}

#[test]
fn udp_uses_the_smaller_length() {
    // Length in the header, and the resulting payload length of 30 bytes.
    for (length, expected) in [(38, 30), (20, 12), (8, 0), (0, 30), (7, 30), (39, 30), (65535, 30)] {
        let mut datagram = udp((53, 1024), &[1; 30]);
        datagram[4..6].copy_from_slice(&u16::to_be_bytes(length));
        for packet in [v4(17, &[], &datagram), v6(17, &datagram)] {
            let read = raw(&packet);
            let Transport::Udp(udp) = read.transport else { panic!("{:?}", read.transport) };
            assert_eq!((udp.source_port, udp.destination_port), (53, 1024));
            assert_eq!((udp.payload_bytes, udp.payload.len()), (expected, expected as usize), "{length}");
        }
    }
}

#[test]
fn icmp_is_known_by_the_protocol() {
    let echo = [8, 1, 0xaa, 0xaa, 1, 2, 3, 4, 5, 6];
    for (packet, is_v6) in [(v4(1, &[], &echo), false), (v6(58, &echo), true)] {
        let Transport::Icmp(icmp) = raw(&packet).transport else { panic!() };
        assert_eq!(
            (icmp.is_v6, icmp.kind, icmp.code, icmp.rest, icmp.payload),
            (is_v6, 8, 1, [1, 2, 3, 4], &[5, 6][..])
        );
    }
    let cut = v4(1, &[], &echo);
    assert_eq!(dissect(LinkType::RAW, 30, &cut[..27]).unwrap().transport, Transport::Other { protocol: 1 });
}

#[test]
fn later_fragments_have_no_ports() {
    let mut packet = v4(6, &[], &segment());
    packet[7] = 0x10;
    assert_eq!(raw(&packet).transport, Transport::LaterFragment { protocol: 6 });
    let fragment = v6(44, &join(&[&[17, 0, 0, 8, 1, 2, 3, 4], &[9; 40]]));
    assert_eq!(raw(&fragment).transport, Transport::LaterFragment { protocol: 17 });
    // The first fragment has headers.
    packet[6..8].copy_from_slice(&[0x20, 0]);
    assert!(matches!(raw(&packet).transport, Transport::Tcp(_)));
    assert!(matches!(
        dissect(LinkType::ETHERNET, 400, &ethernet(0x0800, &packet)).unwrap().transport,
        Transport::Tcp(_)
    ));
}

#[test]
fn super_packets_have_their_original_length() {
    let long = 500_000;
    // BIG TCP: IPv4 and IPv6 with length 0, as on Linux; the frame has the length.
    let mut of_v4 = ethernet(0x0800, &v4(6, &[], &segment()));
    of_v4[16..18].copy_from_slice(&[0, 0]);
    let mut of_v6 = ethernet(0x86dd, &v6(6, &segment()));
    of_v6[18..20].copy_from_slice(&[0, 0]);
    for (frame, header) in [(of_v4, 20), (of_v6, 40)] {
        let packet = dissect(LinkType::ETHERNET, long, &frame).unwrap();
        assert_eq!((packet.ip_bytes, packet.wire_bytes), (long - 14, long));
        let Transport::Tcp(tcp) = packet.transport else { panic!() };
        assert_eq!(tcp.payload_bytes, long - 14 - header - 32);
        assert_eq!(tcp.stamps.map(|s| s.value), Some(STAMPS.0));
    }
    // With the jumbo option (RFC 2675), which counts what follows the fixed header.
    let mut jumbo = v6(0, &join(&[&[6, 0, 0xc2, 4], &90_000_u32.to_be_bytes(), &segment()]));
    jumbo[4..6].copy_from_slice(&[0, 0]);
    let packet = dissect(LinkType::RAW, 90_040, &jumbo).unwrap();
    let Transport::Tcp(tcp) = packet.transport else { panic!() };
    assert_eq!((packet.ip_bytes, tcp.payload_bytes), (90_040, 90_000 - 8 - 32));
    // No next header: it is really empty.
    assert_eq!(raw(&v6(59, &[])).ip_bytes, 40);
}

#[test]
fn tcp_options_in_any_order() {
    let stamps = |packet: &[u8]| match raw(packet).transport {
        Transport::Tcp(tcp) => tcp.stamps.map(|s| (s.value, s.echo)),
        other => panic!("{other:?}"),
    };
    let bytes = [STAMPS.0.to_be_bytes(), STAMPS.1.to_be_bytes()].concat();
    let syn = join(&[&[2, 4, 5, 180, 4, 2, 8, 10], &bytes, &[1, 3, 3, 7]]);
    assert_eq!(stamps(&v4(6, &[], &tcp(&syn, &[]))), Some(STAMPS));
    assert_eq!(stamps(&v4(6, &[], &tcp(&join(&[&[8, 10], &bytes, &[1, 1]]), &[]))), Some(STAMPS));
    assert_eq!(stamps(&v4(6, &[], &tcp(&[], &[1; 9]))), None);
    // The end option comes first.
    assert_eq!(stamps(&v4(6, &[], &tcp(&join(&[&[0, 1, 8, 10], &bytes]), &[]))), None);
}

#[test]
fn lengths_that_cannot_be() {
    let whole = v4(6, &[], &segment());
    let with = |at: usize, value: &[u8]| {
        let mut packet = whole.clone();
        packet[at..at + value.len()].copy_from_slice(value);
        packet
    };
    let read = |packet: &[u8]| {
        dissect(LinkType::RAW, packet.len() as u32, packet)
            .map(|p| p.transport == (Transport::Other { protocol: 6 }))
    };
    // Header length below 20; total length below the header; unknown version.
    for packet in [with(0, &[0x44]), with(2, &[0, 19]), with(0, &[0x55])] {
        assert_eq!(read(&packet), Err(NotIp::Malformed));
    }
    // TCP header shorter than 20 bytes or longer than the packet: TCP, but without trusted fields.
    for packet in [with(32, &[0x40]), with(2, &[0, 51]), with(2, &[0, 21])] {
        assert_eq!(read(&packet), Ok(true));
    }
    // A length beyond the frame counts as sent anyway.
    let beyond = with(2, &[0x40, 0]);
    let Transport::Tcp(tcp) = raw(&beyond).transport else { panic!() };
    assert_eq!((tcp.payload_bytes, tcp.payload.len()), (0x4000 - 52, 100));
}

#[test]
fn a_frame_without_ip_reports_its_protocol() {
    let frame = |kind: u16| ethernet(kind, &[0; 46]);
    let table = [
        (LinkType::ETHERNET, frame(0x0806), NotIp::Protocol(0x0806)),
        (LinkType::ETHERNET, frame(0x8863), NotIp::Protocol(0x8863)),
        (LinkType::ETHERNET, ethernet(38, &[0x42; 38]), NotIp::Protocol(0x4242)),
        (
            LinkType::ETHERNET,
            ethernet(0x8864, &[0x11, 0, 0, 1, 0, 8, 0xc0, 0x21, 9]),
            NotIp::Protocol(0xc021),
        ),
        (LinkType::ETHERNET, ethernet(0x8864, &[0x12; 40]), NotIp::Malformed),
        (LinkType::ETHERNET, ethernet(0x8847, &[0; 80]), NotIp::Malformed),
        (LinkType::ETHERNET, frame(0x0800)[..13].to_vec(), NotIp::Cut),
        (LinkType::ETHERNET, vec![], NotIp::Cut),
        (LinkType::NULL, vec![7, 0, 0, 0, 1], NotIp::Protocol(7)),
        (LinkType::NULL, vec![2, 2, 0, 0, 1], NotIp::Malformed),
        (LinkType::RAW, vec![0x20; 60], NotIp::Malformed),
        // A beacon, data without a body, encrypted data.
        (LinkType::IEEE802_11, vec![0x80; 60], NotIp::Protocol(0)),
        (LinkType::IEEE802_11, vec![0x48; 60], NotIp::Protocol(0x40)),
        (LinkType::IEEE802_11, vec![0x88, 0x41, 0, 0, 0], NotIp::Encrypted),
        (LinkType(147), vec![1; 99], NotIp::Link(LinkType(147))),
    ];
    for (link, bytes, expected) in table {
        assert_eq!(dissect(link, 100, &bytes), Err(expected), "{bytes:x?}");
    }
    assert_eq!(NotIp::Protocol(0x0806).to_string(), "not IP: protocol 0x0806");
}

#[test]
fn nested_encapsulations_are_limited() {
    let mut packet = v4(6, &[], &segment());
    for _ in 0..15 {
        packet = v4(4, &[], &packet);
    }
    assert!(matches!(raw(&packet).transport, Transport::Tcp(_)));
    let mut deeper = packet.clone();
    for _ in 0..9 {
        deeper = v4(4, &[], &deeper);
    }
    // The last packet that was opened, with an unknown protocol.
    assert_eq!(raw(&deeper).transport, Transport::Other { protocol: 4 });
    let tags = join(&[&[2; 12], &[0x81, 0, 0, 1].repeat(1000)]);
    assert_eq!(dissect(LinkType::ETHERNET, 4012, &tags), Err(NotIp::Deep));
}

#[test]
fn random_and_damaged_frames() {
    let good = [
        ethernet(0x0800, &v4(6, &[], &segment())),
        ethernet(0x86dd, &v6(6, &segment())),
        ethernet(
            0x0800,
            &v4(
                17,
                &[],
                &udp((9, 4789), &join(&[&[8, 0, 0, 0, 0, 0, 1, 0], &ethernet(0x86dd, &v6(6, &segment()))])),
            ),
        ),
    ];
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let frame = damaged(&good, &mut rng);
        let head =
            [if seed % 3 == 0 { rng.below(17) as u8 } else { 0 }, rng.below(2) as u8, rng.below(256) as u8];
        dissect_bytes::check(&join(&[&head, &frame]));
        // Random bytes after headers that lead to IP.
        let noise: Vec<u8> = (0..rng.below(120)).map(|_| rng.below(256) as u8).collect();
        dissect_bytes::check(&join(&[&head, &noise]));
    }
}
