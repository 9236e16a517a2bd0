//! An anonymous copy has the same network behavior and no personal data.
use crate::build::{V4, damaged, ethernet, join, segment, stamp_option, tcp, udp, v4, v6};
use fathom_capture::{
    Address, Anonymizer, Frame, LinkType, NotIp, Packet, Quality, Reader, Step, Transport, dissect,
};
use fathom_units::Rng;
use fathom_wire::{TcpOption, TcpOptions};

const KEY: [u8; 16] = [0x5e; 16];

fn frame(link: LinkType, original_len: u32, bytes: &[u8]) -> Frame<'_> {
    Frame { at: 1_700_000_000_123_456_789, link, original_len, interface: 0, lost_before: 0, bytes }
}

/// The copy of one frame: original length and stored bytes.
fn copied(frame: &Frame<'_>) -> (u32, Vec<u8>) {
    copied_as(LinkType::RAW, frame)
}

/// [`copied`] in a capture with the first link type `link`.
fn copied_as(link: LinkType, frame: &Frame<'_>) -> (u32, Vec<u8>) {
    let mut anonymizer = Anonymizer::new(KEY, link);
    let mut file = anonymizer.header().to_vec();
    let found = dissect(frame.link, frame.original_len, frame.bytes);
    anonymizer.write(frame, &found, &mut file);
    let mut reader = Reader::new();
    let mut rest = &file[..];
    loop {
        let (used, step) = reader.step(rest).unwrap();
        rest = &rest[used..];
        if let Step::Frame(copy) = step {
            assert_eq!((copy.at, copy.link), (frame.at, link));
            assert!(rest.is_empty());
            return (copy.original_len, copy.bytes.to_vec());
        }
    }
}

/// Everything but addresses, payload and identifying options is unchanged.
fn assert_says_the_same(before: &Packet<'_>, after: &Packet<'_>, name: &str) {
    assert_ne!((before.source, before.destination), (after.source, after.destination), "{name}");
    let plain = |p: &Packet<'_>| {
        (p.hop_limit, p.dscp, p.ecn, p.identification, p.ip_bytes, p.source.is_v4(), p.destination.is_v4())
    };
    assert_eq!(plain(before), plain(after), "{name}");
    if before.ip_bytes <= 65_535 {
        assert_eq!(before.wire_bytes, after.wire_bytes, "{name}");
    }
    match (&before.transport, &after.transport) {
        (Transport::Tcp(a), Transport::Tcp(b)) => {
            assert_eq!(
                (a.source_port, a.destination_port, a.sequence),
                (b.source_port, b.destination_port, b.sequence)
            );
            assert_eq!(
                (a.acknowledgement, a.flags, a.window),
                (b.acknowledgement, b.flags, b.window),
                "{name}"
            );
            assert_eq!((a.payload_bytes, a.stamps), (b.payload_bytes, b.stamps), "{name}");
            assert!(b.payload.is_empty(), "{name}");
        }
        (Transport::Udp(a), Transport::Udp(b)) => {
            assert_eq!(
                (a.source_port, a.destination_port, a.payload_bytes),
                (b.source_port, b.destination_port, b.payload_bytes)
            );
            assert!(b.payload.len() <= 12, "{name}");
        }
        (Transport::Icmp(a), Transport::Icmp(b)) => {
            assert_eq!((a.is_v6, a.kind, a.code), (b.is_v6, b.kind, b.code))
        }
        (a, b) => assert_eq!(a, b, "{name}"),
    }
}

#[test]
fn every_packet_has_the_same_fields_afterwards() {
    let syn = join(&[&[2, 4, 5, 180, 4, 2], &stamp_option()[2..], &[1, 3, 3, 7]]);
    let full = join(&[&stamp_option(), &[1, 1, 5, 26], &[9; 24]]);
    let extended =
        v6(0, &join(&[&[60, 0, 1, 4, 0, 0, 0, 0], &[6, 1, 1, 12], &[0; 12], &tcp(&full, &[1; 50])]));
    let mut fragment = v4(17, &[], &[7; 80]);
    fragment[7] = 9;
    let packets = [
        v4(6, &[], &segment()),
        v4(6, &[], &tcp(&[], &[])),
        v4(6, &[], &tcp(&syn, &[])),
        v4(6, &[7; 40], &tcp(&full, &[1; 300])),
        v4(6, &[1; 4], &tcp(&full, &[])),
        v4(51, &[], &join(&[&[6, 4], &[1; 22], &segment()])),
        v6(6, &segment()),
        extended,
        v4(17, &[], &udp((53, 9), &[0xab; 200])),
        v6(17, &udp((443, 9), &[0x45; 1200])),
        v4(1, &[], &[8, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
        v6(58, &[128, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
        fragment,
        v6(44, &join(&[&[17, 0, 1, 0, 1, 2, 3, 4], &[9; 40]])),
        v4(89, &[], &[7; 44]),
        v6(50, &[7; 44]),
    ];
    for (ip, n) in packets.iter().zip(0..) {
        for (link, bytes) in [
            (LinkType::RAW, ip.clone()),
            (LinkType::ETHERNET, ethernet(if ip[0] >> 4 == 4 { 0x0800 } else { 0x86dd }, ip)),
        ] {
            let name = format!("packet {n} of {link:?}");
            let frame = frame(link, bytes.len() as u32, &bytes);
            let before = dissect(link, frame.original_len, &bytes).unwrap();
            let (sent, stored) = copied(&frame);
            assert_says_the_same(&before, &dissect(LinkType::RAW, sent, &stored).unwrap(), &name);
        }
    }
}

/// A frame of Linux's `any` device, seen at `place`.
fn cooked(link: LinkType, place: u8, ethertype: u16, rest: &[u8]) -> Vec<u8> {
    let protocol = ethertype.to_be_bytes();
    match link {
        LinkType::LINUX_SLL => join(&[&[0, place, 0, 1, 0, 6], b"Iam-Anne", &protocol, rest]),
        _ => join(&[&protocol, &[0; 5], &[place, 0, 1, 4, 6], b"Iam-Anne", rest]),
    }
}

#[test]
fn the_capture_point_is_preserved() {
    for link in [LinkType::LINUX_SLL, LinkType::LINUX_SLL2] {
        for (ethertype, ip) in [(0x0800, v4(6, &[], &segment())), (0x86dd, v6(6, &segment()))] {
            let bytes = cooked(link, 4, ethertype, &ip);
            let before = dissect(link, bytes.len() as u32, &bytes).unwrap();
            let (sent, stored) = copied_as(link, &frame(link, bytes.len() as u32, &bytes));
            assert_says_the_same(&before, &dissect(link, sent, &stored).unwrap(), &format!("{link:?}"));
            assert_eq!(stored[1], if link == LinkType::LINUX_SLL { 4 } else { bytes[1] });
            assert!(!stored.windows(3).any(|part| b"Iam-Anne".windows(3).any(|mark| part == mark)));
            // The same packet at two places counts once in a copy too; IPv6 has no identification.
            let elsewhere = cooked(link, 0, ethertype, &ip);
            let mut quality = Quality::new();
            let mut is_copy = |seen: &[u8]| {
                let (len, copy) = copied_as(link, &frame(link, seen.len() as u32, seen));
                let (again, found) = (frame(link, len, &copy), dissect(link, len, &copy));
                quality.frame(1, &again, &found);
                quality.is_copy(&again, &found.unwrap())
            };
            assert_eq!([&bytes, &elsewhere, &bytes].map(|seen| is_copy(seen)), [false, true, false]);
        }
    }
}

#[test]
fn frames_without_ip_are_kept_in_a_cooked_copy() {
    for link in [LinkType::LINUX_SLL, LinkType::LINUX_SLL2] {
        let arp = cooked(link, 1, 0x0806, &[0x77; 28]);
        let (len, copy) = copied_as(link, &frame(link, 60, &arp));
        assert_eq!(dissect(link, len, &copy), Err(NotIp::Protocol(0x0806)));
        // In a file with several link types.
        let bytes = ethernet(0x0800, &v4(6, &[], &segment()));
        let before = dissect(LinkType::ETHERNET, bytes.len() as u32, &bytes).unwrap();
        let (sent, stored) = copied_as(link, &frame(LinkType::ETHERNET, bytes.len() as u32, &bytes));
        let after = dissect(link, sent, &stored).unwrap();
        assert_says_the_same(&before, &Packet { wire_bytes: before.wire_bytes, ..after }, "Ethernet");
    }
}

#[test]
fn no_personal_data_is_left() {
    // No copy contains a marker that was in any field that could identify someone.
    const MARK: [u8; 8] = *b"Iam-Anne";
    let cookie = join(&[&stamp_option(), &[34, 10], &MARK, &[30, 12, 0x21, 1], &MARK, &[1, 1]]);
    let quoted = v4(6, &[], &tcp(&[], &MARK));
    let packets = [
        v4(6, &MARK, &tcp(&cookie, &join(&[b"GET / ", &MARK]))),
        v4(17, &[], &udp((53, 4000), &join(&[&[1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 8], &MARK]))),
        v4(17, &[], &udp((4000, 443), &join(&[&[0xc3, 0, 0, 0, 1, 8], &MARK, &[8], &MARK]))),
        v4(17, &[], &udp((4000, 514), &MARK)),
        v4(1, &[], &join(&[&[8, 0, 0, 0, 0, 1, 0, 2], &MARK])),
        v4(1, &[], &join(&[&[3, 1, 0, 0, 0, 0, 0, 0], &quoted])),
        v6(58, &join(&[&[134, 0, 0, 0], &MARK, &MARK])),
        v6(60, &join(&[&[6, 1, 1, 12], &MARK, &[0; 4], &segment()])),
        v4(47, &[], &join(&[&[0x30, 0, 8, 0], &MARK, &v4(6, &[], &segment())])),
        v4(89, &[], &MARK),
    ];
    for (ip, n) in packets.iter().zip(0..) {
        let bytes =
            join(&[&MARK, &[2; 4], &(if ip[0] >> 4 == 4 { [8, 0] } else { [0x86, 0xdd] }), ip, &MARK]);
        let frame = frame(LinkType::ETHERNET, bytes.len() as u32, &bytes);
        let (_, stored) = copied(&frame);
        assert!(bytes.windows(4).any(|part| part == &MARK[..4]));
        assert!(
            !stored.windows(4).any(|part| MARK.windows(4).any(|mark| part == mark)),
            "packet {n}: {stored:x?}"
        );
        let addresses = [&V4.0, &V4.1];
        assert!(
            !stored.windows(4).any(|part| addresses.iter().any(|address| part == &address[..])),
            "packet {n}: {stored:x?}"
        );
    }
    // A frame without IP becomes one byte; truncated before the addresses, none.
    let arp = ethernet(0x0806, &[0x77; 46]);
    assert_eq!(copied(&frame(LinkType::ETHERNET, 60, &arp)), (60, vec![0]));
    assert_eq!(copied(&frame(LinkType::ETHERNET, 60, &ethernet(0x0800, &[0x45; 10]))), (60, vec![]));
}

#[test]
fn relevant_options_are_preserved() {
    let options =
        join(&[&stamp_option(), &[19, 6, 1, 2, 3, 4], &[34, 6, 5, 6, 7, 8], &[172, 5, 0, 0, 9], &[3, 3, 7]]);
    let ip = v4(6, &[], &tcp(&options, &[]));
    let (sent, stored) = copied(&frame(LinkType::RAW, ip.len() as u32, &ip));
    let Transport::Tcp(after) = dissect(LinkType::RAW, sent, &stored).unwrap().transport else { panic!() };
    let kept: Vec<_> = TcpOptions::new(after.options).skip(1).collect();
    let ecn = TcpOption::AccurateEcn { ect_0_bytes: Some(9), ce_bytes: None, ect_1_bytes: None };
    assert_eq!(kept, [TcpOption::FastOpen(4), ecn, TcpOption::WindowScale(7)]);
    assert_eq!(after.options.len(), options.len());
    assert_eq!(after.options[12..18], [1; 6]);
}

#[test]
fn probes_are_still_matched_to_their_answers() {
    let payload_of = |ip: &[u8]| {
        let (sent, stored) = copied(&frame(LinkType::RAW, ip.len() as u32, ip));
        match dissect(LinkType::RAW, sent, &stored).unwrap().transport {
            Transport::Udp(udp) => udp.payload.to_vec(),
            Transport::Icmp(icmp) => join(&[&icmp.rest, icmp.payload]),
            other => panic!("{other:?}"),
        }
    };
    let query = [0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, b'w', b'w', b'w', 0];
    assert_eq!(payload_of(&v4(17, &[], &udp((9, 53), &query))), query[..12]);
    let initial = join(&[&[0xc7, 0, 0, 0, 1, 8], &[1; 1194]]);
    assert_eq!(payload_of(&v4(17, &[], &udp((9, 443), &initial))), [0xc0, 0, 0, 0, 1]);
    assert_eq!(payload_of(&v4(17, &[], &udp((9, 443), &[0x7f; 40]))), [0x60]);
    assert_eq!(payload_of(&v4(17, &[], &udp((9, 443), &[0x3f; 40]))), [0_u8; 0]);
    assert_eq!(payload_of(&v4(1, &[], &[0, 0, 0, 0, 1, 2, 3, 4, 9, 9])), [1, 2, 3, 4]);
    // The packet that an error quotes, with the same replaced addresses.
    let about = v4(17, &[], &udp((1000, 2000), &[5; 40]));
    let error = join(&[&[3, 4, 0, 0, 0, 0, 5, 0xdc], &about[..28]]);
    let found = payload_of(&v4(1, &[], &error));
    assert_eq!(found[..4], [0, 0, 5, 0xdc]);
    let quoted = dissect(LinkType::RAW, 28, &found[4..]).unwrap();
    let (_, whole) = copied(&frame(LinkType::RAW, 68, &about));
    assert_eq!(found[4..], whole);
    let Transport::Udp(udp) = quoted.transport else { panic!() };
    assert_eq!((udp.source_port, udp.destination_port, udp.payload_bytes), (1000, 2000, 40));
    assert_ne!(quoted.source, Address::v4(V4.0));
    // A redirect contains a router's address.
    assert_eq!(payload_of(&v4(1, &[], &[5, 1, 0, 0, 10, 9, 8, 7]))[..4], [0; 4]);
}

#[test]
fn the_quality_report_is_unchanged() {
    let big = 70_000_u32;
    let mut long = ethernet(0x0800, &v4(6, &[], &segment()));
    long[16..18].copy_from_slice(&[0, 0]);
    let frames = [
        frame(LinkType::ETHERNET, big, &long),
        frame(LinkType::ETHERNET, 166, &long[..40]),
        frame(LinkType::ETHERNET, 166, &long[..20]),
    ];
    let (mut before, mut after) = (Quality::new(), Quality::new());
    for (number, original) in (1..).zip(&frames) {
        let found = dissect(original.link, original.original_len, original.bytes);
        before.frame(number, original, &found);
        let (sent, stored) = copied(original);
        let copy = frame(LinkType::RAW, sent, &stored);
        after.frame(number, &copy, &dissect(LinkType::RAW, sent, &stored));
    }
    let counts = |q: &Quality| (q.frames, q.not_ip, q.cut_headers, q.super_packets, q.longest_bytes);
    assert_eq!(counts(&before), counts(&after));
    assert_eq!(counts(&before), (3, 1, 2, 1, big - 14));
}

/// The copy of a malicious frame is no longer than headers are, and is readable.
#[test]
fn malicious_frames_give_small_valid_copies() {
    let good = [
        ethernet(0x0800, &v4(6, &[1; 8], &segment())),
        ethernet(0x86dd, &v6(60, &join(&[&[6, 0, 1, 4, 0, 0, 0, 0], &segment()]))),
        ethernet(0x0800, &v4(1, &[], &join(&[&[3, 1, 0, 0, 0, 0, 0, 0], &v4(6, &[], &segment())]))),
    ];
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let bytes = damaged(&good, &mut rng);
        let original = frame(LinkType::ETHERNET, bytes.len() as u32, &bytes);
        let (sent, stored) = copied(&original);
        assert!(stored.len() < 1300, "seed {seed}: {}", stored.len());
        let before = dissect(LinkType::ETHERNET, original.original_len, &bytes);
        let after = dissect(LinkType::RAW, sent, &stored);
        assert_eq!(before.is_ok(), after.is_ok(), "seed {seed}");
        if let (Ok(before), Ok(after)) = (&before, &after) {
            assert_eq!((before.ip_bytes, before.hop_limit), (after.ip_bytes, after.hop_limit), "seed {seed}");
        }
        assert!(after != Err(NotIp::Deep), "seed {seed}");
    }
}
