//! Incremental reader of capture files.
//!
//! Our own code: it uses bounded memory, reads truncated records, and copies no packet.
use crate::pcap::{Pcap, is_pcap};
use crate::pcapng::{MAGIC, Pcapng};
use crate::{CaptureError, CutRecord, Frame, Step};

/// Reads pcap and pcapng from slices without copying: pass data, discard what was used, repeat.
#[derive(Clone, Debug)]
pub struct Reader {
    format: Format,
    offset: u64,
}

#[derive(Clone, Debug)]
enum Format {
    Unknown,
    Pcap(Pcap),
    Pcapng(Pcapng),
}

impl Default for Reader {
    fn default() -> Self {
        Reader::new()
    }
}

impl Reader {
    /// Creates a reader at the start of a file of either format.
    pub const fn new() -> Self {
        Reader { format: Format::Unknown, offset: 0 }
    }
    /// True if a file with these first bytes is a capture.
    pub fn is_capture(begins: [u8; 4]) -> bool {
        begins == MAGIC || is_pcap(begins)
    }
    /// The frame at the start of `bytes`, and its length, in simple cases, that is nearly always in
    /// pcap. If `None`, call [`Reader::step`].
    #[inline]
    pub fn frame<'a>(&mut self, bytes: &'a [u8]) -> Option<(usize, Frame<'a>)> {
        let Format::Pcap(pcap) = &self.format else { return None };
        let (used, frame) = pcap.frame(bytes)?;
        self.offset += used as u64;
        Some((used, frame))
    }
    /// Reads one item. Returns how many of `bytes` it used, and the item.
    ///
    /// # Errors
    /// The file is not a capture, or is damaged at this place. Further steps return the same error.
    #[inline]
    pub fn step<'a>(&mut self, bytes: &'a [u8]) -> Result<(usize, Step<'a>), CaptureError> {
        if let Some((used, frame)) = self.frame(bytes) {
            return Ok((used, Step::Frame(frame)));
        }
        let (used, step) = match &mut self.format {
            Format::Pcap(pcap) => pcap.step(bytes, self.offset)?,
            Format::Pcapng(pcapng) => pcapng.step(bytes, self.offset)?,
            Format::Unknown => self.begin(bytes)?,
        };
        self.offset += used as u64;
        Ok((used, step))
    }
    #[cold]
    fn begin<'a>(&mut self, bytes: &[u8]) -> Result<(usize, Step<'a>), CaptureError> {
        let Some(begins) = bytes.first_chunk::<4>() else { return Ok((0, Step::NeedMore(4))) };
        if *begins == MAGIC {
            self.format = Format::Pcapng(Pcapng::new());
            return Ok((0, Step::Other));
        }
        if !is_pcap(*begins) {
            return Err(CaptureError::NotACapture { begins: *begins });
        }
        let Some((pcap, used)) = Pcap::begin(bytes) else { return Ok((0, Step::NeedMore(24))) };
        self.format = Format::Pcap(pcap);
        Ok((used, Step::Other))
    }
    /// The incomplete record at the end, if any. `left` is what the last step did not use.
    pub fn finish(&self, left: &[u8]) -> Option<CutRecord> {
        let within = matches!(&self.format, Format::Pcapng(pcapng) if pcapng.is_within_block());
        (within || !left.is_empty()).then_some(CutRecord { offset: self.offset, stored: left.len() })
    }
    /// Resolution of the coarsest clock so far, in ns; 0 if there is none yet.
    pub fn resolution_ns(&self) -> u64 {
        match &self.format {
            Format::Unknown => 0,
            Format::Pcap(pcap) => u64::from(pcap.unit_ns),
            Format::Pcapng(pcapng) => pcapng.resolution_ns,
        }
    }
    /// Frames so far without a timestamp (simple packet blocks).
    pub fn untimed(&self) -> u64 {
        if let Format::Pcapng(pcapng) = &self.format { pcapng.untimed } else { 0 }
    }
    /// Bytes used so far.
    pub const fn offset(&self) -> u64 {
        self.offset
    }
}
