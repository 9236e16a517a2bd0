//! Receives many datagrams, or many ICMP errors about sent packets. The buffers are reused.
use crate::fd::BorrowedFd;
use crate::received::Received;
pub use crate::received::{IcmpRefusal, Notice, ReceivedMessage};
use crate::timestamp::receive;
use fathom_units::WallTime;
use std::io;
use std::net::SocketAddr;

/// A message in a buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stored {
    pub(crate) length: usize,
    pub(crate) from: Option<SocketAddr>,
    pub(crate) stamp: Option<WallTime>,
    pub(crate) notice: Option<Notice>,
    pub(crate) hop_limit: Option<u8>,
    pub(crate) class: Option<u8>,
}

/// Buffers to receive several datagrams.
#[derive(Debug)]
pub struct Inbox {
    size: usize,
    bytes: Vec<u8>,
    stored: Vec<Stored>,
}

impl Inbox {
    /// Buffers for `count` datagrams of up to `size` bytes; longer ones are truncated.
    #[must_use]
    pub fn new(count: usize, size: usize) -> Self {
        let size = size.max(1);
        Inbox { size, bytes: vec![0; count * size], stored: Vec::new() }
    }
    /// Replaces the contents with waiting datagrams. Returns their number, which may be 0.
    ///
    /// # Errors
    /// As [`receive`].
    pub fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        self.fill(|buffer| {
            let got = receive(socket, buffer)?;
            let Received { length, from, stamp, hop_limit, class, .. } = got;
            Ok(Stored { length, from, stamp, notice: None, hop_limit, class })
        })
    }
    /// There are no errors: the system does not report them to the sockets of datagrams.
    ///
    /// # Errors
    /// None.
    pub fn receive_errors(&mut self, _socket: BorrowedFd<'_>) -> io::Result<usize> {
        self.stored.clear();
        Ok(0)
    }
    /// Replaces the contents with messages of `next` until it would block.
    pub(crate) fn fill(
        &mut self,
        mut next: impl FnMut(&mut [u8]) -> io::Result<Stored>,
    ) -> io::Result<usize> {
        self.stored.clear();
        for buffer in self.bytes.chunks_exact_mut(self.size) {
            match next(buffer) {
                Ok(stored) => self.stored.push(stored),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if self.stored.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        Ok(self.stored.len())
    }
    /// Whether the last call used all buffers, so that more may be waiting.
    #[must_use]
    pub fn was_full(&self) -> bool {
        self.stored.len() * self.size == self.bytes.len()
    }
    /// The messages of the last call.
    pub fn iter(&self) -> impl Iterator<Item = ReceivedMessage<'_>> {
        self.stored.iter().zip(self.bytes.chunks_exact(self.size)).map(|(stored, bytes)| ReceivedMessage {
            bytes: bytes.get(..stored.length).unwrap_or(bytes),
            from: stored.from,
            stamp: stored.stamp,
            notice: stored.notice,
            hop_limit: stored.hop_limit,
            class: stored.class,
        })
    }
}
