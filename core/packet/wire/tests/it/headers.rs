//! Getters and setters on packets with known fields.
use crate::reference::{Tcp, sum};
use fathom_units::Rng;
use fathom_wire::{
    CE, Flow, IpPacket, Ipv4Packet, Ipv6Packet, TcpOption, TcpSegment, UdpDatagram, WireError, address_hash,
    flow_of,
};

#[test]
fn fields_are_read_where_the_reference_wrote_them() {
    for seed in 0..50 {
        let tcp = Tcp::random(&mut Rng::new(seed), seed % 2 == 1, 100);
        let bytes = tcp.build();
        let ip = IpPacket::new_checked(&bytes[..]).unwrap();
        assert_eq!((ip.ecn(), ip.hop_limit(), ip.total_len()), (tcp.class & 3, tcp.ttl, bytes.len()));
        assert_eq!(ip.dscp(), tcp.class >> 2);
        let (protocol, at) = ip.transport().unwrap();
        assert_eq!((protocol, at), (6, tcp.header_len() - 20 - tcp.options.len()), "seed {seed}");
        let segment = TcpSegment::new_checked(&bytes[at..]).unwrap();
        assert_eq!((segment.source_port(), segment.destination_port()), (0x1234, 0x5678));
        assert_eq!((segment.sequence(), segment.flags()), (tcp.sequence, tcp.flags));
        assert_eq!((segment.acknowledgement(), segment.upper_flags()), (0x0908_0706, 0));
        assert_eq!(segment.header_len(), 20 + tcp.options.len());
    }
}

#[test]
fn ipv4_changes_keep_the_checksum_right() {
    for seed in 0..100 {
        let mut rng = Rng::new(seed);
        let mut bytes = Tcp::random(&mut rng, false, 10).build();
        let mut ip = Ipv4Packet::new_checked(&mut bytes[..]).unwrap();
        let ttl = ip.ttl();
        ip.set_ce();
        ip.decrement_ttl(3);
        assert!(ip.checksum_is_right(), "seed {seed}");
        assert_eq!((ip.ecn(), ip.ttl()), (CE, ttl.saturating_sub(3)));
        ip.decrement_ttl(255);
        assert_eq!(ip.ttl(), 0);
        assert_eq!(sum(&bytes[..20]), 0xffff);
    }
}

#[test]
fn a_dscp_that_is_set_changes_nothing_else() {
    for seed in 0..128 {
        let tcp = Tcp::random(&mut Rng::new(seed), seed % 2 == 1, 10);
        let (mut bytes, dscp) = (tcp.build(), seed as u8 / 2);
        let mut ip = IpPacket::new_checked(&mut bytes[..]).unwrap();
        ip.set_dscp(dscp);
        assert_eq!(ip.dscp(), dscp);
        // The reference computes IPv4's header checksum from scratch.
        let class = dscp << 2 | tcp.class & 3;
        assert_eq!(bytes, Tcp { class, ..tcp }.build(), "seed {seed}");
    }
}

#[test]
fn tcp_options_are_parsed() {
    let timestamps = |value| TcpOption::Timestamps { value, echo: 9 };
    let sack = |blocks: &[(u32, u32)]| {
        let mut all = [(0, 0); 4];
        all[..blocks.len()].copy_from_slice(blocks);
        TcpOption::Sack(all)
    };
    let table: [(&[u8], Vec<TcpOption>); 9] = [
        (&[], vec![]),
        // As Linux sends them: padding, then timestamps; and followed by one SACK block.
        (&[1, 1, 8, 10, 0, 0, 1, 2, 0, 0, 0, 9], vec![timestamps(258)]),
        (
            &[
                1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9, 1, 1, 5, 18, 0, 0, 1, 0, 0, 0, 2, 0, 255, 255, 255, 255,
                0, 0, 0, 1,
            ],
            vec![timestamps(7), sack(&[(256, 512), (u32::MAX, 1)])],
        ),
        // SYN: segment size, SACK permitted, window scale.
        (
            &[2, 4, 5, 180, 4, 2, 1, 3, 3, 7, 0, 0],
            vec![TcpOption::SegmentSize(1460), TcpOption::SackPermitted, TcpOption::WindowScale(7)],
        ),
        // Nothing follows the end option.
        (&[1, 0, 8, 10], vec![]),
        // Invalid lengths: past the end, none, and less than type and length.
        (&[8, 10, 0, 0], vec![TcpOption::Other(8)]),
        (&[1, 1, 1, 8], vec![TcpOption::Other(8)]),
        (&[5, 1, 1, 1, 8, 10, 0, 0], vec![TcpOption::Other(5)]),
        // One and a half blocks; timestamps of 6 bytes.
        (
            &[5, 14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 6, 0, 0, 0, 0],
            vec![5, 8].into_iter().map(TcpOption::Other).collect(),
        ),
    ];
    for (options, expected) in table {
        let mut tcp = Tcp::random(&mut Rng::new(1), false, 3);
        tcp.options = options.to_vec();
        let bytes = tcp.build();
        let segment = TcpSegment::new_checked(&bytes[20..]).unwrap();
        assert_eq!(segment.options().collect::<Vec<_>>(), expected, "{options:?}");
    }
}

#[test]
fn a_later_fragment_has_no_ports() {
    let mut bytes = Tcp::random(&mut Rng::new(3), false, 10).build();
    bytes[7] = 1;
    let ip = IpPacket::new_checked(&bytes[..]).unwrap();
    assert_eq!(ip.transport(), None);
    assert_eq!(flow_of(&ip, &bytes).source_port, 0);
}

#[test]
fn ipv6_extension_headers_are_skipped_until_one_does_not_fit() {
    let mut bytes = vec![0x60, 0, 0, 0, 0, 24, 0, 64];
    bytes.resize(40, 0);
    // Hop-by-hop of 8 bytes, first fragment, then UDP.
    bytes.extend([44, 0, 1, 4, 0, 0, 0, 0]);
    bytes.extend([17, 0, 0, 1, 0, 0, 0, 9]);
    bytes.extend([0, 53, 0, 99, 0, 8, 0, 0]);
    assert_eq!(Ipv6Packet::new_checked(&bytes[..]).unwrap().transport(), (17, 56));
    let ip = IpPacket::new_checked(&bytes[..]).unwrap();
    assert_eq!(flow_of(&ip, &bytes).destination_port, 99);
    // A later fragment: parsing stops at the fragment header.
    bytes[51] = 0x09;
    assert_eq!(Ipv6Packet::new_checked(&bytes[..]).unwrap().transport(), (44, 48));
    // An extension header longer than the packet stops it too.
    bytes[41] = 200;
    assert_eq!(Ipv6Packet::new_checked(&bytes[..]).unwrap().transport(), (0, 40));
}

#[test]
fn lengths_that_do_not_fit_are_named() {
    let good = Tcp::random(&mut Rng::new(5), false, 10).build();
    let error = |bytes: &[u8]| IpPacket::new_checked(bytes).unwrap_err();
    let truncated = |what, needed, got| WireError::Truncated { what, needed, got };
    assert_eq!(error(&[]), truncated("IP", 1, 0));
    assert_eq!(error(&good[..19]), truncated("IPv4", 20, 19));
    assert_eq!(error(&good[..good.len() - 1]), truncated("IPv4", good.len(), good.len() - 1));
    assert_eq!(error(&[0x50; 60]).to_string(), "IP: invalid version 5");
    let mut short_header = good.clone();
    short_header[0] = 0x44;
    assert_eq!(error(&short_header).to_string(), "IPv4: invalid header length 16");
    assert_eq!(
        UdpDatagram::new_checked(&[0, 1, 0, 2, 0, 7, 0, 0]).unwrap_err().to_string(),
        "UDP: invalid length 7"
    );
}

#[test]
fn the_flow_hash_depends_on_every_field_and_the_salt() {
    let flow = Flow {
        source: [10, 0, 0, 1].into(),
        destination: [10, 0, 0, 2].into(),
        source_port: 1000,
        destination_port: 2000,
        protocol: 6,
    };
    let v6 = |last: u16| [0xfd00, 0, 0, 0, 0, 0, 0, last].into();
    let others = [
        Flow { source: [10, 0, 0, 3].into(), ..flow },
        Flow { destination: [10, 0, 0, 3].into(), ..flow },
        Flow { source: flow.destination, destination: flow.source, ..flow },
        Flow { source_port: 2000, destination_port: 1000, ..flow },
        Flow { protocol: 17, ..flow },
        Flow { source: v6(1), ..flow },
        Flow { source: v6(2), ..flow },
    ];
    let mut hashes: Vec<u64> = others.iter().map(|f| f.hash(1)).collect();
    hashes.extend([flow.hash(1), flow.hash(2)]);
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), others.len() + 2);
}

#[test]
fn address_hashes_differ_between_neighbors_and_with_the_salt() {
    let v4 = (0..=255).map(|last| [10, 0, 0, last].into());
    let v6 = (0..=255).map(|last| [0xfd00, 0, 0, 0, 0, 0, 0, last].into());
    let addresses: Vec<std::net::IpAddr> = v4.chain(v6).collect();
    let mut hashes: Vec<u64> =
        addresses.iter().flat_map(|address| [address_hash(*address, 1), address_hash(*address, 2)]).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 1024);
}

#[test]
fn the_flow_hash_spreads_adjacent_ports_over_queues() {
    // 1024 flows that differ in one port, in 1024 queues: a random function leaves 37 % empty.
    let hash = |port| {
        let (source, destination) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        Flow { source, destination, source_port: port, destination_port: 5201, protocol: 6 }.hash(9) % 1024
    };
    let mut queues: Vec<u64> = (0..1024).map(|i| hash(40_000 + i)).collect();
    queues.sort_unstable();
    queues.dedup();
    assert!((580..=710).contains(&queues.len()), "{} of 1024 queues used", queues.len());
}
