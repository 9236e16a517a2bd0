//! Splits a stream of bytes into lines.
use alloc::vec::Vec;
use core::fmt;

/// Splits received bytes into lines that end with `\n`, each with a limited length.
///
/// It holds at most one line plus the bytes of the last push: take all lines before the next push.
#[derive(Clone, Debug)]
pub struct LineReader {
    held: Vec<u8>,
    limit_bytes: usize,
    /// The first `searched` bytes of `held` contain no `\n`.
    searched: usize,
}

/// A line exceeds its limit. The stream cannot be resynchronized and must be closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LineTooLong {
    /// The limit in bytes, including `\n`.
    pub limit_bytes: usize,
}

impl fmt::Display for LineTooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the line is longer than {} bytes", self.limit_bytes)
    }
}
impl core::error::Error for LineTooLong {}

impl LineReader {
    /// Creates a reader for lines of at most `limit_bytes` bytes, including `\n`.
    #[must_use]
    pub const fn new(limit_bytes: usize) -> Self {
        LineReader { held: Vec::new(), limit_bytes, searched: 0 }
    }
    /// Appends received bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.held.extend_from_slice(bytes);
    }
    /// The next complete line without its `\n` or `\r\n`; `None` until one has arrived.
    ///
    /// # Errors
    /// If the line, complete or not, exceeds the limit.
    pub fn next_line(&mut self) -> Result<Option<Vec<u8>>, LineTooLong> {
        let end = self.held[self.searched..].iter().position(|b| *b == b'\n').map(|at| at + self.searched);
        self.searched = self.held.len();
        // An incomplete line is at least one byte longer than the held part.
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
    /// The bytes after the last line taken.
    #[must_use]
    pub fn into_rest(self) -> Vec<u8> {
        self.held
    }
    /// The bytes after the last line taken, without consuming the reader.
    #[must_use]
    pub fn held(&self) -> &[u8] {
        &self.held
    }
}
