//! Tests with capture files, and with an interface, which needs root.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod bad;
mod live;
mod packed;
mod pair;

use fathom_capture::{Frame, LinkType, pcap_header, write_pcap};
use fathom_capture_source::{FrameSource, InputEnd, SourceError};
use fathom_units::Rng;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Content of frame `index` of [`capture`]: random, so that it hardly compresses.
fn content(index: u32) -> Vec<u8> {
    let mut rng = Rng::new(u64::from(index));
    (0..4 + index % 1200).map(|_| rng.next_u64() as u8).collect()
}

/// A capture of `count` raw IP frames, a microsecond apart.
fn capture(count: u32) -> Vec<u8> {
    let mut bytes = pcap_header(LinkType::RAW).to_vec();
    for number in 0..count {
        let stored = content(number);
        let frame = Frame {
            at: i64::from(number) * 1000,
            link: LinkType::RAW,
            original_len: stored.len() as u32,
            interface: 0,
            lost_before: 0,
            bytes: &stored,
        };
        write_pcap(&frame, &mut bytes);
    }
    bytes
}

/// Reads all frames of [`capture`] and compares each with its expected content.
fn read(capture: FrameSource) -> Result<InputEnd, SourceError> {
    let mut capture = capture;
    capture.for_each(|number, frame| {
        let index = number as u32 - 1;
        assert_eq!(frame.at, i64::from(index) * 1000);
        assert_eq!(frame.bytes, content(index), "{number}");
        ControlFlow::Continue(())
    })
}

/// A temporary file of this test, removed at its end.
struct Scratch {
    path: PathBuf,
    _folder: TempDir,
}

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Scratch {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        Scratch { path, _folder: folder }
    }
    fn path(&self) -> &Path {
        &self.path
    }
}
