//! Frames out of a file or a stream, one after the other.
use crate::packing::Source;
use crate::source::alone;
use crate::{InputEnd, ReadFault, SourceError, source};
use fathom_capture::{CaptureError, Frame, Reader, Statistics, Step};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

/// Bytes read at once: so many that the call costs little, so few that they stay in the processor's cache.
const BUFFER_BYTES: usize = 64 << 10;
/// Interfaces whose statistics are kept.
const MAX_STATISTICS: usize = 1024;
/// So many bytes of what is no capture tell whether it is text.
const JUDGED_BYTES: usize = 512;
/// A pcap file's header.
const MIN_BYTES: usize = 24;

/// Something opened, which gives its frames.
pub struct FrameSource {
    name: String,
    source: Source,
    reader: Reader,
    buffer: Vec<u8>,
    /// What of the buffer is read and not used.
    start: usize,
    end: usize,
    frames: u64,
    statistics: Vec<Statistics>,
}

impl FrameSource {
    /// Opens a capture file of any format and packing; `-` is standard input.
    ///
    /// # Errors
    /// What is in the way; a file that is no capture is told by [`FrameSource::for_each`].
    pub fn open(path: &Path) -> Result<FrameSource, SourceError> {
        Ok(FrameSource::over(name_of(path), alone(source::open(path)?)))
    }
    /// The same, to be read by two threads at the same time: each has all frames. What is packed, or a pipe, has to be read for both by a third,
    /// if `has_room` for one; it is one capture alone where that cannot be.
    ///
    /// # Errors
    /// As of [`FrameSource::open`].
    pub fn open_pair(path: &Path, has_room: bool) -> Result<(FrameSource, Option<FrameSource>), SourceError> {
        let (first, second) = source::open_pair(path, has_room)?;
        let capture = |source| FrameSource::over(name_of(path), source);
        Ok((capture(first), second.map(capture)))
    }
    /// Of anything that gives bytes, packed or not. `name` is for messages.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(name: &str, source: impl Read + Send + 'static) -> Result<FrameSource, SourceError> {
        Ok(FrameSource::over(name.to_owned(), alone(source::unpacked(name, Box::new(source))?)))
    }
    fn over(name: String, source: Source) -> FrameSource {
        FrameSource {
            name,
            source,
            reader: Reader::new(),
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            frames: 0,
            statistics: Vec::new(),
        }
    }
    /// Hands each frame with its number (from 1, as in Wireshark) to `visit`, until that breaks or there are no more.
    ///
    /// # Errors
    /// If it is no capture. What goes wrong later is told in [`InputEnd::trouble`], as what came before it counts.
    pub fn for_each(
        &mut self,
        mut visit: impl FnMut(u64, &Frame<'_>) -> ControlFlow<()>,
    ) -> Result<InputEnd, SourceError> {
        loop {
            let need = match self.buffered(&mut visit) {
                Ok(ControlFlow::Continue(need)) => need,
                Ok(ControlFlow::Break(())) => return Ok(self.ending(None)),
                Err(error) => return self.failed(error),
            };
            match self.fill(need) {
                Ok(0) => return self.ended(),
                Ok(_) => {}
                Err(error) => return self.unreadable(error),
            }
        }
    }
    /// Goes through what is buffered; returns how many bytes there must be for more.
    fn buffered(
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
    /// Reads what there is, at least a byte; 0 at the end. Makes room for `need` bytes first.
    fn fill(&mut self, need: usize) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if need > self.buffer.len() {
            self.buffer.resize(need.next_power_of_two(), 0);
        }
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(read) => {
                    self.end += read;
                    return Ok(read);
                }
            }
        }
    }
    fn left(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or_default()
    }
    fn ending(&mut self, trouble: Option<ReadFault>) -> InputEnd {
        InputEnd {
            frames: self.frames,
            bytes: self.reader.offset(),
            statistics: std::mem::take(&mut self.statistics),
            resolution_ns: self.reader.resolution_ns(),
            untimed: self.reader.untimed(),
            trouble,
        }
    }
    fn ended(&mut self) -> Result<InputEnd, SourceError> {
        if self.reader.offset() == 0 {
            return Err(match self.left().len() {
                0 => SourceError::Empty(self.name.clone()),
                bytes if bytes < MIN_BYTES => SourceError::Short { name: self.name.clone(), bytes },
                _ => self.foreign(),
            });
        }
        let cut = self.reader.finish(self.left());
        Ok(self.ending(cut.map(ReadFault::Cut)))
    }
    fn failed(&mut self, error: CaptureError) -> Result<InputEnd, SourceError> {
        if let CaptureError::NotACapture { .. } = error {
            Err(self.foreign())
        } else {
            Ok(self.ending(Some(ReadFault::Damaged(error))))
        }
    }
    fn unreadable(&mut self, source: io::Error) -> Result<InputEnd, SourceError> {
        if self.reader.offset() == 0 {
            return Err(SourceError::Io { name: self.name.clone(), action: "read it", source });
        }
        Ok(self.ending(Some(ReadFault::Read(source))))
    }
    /// What it is, if it does not begin as a capture does.
    fn foreign(&mut self) -> SourceError {
        // The first bytes were read alone, to see how it is packed, and may look like text. One reading more: a pipe may stay open.
        if self.left().len() < JUDGED_BYTES {
            let _ = self.fill(JUDGED_BYTES);
        }
        let (left, name) = (self.left(), self.name.clone());
        let begins = left.first_chunk().copied().unwrap_or_default();
        let start = left.get(..left.len().min(JUDGED_BYTES)).unwrap_or_default();
        if start.iter().all(|byte| matches!(byte, b'\t'..=b'\r' | b' '..=b'~' | 0x80..)) {
            return SourceError::Text(name);
        }
        SourceError::NotACapture { name, source: CaptureError::NotACapture { begins } }
    }
}

/// For messages.
fn name_of(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() }
}

/// Keeps the last counts of each interface, and of a hostile file the first so many interfaces.
fn keep(all: &mut Vec<Statistics>, counts: Statistics) {
    if let Some(old) = all.iter_mut().find(|old| old.interface == counts.interface) {
        *old = counts;
    } else if all.len() < MAX_STATISTICS {
        all.push(counts);
    }
}
