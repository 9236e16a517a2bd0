//! Reads frames from a file or stream, one by one.
use crate::packing::Source;
use crate::source::alone;
use crate::{InputEnd, ReadFault, SourceError, source};
use fathom_capture::{CaptureError, Feed, Frame};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

/// Bytes examined to decide whether an unknown file is text.
const JUDGED_BYTES: usize = 512;

/// An open source of frames.
pub struct FrameSource {
    name: String,
    source: Source,
    feed: Feed,
}

impl FrameSource {
    /// Opens a capture file of any format and compression; `-` is standard input.
    ///
    /// # Errors
    /// Why it cannot be opened. [`FrameSource::for_each`] reports a file that is not a capture.
    pub fn open(path: &Path) -> Result<FrameSource, SourceError> {
        Ok(FrameSource::over(name_of(path), alone(source::open(path)?)))
    }
    /// Opens a capture to be read by two threads at the same time, each receiving all frames. For
    /// compressed files and pipes, a third thread reads for both, if `has_room` permits one;
    /// otherwise there is only one source.
    ///
    /// # Errors
    /// Those of [`FrameSource::open`].
    pub fn open_pair(path: &Path, has_room: bool) -> Result<(FrameSource, Option<FrameSource>), SourceError> {
        let (first, second) = source::open_pair(path, has_room)?;
        let capture = |source| FrameSource::over(name_of(path), source);
        Ok((capture(first), second.map(capture)))
    }
    /// Opens any reader, compressed or not. `name` is for messages.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(name: &str, source: impl Read + Send + 'static) -> Result<FrameSource, SourceError> {
        Ok(FrameSource::over(name.to_owned(), alone(source::unpacked(name, Box::new(source))?)))
    }
    fn over(name: String, source: Source) -> FrameSource {
        FrameSource { name, source, feed: Feed::new() }
    }
    /// Passes each frame with its number (from 1, as in Wireshark) to `visit`, until that breaks or
    /// the capture ends.
    ///
    /// # Errors
    /// If it is not a capture. [`InputEnd::trouble`] reports later problems, because what came
    /// before is valid.
    pub fn for_each(
        &mut self,
        mut visit: impl FnMut(u64, &Frame<'_>) -> ControlFlow<()>,
    ) -> Result<InputEnd, SourceError> {
        loop {
            let need = match self.feed.frames(&mut visit) {
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
    /// Reads at least one byte into room for `need` bytes; returns 0 at the end.
    fn fill(&mut self, need: usize) -> io::Result<usize> {
        loop {
            match self.source.read(self.feed.room(need)) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(read) => {
                    self.feed.filled(read);
                    return Ok(read);
                }
            }
        }
    }
    fn ending(&mut self, trouble: Option<ReadFault>) -> InputEnd {
        InputEnd { contents: self.feed.contents(), trouble }
    }
    fn ended(&mut self) -> Result<InputEnd, SourceError> {
        if self.feed.is_at_start() {
            let name = self.name.clone();
            return Err(match self.feed.short() {
                _ if self.feed.left().is_empty() => SourceError::Empty(name),
                Some(source) => SourceError::NotACapture { name, source },
                None => self.foreign(),
            });
        }
        let cut = self.feed.cut();
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
        if self.feed.is_at_start() {
            return Err(SourceError::Io { name: self.name.clone(), action: "read", source });
        }
        Ok(self.ending(Some(ReadFault::Read(source))))
    }
    /// The error for a source that does not start like a capture.
    fn foreign(&mut self) -> SourceError {
        // The first bytes were read separately to detect compression, and may look like text. Read
        // only once more: a pipe may stay open.
        if self.feed.left().len() < JUDGED_BYTES {
            let _ = self.fill(JUDGED_BYTES);
        }
        let (left, name) = (self.feed.left(), self.name.clone());
        let begins = left.first_chunk().copied().unwrap_or_default();
        let start = left.get(..left.len().min(JUDGED_BYTES)).unwrap_or_default();
        if start.iter().all(|byte| matches!(byte, b'\t'..=b'\r' | b' '..=b'~' | 0x80..)) {
            return SourceError::Text(name);
        }
        SourceError::NotACapture { name, source: CaptureError::NotACapture { begins } }
    }
}

/// The name in messages.
fn name_of(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".into() } else { path.display().to_string() }
}
