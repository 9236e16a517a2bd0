use crate::{Scratch, capture, read};
use fathom_capture_source::{FrameSource, ReadFault};
use lz4_flex::frame::{BlockSize, FrameEncoder, FrameInfo};
use std::io::{Cursor, Read, Write};

const FRAMES: u32 = 700;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    // The smallest blocks for large input, so that truncation leaves some whole; another size for
    // small input.
    let size = if bytes.len() < 1000 { BlockSize::Max1MB } else { BlockSize::Max64KB };
    let mut packer = FrameEncoder::with_frame_info(FrameInfo::new().block_size(size), Vec::new());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut packer = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

type Pack = fn(&[u8]) -> Vec<u8>;

const PACKINGS: [(&str, Pack); 4] = [("gzip", gzip), ("zstd", zstd), ("lz4", lz4), ("xz", xz)];

#[test]
fn each_packing_alone_twice_and_in_parts() {
    let plain = capture(FRAMES);
    let (first, second) = plain.split_at(plain.len() / 3);
    let whole = |bytes: Vec<u8>, name: &str| {
        let ending = read(FrameSource::of(name, Cursor::new(bytes)).unwrap()).unwrap();
        assert_eq!(
            (ending.contents.frames, ending.contents.bytes as usize),
            (u64::from(FRAMES), plain.len()),
            "{name}"
        );
        assert!(ending.trouble.is_none(), "{name}: {:?}", ending.trouble);
    };
    whole(plain.clone(), "plain");
    for (name, pack) in PACKINGS {
        whole(pack(&plain), name);
        // Concatenated members, as when separately compressed files are joined.
        whole([pack(first), pack(&[]), pack(second)].concat(), name);
        PACKINGS.iter().for_each(|(_, around)| whole(around(&pack(&plain)), name));
    }
    // A skippable zstd frame.
    whole(
        [&[0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3][..], &zstd(&plain)].concat(),
        "zstd after something",
    );
}

#[test]
fn what_comes_before_a_cut_counts() {
    // Several blocks in each format.
    let plain = capture(2000);
    for (name, pack) in PACKINGS {
        let packed = pack(&plain);
        let cut = packed[..packed.len() / 2].to_vec();
        let ending = read(FrameSource::of(name, Cursor::new(cut)).unwrap()).unwrap();
        assert!((100..1999).contains(&ending.contents.frames), "{name}: {}", ending.contents.frames);
        assert!(matches!(ending.trouble, Some(ReadFault::Read(_))), "{name}: {:?}", ending.trouble);
    }
}

#[test]
fn a_file_and_a_pipe_that_gives_little_at_a_time() {
    let plain = capture(FRAMES);
    let file = Scratch::new("file.pcap", &plain);
    assert_eq!(read(FrameSource::open(file.path()).unwrap()).unwrap().contents.frames, u64::from(FRAMES));
    let packed = Scratch::new("file.pcap.gz", &gzip(&plain));
    assert_eq!(read(FrameSource::open(packed.path()).unwrap()).unwrap().contents.frames, u64::from(FRAMES));
    for bytes in [1, 100, 5000] {
        let drip = Drip { rest: Cursor::new(plain.clone()), bytes };
        assert_eq!(read(FrameSource::of("pipe", drip).unwrap()).unwrap().contents.frames, u64::from(FRAMES));
    }
}

/// Returns a limited number of bytes per read.
struct Drip {
    rest: Cursor<Vec<u8>>,
    bytes: usize,
}

impl Read for Drip {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let most = self.bytes.min(into.len());
        self.rest.read(&mut into[..most])
    }
}
