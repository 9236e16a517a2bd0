//! Reading a capture piece by piece.
//!
//! By hand: memory is bounded whatever a file says, a record that is cut short is still read, and no packet is copied.
use crate::pcap::{Pcap, is_pcap};
use crate::pcapng::{MAGIC, Pcapng};
use crate::{CaptureError, CutRecord, Frame, Step};

/// Reads pcap and pcapng from slices, without copying: hand it what there is, drop what it used, and add more when it asks.
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
    /// At the start of a file of either format.
    pub const fn new() -> Self {
        Reader { format: Format::Unknown, offset: 0 }
    }
    /// Whether a file that begins so is a capture.
    pub fn is_capture(begins: [u8; 4]) -> bool {
        begins == MAGIC || is_pcap(begins)
    }
    /// The frame that `bytes` begin with, and how many bytes it used, if that can be told without more ado: as in pcap nearly always.
    /// Where there is none, [`Reader::step`] tells what is.
    #[inline]
    pub fn frame<'a>(&mut self, bytes: &'a [u8]) -> Option<(usize, Frame<'a>)> {
        let Format::Pcap(pcap) = &self.format else { return None };
        let (used, frame) = pcap.frame(bytes)?;
        self.offset += used as u64;
        Some((used, frame))
    }
    /// One step: how many of `bytes` it used, and what they are.
    ///
    /// # Errors
    /// A file that is no capture, or the place from which on it is damaged. Each further step says the same.
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
    /// What is left at the end of the file, if that is part of a record. `left` is what the last step did not use.
    pub fn finish(&self, left: &[u8]) -> Option<CutRecord> {
        let within = matches!(&self.format, Format::Pcapng(pcapng) if pcapng.is_within_block());
        (within || !left.is_empty()).then_some(CutRecord { offset: self.offset, stored: left.len() })
    }
    /// Nanoseconds of the coarsest clock that the file has so far; 0 if it has none yet.
    pub fn resolution_ns(&self) -> u64 {
        match &self.format {
            Format::Unknown => 0,
            Format::Pcap(pcap) => u64::from(pcap.unit_ns),
            Format::Pcapng(pcapng) => pcapng.resolution_ns,
        }
    }
    /// Frames so far to which the file gave no time (simple packet blocks).
    pub fn untimed(&self) -> u64 {
        if let Format::Pcapng(pcapng) = &self.format { pcapng.untimed } else { 0 }
    }
    /// Bytes used so far.
    pub const fn offset(&self) -> u64 {
        self.offset
    }
}
