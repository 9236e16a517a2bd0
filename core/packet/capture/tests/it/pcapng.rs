use crate::build::{block, join, n16, n32, n64, option};
use crate::format_bytes::{check, read};
use fathom_capture::{LinkType, Reader, Statistics, Step};

fn section(big: bool) -> Vec<u8> {
    block(big, 0x0a0d_0d0a, &join(&[&n32(big, 0x1a2b_3c4d), &n16(big, 1), &n16(big, 0), &[0xff; 8]]))
}

fn interface(big: bool, link: u16, snaplen: u32, options: &[u8]) -> Vec<u8> {
    block(big, 1, &join(&[&n16(big, link), &[0; 2], &n32(big, snaplen), options]))
}

/// An enhanced packet block with original length `sent`.
fn packet(big: bool, interface: u32, units: u64, sent: u32, stored: &[u8], options: &[u8]) -> Vec<u8> {
    let head = [interface, (units >> 32) as u32, units as u32, stored.len() as u32, sent];
    let padding = vec![0; stored.len().next_multiple_of(4) - stored.len()];
    block(big, 6, &join(&[&head.map(|word| n32(big, word)).concat(), stored, &padding, options]))
}

/// Frames as (at, link, interface, sent, stored), statistics, and the number of untimed frames.
type Found = (Vec<(i64, u16, u32, u32, Vec<u8>)>, Vec<Statistics>, u64);

fn found(bytes: &[u8]) -> Found {
    let (mut reader, mut at, mut frames, mut statistics) = (Reader::new(), 0, Vec::new(), Vec::new());
    loop {
        let (used, step) = reader.step(&bytes[at..]).unwrap();
        at += used;
        match step {
            Step::Frame(f) => frames.push((f.at, f.link.0, f.interface, f.original_len, f.bytes.to_vec())),
            Step::Statistics(counts) => statistics.push(counts),
            Step::Other => {}
            Step::NeedMore(_) => return (frames, statistics, reader.untimed()),
        }
    }
}

#[test]
fn interfaces_have_their_own_link_type_and_clock() {
    for big in [false, true] {
        let resolution = |value| option(big, 9, &[value]);
        let offset = option(big, 14, &n64(big, 100));
        let end = option(big, 0, &[]);
        let bytes = join(&[
            &section(big),
            &interface(big, 1, 0, &[]),
            &interface(big, 101, 0, &join(&[&option(big, 2, b"wan0"), &resolution(9), &end, &resolution(0)])),
            &interface(big, 276, 0, &join(&[&resolution(0x80 | 20), &offset])),
            &interface(big, 113, 0, &resolution(12)),
            // An impossible unit: the default of microseconds applies.
            &interface(big, 0, 0, &resolution(99)),
            &packet(big, 0, 5_000_001, 60, b"a", &[]),
            &packet(big, 1, 5_000_000_001, 61, b"bc", &end),
            &packet(big, 2, 3 << 19, 62, b"def", &[]),
            &packet(big, 3, 7_000_000_000_999, 63, b"", &[]),
            &packet(big, 4, 8, 64, b"ghijk", &[]),
        ]);
        let expected = vec![
            (5_000_001_000, 1, 0, 60, b"a".to_vec()),
            (5_000_000_001, 101, 1, 61, b"bc".to_vec()),
            (101_500_000_000, 276, 2, 62, b"def".to_vec()),
            (7_000_000_000, 113, 3, 63, vec![]),
            (8_000, 0, 4, 64, b"ghijk".to_vec()),
        ];
        assert_eq!(found(&bytes), (expected, vec![], 0), "{big}");
        check(&bytes);
        (0..bytes.len()).for_each(|cut| check(&bytes[..cut]));
    }
}

#[test]
fn interfaces_are_numbered_across_sections() {
    let one = |big| join(&[&section(big), &interface(big, 1, 0, &[]), &packet(big, 0, 9, 9, b"x", &[])]);
    let bytes = [one(false), one(true), one(false)].concat();
    let interfaces: Vec<u32> = found(&bytes).0.iter().map(|frame| frame.2).collect();
    assert_eq!(interfaces, [0, 1, 2]);
    check(&bytes);
}

#[test]
fn old_and_simple_packets_are_read() {
    for big in [false, true] {
        let old = |drops: u16| {
            join(&[
                &n16(big, 0),
                &n16(big, drops),
                &[0; 4],
                &n32(big, 77),
                &n32(big, 2),
                &n32(big, 1500),
                b"yz",
            ])
        };
        let simple = |sent: u32, stored: &[u8]| block(big, 3, &join(&[&n32(big, sent), stored]));
        let bytes = join(&[
            &section(big),
            &interface(big, 101, 3, &[]),
            &block(big, 2, &old(u16::MAX)),
            &block(big, 2, &old(7)),
            &simple(1500, b"abc"),
            &simple(2, b"de"),
            // Its length exceeds its block.
            &simple(3, b""),
        ]);
        let (frames, _, untimed) = found(&bytes);
        let expected = vec![
            (77_000, 101, 0, 1500, b"yz".to_vec()),
            (77_000, 101, 0, 1500, b"yz".to_vec()),
            (77_000, 101, 0, 1500, b"abc".to_vec()),
            (77_000, 101, 0, 2, b"de".to_vec()),
            (77_000, 101, 0, 3, b"".to_vec()),
        ];
        assert_eq!((frames, untimed), (expected, 3), "{big}");
        let (story, _) = read(&bytes, 4096);
        assert!(story[1].contains("lost_before: 7") && story[0].contains("lost_before: 0"), "{story:?}");
        check(&bytes);
    }
}

#[test]
fn drops_are_reported() {
    for big in [false, true] {
        let counts = join(&[
            &n32(big, 1),
            &[0; 8],
            &option(big, 4, &n64(big, 1000)),
            &option(big, 5, &n64(big, 30)),
            &option(big, 7, &n64(big, 1 << 40)),
            &option(big, 0, &[]),
        ]);
        let lost = join(&[&option(big, 1, b"hello"), &option(big, 4, &n64(big, 12)), &option(big, 0, &[])]);
        let bytes = join(&[
            &section(big),
            &interface(big, 1, 0, &[]),
            &interface(big, 1, 0, &[]),
            &packet(big, 1, 0, 4, b"abc", &lost),
            &block(big, 5, &counts),
            &block(big, 5, &join(&[&n32(big, 0), &[0; 8]])),
        ]);
        let expected = Statistics {
            interface: 1,
            received: Some(1000),
            dropped_by_interface: Some(30),
            dropped_by_system: Some(1 << 40),
        };
        assert_eq!(found(&bytes).1, [expected, Statistics::default()], "{big}");
        assert!(read(&bytes, 1).0[0].contains("lost_before: 12"));
    }
}

#[test]
fn unknown_blocks_are_skipped_without_buffering() {
    // A block with the maximum length, of which a thousandth is present.
    let long = join(&[&n32(false, 0xbad), &n32(false, u32::MAX - 3), &[0; 4_000_000]]);
    let bytes = join(&[
        &section(false),
        &block(false, 4, &[1; 5_000_000]),
        &interface(false, 1, 0, &[]),
        &packet(false, 0, 1, 1, b"a", &[]),
        &long,
    ]);
    // `read` asserts that no more than a packet's bytes are requested.
    let (story, error) = read(&bytes, 4096);
    assert_eq!((story.len(), error), (2, None));
    assert!(story[1].starts_with("the last record"), "{}", story[1]);
}

#[test]
fn an_impossible_value_is_an_error_with_its_place() {
    let start = join(&[&section(false), &interface(false, 1, 0, &[])]);
    let at = start.len();
    let table: [(Vec<u8>, &str); 6] = [
        (packet(false, 3, 0, 1, b"a", &[]), "interface is 3 (interfaces declared: 1)"),
        (join(&[&n32(false, 6), &n32(false, 8), &[0; 40]]), "block length is 8 (minimum 12)"),
        (
            join(&[&n32(false, 6), &n32(false, 1 << 24), &[0; 40]]),
            "block length is 16777216 (maximum 1114112)",
        ),
        (block(false, 6, &[0; 16]), "block length is 28 (minimum 32)"),
        (
            block(false, 6, &join(&[&[0; 12], &n32(false, 5), &n32(false, 5), &[0; 4]])),
            "captured length is 5 (space in the block: 4)",
        ),
        (
            join(&[&n32(false, 0x0a0d_0d0a), &n32(false, 28), &[0; 20]]),
            "byte-order magic is 0 (expected 439041101)",
        ),
    ];
    for (bytes, message) in table {
        let (story, error) = read(&join(&[&start, &bytes]), 4096);
        assert_eq!(error.unwrap().to_string(), format!("damaged at byte {at}: {message}"), "{story:?}");
        check(&join(&[&start, &bytes]));
    }
}

#[test]
fn a_length_that_is_no_multiple_of_four_is_padded() {
    let mut odd = packet(false, 0, 4000, 3, b"abc", &[]);
    odd[4] -= 1;
    let next = packet(false, 0, 5000, 3, b"def", &[]);
    let bytes = join(&[&section(false), &interface(false, LinkType::RAW.0, 0, &[]), &odd, &next]);
    let stored: Vec<_> = found(&bytes).0.into_iter().map(|frame| frame.4).collect();
    assert_eq!(stored, [b"abc".to_vec(), b"def".to_vec()]);
}
