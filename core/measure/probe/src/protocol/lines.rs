//! A stream of bytes cut into lines.
use alloc::vec::Vec;
use core::fmt;

/// Cuts what arrives into lines ended by `\n`, each of at most a given number of bytes.
///
/// It holds at most one line and what was pushed last: take all lines before the next push.
#[derive(Clone, Debug)]
pub struct LineReader {
    held: Vec<u8>,
    limit_bytes: usize,
    /// No `\n` is in the first so many bytes of `held`.
    searched: usize,
}

/// A line exceeds its limit. The stream has lost its sense; close it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineTooLong {
    /// The limit in bytes, `\n` included.
    pub limit_bytes: usize,
}

impl fmt::Display for LineTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line longer than {} bytes", self.limit_bytes)
    }
}
impl core::error::Error for LineTooLong {}

impl LineReader {
    /// For lines of at most `limit_bytes` bytes, `\n` included.
    #[must_use]
    pub const fn new(limit_bytes: usize) -> Self {
        LineReader { held: Vec::new(), limit_bytes, searched: 0 }
    }
    /// Appends what arrived.
    pub fn push(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
    }
    /// The next whole line without its `\n`, and without a `\r` before it; `None` until one has arrived.
    ///
    /// # Errors
    /// If the line, whole or not, is longer than the limit.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, LineTooLong> {
        let end = self.held[self.searched..].iter().position(|b| *b == b'\n').map(|at| at + self.searched);
        self.searched = self.held.len();
        // A line that has not ended is at least one byte longer than what is held of it.
        if end.unwrap_or(self.held.len()) >= self.limit_bytes {
            return Err(LineTooLong { limit_bytes: self.limit_bytes });
        }
        let Some(end) = end else { return Ok(None) };
        let mut line: Vec<u8> = self.held.drain(..=end).collect();
        self.searched = 0;
        line.pop();
        line.pop_if(|last| *last == b'\r');
        Ok(Some(line))
    }
    /// What has arrived after the last line taken.
    #[must_use]
    pub fn into_rest(self) -> Vec<u8> {
        self.held
    }
    /// The same without giving up the reader.
    #[must_use]
    pub fn held(&self) -> &[u8] {
        &self.held
    }
}
