use crate::{Scratch, capture, read};
use fathom_capture::{Quality, dissect};
use fathom_capture_source::FrameSource;
use std::io::Cursor;
use std::ops::ControlFlow;

fn error(bytes: &[u8]) -> String {
    match FrameSource::of("x.pcap", Cursor::new(bytes.to_vec())).and_then(read) {
        Ok(ending) => panic!("{ending:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn each_bad_input_says_what_it_is() {
    let table: [(&[u8], &str); 9] = [
        (b"", "x.pcap: is empty"),
        (&[0xd4, 0xc3, 0xb2, 0xa1, 2, 0], "x.pcap: has 6 bytes, less than the header of a capture (24)"),
        (b"1.2.3.4 > 5.6.7.8: Flags [S]\n", "x.pcap: is text, not a capture: "),
        // Its first bytes, which are read separately to detect compression, could be text.
        (
            b"Seven letters or more, then none\0\x01\x02",
            "x.pcap: not a capture file: it starts with 53 65 76 65",
        ),
        (&[0x7f, b'E', b'L', b'F', 0, 0, 0, 0], "x.pcap: not a capture file: it starts with 7f 45 4c 46"),
        (b"BZh91AY&SY\0\0", "x.pcap: is bzip2: decompress it"),
        (b"PK\x03\x04\0\0\0\0", "x.pcap: is a zip archive"),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\x03garbage, not deflate", "x.pcap: cannot read: "),
        (b"\xfd7zXZ\0\0\0\0\0\0\0\0\0\0\0", "x.pcap: cannot read: "),
    ];
    for (bytes, message) in table {
        let said = error(bytes);
        assert!(said.starts_with(message), "{said}");
    }
}

#[test]
fn files_that_cannot_be_opened() {
    let said = |path: &std::path::Path| match FrameSource::open(path) {
        Ok(_) => panic!("{}", path.display()),
        Err(error) => error.to_string(),
    };
    let folder = std::env::temp_dir();
    assert_eq!(said(&folder), format!("{}: is a directory: specify a capture file", folder.display()));
    let missing = folder.join("fathom-capture-no-such-file");
    assert!(said(&missing).contains("cannot open: No such file"), "{}", said(&missing));
}

#[test]
fn damage_ends_the_reading_and_what_came_before_counts() {
    let mut bytes = capture(50);
    let good = bytes.len();
    bytes.extend([0xff; 100]);
    let ending = read(FrameSource::of("x", Cursor::new(bytes.clone())).unwrap()).unwrap();
    assert_eq!(ending.contents.frames, 50);
    let said = ending.trouble.unwrap().to_string();
    assert!(said.starts_with(&format!("damaged at byte {good}: captured length is 4294967295")), "{said}");
    bytes.truncate(good - 1);
    let cut = read(FrameSource::of("x", Cursor::new(bytes)).unwrap()).unwrap();
    assert_eq!(cut.contents.frames, 49);
    assert!(cut.trouble.unwrap().to_string().starts_with("the last record, at byte "));
}

#[test]
fn reading_stops_when_it_is_told_to_and_goes_on_where_it_was() {
    let file = Scratch::new("stop.pcap", &capture(50));
    let mut capture = FrameSource::open(file.path()).unwrap();
    let stop_at = |last: u64| {
        move |number: u64, _: &fathom_capture::Frame<'_>| {
            if number == last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    };
    assert_eq!(capture.for_each(stop_at(20)).unwrap().contents.frames, 20);
    let mut seen = Vec::new();
    let ending = capture.for_each(|number, frame| {
        seen.push((number, frame.at));
        ControlFlow::Continue(())
    });
    assert_eq!(ending.unwrap().contents.frames, 50);
    assert_eq!((seen.first(), seen.len()), (Some(&(21, 20_000)), 30));
}

#[test]
fn the_end_completes_the_quality() {
    let mut quality = Quality::new();
    let mut capture = FrameSource::of("x", Cursor::new(capture(300))).unwrap();
    let ending = capture.for_each(|number, frame| {
        quality.frame(number, frame, &dissect(frame.link, frame.original_len, frame.bytes));
        ControlFlow::Continue(())
    });
    ending.unwrap().contents.tell(&mut quality);
    assert_eq!((quality.frames, quality.resolution_ns, quality.untimed, quality.lost), (300, 1, 0, 0));
}
