//! The rest of a frame after some headers.
use crate::NotIp;
use crate::not_ip::MAX_WRAPPINGS;
use crate::order::take;

/// The bytes from a header on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer<'a> {
    /// The stored bytes.
    pub(super) stored: &'a [u8],
    /// Number of bytes sent; at least as many as stored.
    pub(super) sent: u32,
}

impl<'a> Layer<'a> {
    /// What follows after `bytes` bytes.
    pub(super) fn skip(self, bytes: usize) -> Result<Layer<'a>, NotIp> {
        let stored = self.stored.get(bytes..).ok_or(NotIp::Cut)?;
        // At least as many bytes were sent as are stored, so the result is not negative.
        Ok(Layer { stored, sent: self.sent.saturating_sub(bytes as u32) })
    }
    /// What follows the header of a packet of `sent` bytes, without padding; empty if truncated.
    pub(super) fn body(self, header: u32, sent: u32) -> Layer<'a> {
        let end = self.stored.len().min(sent as usize);
        let stored = self.stored.get(header as usize..end).unwrap_or_default();
        Layer { stored, sent: sent.saturating_sub(header).max(stored.len() as u32) }
    }
    /// The two bytes at `at`, in network order.
    pub(super) fn u16(self, at: usize) -> Result<u16, NotIp> {
        take(self.stored, at).map(u16::from_be_bytes).ok_or(NotIp::Cut)
    }
    pub(super) fn byte(self, at: usize) -> Result<u8, NotIp> {
        self.stored.get(at).copied().ok_or(NotIp::Cut)
    }
}

/// Number of encapsulations removed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Depth(u8);

impl Depth {
    pub(super) const NONE: Depth = Depth(0);

    pub(super) fn deeper(self) -> Result<Depth, NotIp> {
        if self.0 >= MAX_WRAPPINGS { Err(NotIp::Deep) } else { Ok(Depth(self.0 + 1)) }
    }
}
