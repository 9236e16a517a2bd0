use crate::build::{join, n16, n32};
use crate::format_bytes::{check, read};
use fathom_capture::{Frame, LinkType, MAX_STORED_BYTES, Reader, Step, pcap_header, write_pcap};
use fathom_units::Rng;

/// A file with these records: seconds, fraction, original length, stored bytes.
fn file(big: bool, magic: u32, records: &[(u32, u32, u32, &[u8])]) -> Vec<u8> {
    let mut bytes =
        join(&[&n32(big, magic), &n16(big, 2), &n16(big, 4), &[0; 8], &n32(big, 96), &n32(big, 101)]);
    for (seconds, fraction, sent, stored) in records {
        for word in [*seconds, *fraction, stored.len() as u32, *sent] {
            bytes.extend(n32(big, word));
        }
        if magic == 0xa1b2_cd34 {
            bytes.extend([9; 8]);
        }
        bytes.extend(*stored);
    }
    bytes
}

fn frames(bytes: &[u8]) -> Vec<(i64, u32, Vec<u8>)> {
    let (mut reader, mut at, mut found) = (Reader::new(), 0, Vec::new());
    loop {
        let (used, step) = reader.step(&bytes[at..]).unwrap();
        at += used;
        match step {
            Step::Frame(f) => {
                assert_eq!((f.link, f.interface, f.lost_before), (LinkType::RAW, 0, 0));
                found.push((f.at, f.original_len, f.bytes.to_vec()));
            }
            Step::NeedMore(_) => return found,
            _ => {}
        }
    }
}

#[test]
fn every_magic_in_either_byte_order() {
    // Unit of the fraction, in ns.
    for (magic, unit) in [(0xa1b2_c3d4, 1000), (0xa1b2_3c4d, 1), (0xa1b2_cd34, 1000)] {
        for big in [false, true] {
            let bytes =
                file(big, magic, &[(1, 2, 3, b"abc"), (u32::MAX, 999_999, 1500, b""), (0, 0, 5, b"12345")]);
            let expected = vec![
                (1_000_000_000 + 2 * unit, 3, b"abc".to_vec()),
                (i64::from(u32::MAX) * 1_000_000_000 + 999_999 * unit, 1500, vec![]),
                (0, 5, b"12345".to_vec()),
            ];
            assert_eq!(frames(&bytes), expected, "{magic:x} {big}");
            check(&bytes);
        }
    }
}

#[test]
fn a_truncated_file_yields_whole_records_and_the_offset() {
    let bytes = file(false, 0xa1b2_c3d4, &[(1, 2, 3, b"abc"), (2, 0, 1500, b"defg")]);
    for end in 24..bytes.len() {
        let (story, error) = read(&bytes[..end], 4096);
        let whole = usize::from(end >= 24 + 19);
        let begun = if whole == 1 { 24 + 19 } else { 24 };
        let note = format!(
            "the last record, at byte {begun}, is truncated after {} bytes and was skipped",
            end - begun
        );
        assert_eq!(error, None);
        assert_eq!(story.len(), whole + usize::from(end > begun), "{end}");
        assert!(end == begun || story.last().unwrap() == &note, "{end}: {story:?}");
        check(&bytes[..end]);
    }
}

#[test]
fn an_impossible_length_is_an_error_with_its_offset() {
    let mut bytes = file(true, 0xa1b2_c3d4, &[(1, 2, 3, b"abc"), (2, 0, 1500, b"defg")]);
    bytes[24 + 19 + 8..24 + 19 + 12].copy_from_slice(&u32::MAX.to_be_bytes());
    let (story, error) = read(&bytes, 1);
    assert_eq!(story.len(), 1);
    assert_eq!(
        error.unwrap().to_string(),
        "damaged at byte 43: captured length is 4294967295 (maximum 1048576)"
    );
    let big = vec![7; MAX_STORED_BYTES];
    let at_limit = file(true, 0xa1b2_c3d4, &[(1, 2, 3, &big)]);
    assert_eq!(frames(&at_limit)[0].1 as usize, MAX_STORED_BYTES, "never fewer sent than stored");
}

#[test]
fn swapped_lengths_of_old_files_are_corrected() {
    let mut bytes = file(false, 0xa1b2_c3d4, &[(1, 2, 3, b"abc")]);
    bytes[6] = 3;
    // Stored and original length are swapped: 64 of 1500.
    bytes.splice(24.., join(&[&[0; 8], &n32(false, 1500), &n32(false, 64), &[1; 64]]));
    assert_eq!(frames(&bytes), vec![(0, 1500, vec![1; 64])]);
}

#[test]
fn a_file_that_is_no_capture_is_detected_by_its_first_bytes() {
    let (_, error) = read(b"\x7fELF and so on, more than a header", 4096);
    assert_eq!(
        error.unwrap().to_string(),
        "not a capture file: it starts with 7f 45 4c 46, which is neither pcap nor pcapng"
    );
}

#[test]
fn written_files_are_readable() {
    for seed in 0..64 {
        let mut rng = Rng::new(seed);
        let mut bytes = pcap_header(LinkType::RAW).to_vec();
        let mut expected = Vec::new();
        for _ in 0..20 {
            let stored: Vec<u8> = (0..rng.below(200)).map(|_| rng.below(256) as u8).collect();
            let (at, sent) = (rng.below(1 << 62) as i64, stored.len() as u32 + rng.below(9000) as u32);
            let frame = Frame {
                at,
                link: LinkType::RAW,
                original_len: sent,
                interface: 0,
                lost_before: 0,
                bytes: &stored,
            };
            write_pcap(&frame, &mut bytes);
            expected.push((at, sent, stored));
        }
        // Seconds have 32 bits.
        expected.iter_mut().for_each(|(at, ..)| *at = (*at).min(4_294_967_295_999_999_999));
        assert_eq!(frames(&bytes), expected, "seed {seed}");
    }
}
