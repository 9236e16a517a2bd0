//! Receives several datagrams, one per system call.
use crate::fd::BorrowedFd;
use crate::received::Received;
use crate::timestamp::receive;
use std::io;

/// Buffers to receive several datagrams.
#[derive(Debug)]
pub struct Batch {
    size: usize,
    bytes: Vec<u8>,
    received: Vec<Received>,
}

impl Batch {
    /// Buffers for `count` datagrams of up to `size` bytes; longer ones are truncated.
    #[must_use]
    pub fn new(count: usize, size: usize) -> Self {
        let size = size.max(1);
        Batch { size, bytes: vec![0; count * size], received: Vec::new() }
    }
    /// Replaces the contents with waiting datagrams. Does not block. Returns their number.
    ///
    /// # Errors
    /// As [`receive`].
    pub fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        self.fill(|buffer| receive(socket, buffer))
    }
    /// The same from any source.
    pub(crate) fn fill(
        &mut self,
        mut next: impl FnMut(&mut [u8]) -> io::Result<Received>,
    ) -> io::Result<usize> {
        self.received.clear();
        for buffer in self.bytes.chunks_exact_mut(self.size) {
            match next(buffer) {
                Ok(received) => self.received.push(received),
                Err(error) if self.received.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(self.received.len())
    }
    /// The datagrams of the last call.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Received)> {
        let pairs = self.bytes.chunks_exact(self.size).zip(&self.received);
        pairs.map(|(bytes, received)| (&bytes[..received.length.min(bytes.len())], *received))
    }
}
