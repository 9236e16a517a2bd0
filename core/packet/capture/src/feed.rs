//! Frames of a capture file that arrives in parts.
use crate::quality::Quality;
use crate::{CaptureError, CutRecord, Frame, Reader, Statistics, Step};
use alloc::vec::Vec;
use core::ops::ControlFlow;

/// Initial size of the buffer: large enough to make a read cheap, small enough for the CPU cache.
const BUFFER_BYTES: usize = 64 << 10;
/// Length of the header of a pcap file; that of pcapng is longer.
const HEADER_BYTES: usize = 24;
/// Maximum number of interfaces whose statistics are kept.
const MAX_STATISTICS: usize = 1024;

/// What a capture contained apart from its frames.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contents {
    /// Number of frames.
    pub frames: u64,
    /// Size of the decompressed capture in bytes.
    pub bytes: u64,
    /// Latest counts of each interface.
    pub statistics: Vec<Statistics>,
    /// Coarsest timestamp resolution in nanoseconds; 0 if there is none.
    pub resolution_ns: u64,
    /// Frames without a timestamp.
    pub untimed: u64,
}

impl Contents {
    /// Adds what the file reported apart from frames to `quality`.
    pub fn tell(&self, quality: &mut Quality) {
        quality.statistics(&self.statistics);
        (quality.resolution_ns, quality.untimed) = (self.resolution_ns, self.untimed);
    }
}

/// A [`Reader`] with a buffer: fill [`Feed::room`], call [`Feed::filled`], take the frames, repeat.
#[derive(Clone, Debug)]
pub struct Feed {
    reader: Reader,
    buffer: Vec<u8>,
    /// Start of the unused part of the buffer.
    start: usize,
    end: usize,
    frames: u64,
    statistics: Vec<Statistics>,
}

impl Default for Feed {
    fn default() -> Self {
        Feed::new()
    }
}

impl Feed {
    /// Creates a feed at the start of a file.
    pub fn new() -> Self {
        Feed {
            reader: Reader::new(),
            buffer: alloc::vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            frames: 0,
            statistics: Vec::new(),
        }
    }
    /// Passes the frames in the buffer to `visit`, each with its number (from 1, as in Wireshark),
    /// until that breaks. Returns how many bytes from the next record on are needed to continue.
    ///
    /// # Errors
    /// If the file is not a capture, or is damaged at this place.
    #[inline]
    pub fn frames(
        &mut self,
        visit: &mut impl FnMut(u64, &Frame<'_>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<(), usize>, CaptureError> {
        let mut rest = self.buffer.get(self.start..self.end).unwrap_or_default();
        loop {
            let (used, frame) = match self.reader.frame(rest) {
                Some(found) => found,
                None => {
                    let (used, step) = self.reader.step(rest)?;
                    if let Step::Frame(frame) = step {
                        (used, frame)
                    } else {
                        rest = rest.get(used..).unwrap_or_default();
                        self.start += used;
                        match step {
                            Step::Statistics(counts) => keep(&mut self.statistics, counts),
                            Step::NeedMore(need) => return Ok(ControlFlow::Continue(need)),
                            Step::Frame(_) | Step::Other => {}
                        }
                        continue;
                    }
                }
            };
            rest = rest.get(used..).unwrap_or_default();
            self.start += used;
            self.frames += 1;
            if visit(self.frames, &frame).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    /// Makes room for `need` bytes from the next record on, and returns the free part of the
    /// buffer, which is not empty if the bytes were needed.
    pub fn room(&mut self, need: usize) -> &mut [u8] {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if need > self.buffer.len() {
            self.buffer.resize(need.next_power_of_two(), 0);
        }
        &mut self.buffer[self.end..]
    }
    /// The first `bytes` of the room hold data now.
    pub fn filled(&mut self, bytes: usize) {
        self.end = self.buffer.len().min(self.end + bytes);
    }
    /// The bytes that no frame has used yet.
    pub fn left(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }
    /// Whether nothing was recognized yet.
    pub const fn is_at_start(&self) -> bool {
        self.reader.offset() == 0
    }
    /// At the end of a file in which nothing was recognized: its length, if that is why.
    pub fn short(&self) -> Option<CaptureError> {
        let bytes = self.left().len();
        (self.is_at_start() && (1..HEADER_BYTES).contains(&bytes)).then_some(CaptureError::Short { bytes })
    }
    /// At the end of the file: the incomplete record, if any.
    pub fn cut(&self) -> Option<CutRecord> {
        self.reader.finish(self.left())
    }
    /// What the file contained so far. The counts of interfaces are moved out.
    pub fn contents(&mut self) -> Contents {
        Contents {
            frames: self.frames,
            bytes: self.reader.offset(),
            statistics: core::mem::take(&mut self.statistics),
            resolution_ns: self.reader.resolution_ns(),
            untimed: self.reader.untimed(),
        }
    }
}

/// Keeps the latest counts of each interface, up to a maximum number of interfaces.
fn keep(all: &mut Vec<Statistics>, counts: Statistics) {
    if let Some(old) = all.iter_mut().find(|old| old.interface == counts.interface) {
        *old = counts;
    } else if all.len() < MAX_STATISTICS {
        all.push(counts);
    }
}
