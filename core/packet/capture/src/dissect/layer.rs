//! What is left of a frame when some headers are off.
use crate::NotIp;
use crate::not_ip::MAX_WRAPPINGS;
use crate::order::take;

/// The bytes from some header on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layer<'a> {
    /// As far as they are stored.
    pub(super) stored: &'a [u8],
    /// How many were sent; never fewer than are stored.
    pub(super) sent: u32,
}

impl<'a> Layer<'a> {
    /// What comes after `bytes` more.
    pub(super) fn skip(self, bytes: usize) -> Result<Layer<'a>, NotIp> {
        let stored = self.stored.get(bytes..).ok_or(NotIp::Cut)?;
        // No more are stored than were sent, so that there are as many to skip.
        Ok(Layer { stored, sent: self.sent.saturating_sub(bytes as u32) })
    }
    /// The header is `header` bytes of the `sent` bytes that are this packet; what follows these is padding.
    /// Where less than the header is stored nothing of the rest is.
    pub(super) fn body(self, header: u32, sent: u32) -> Layer<'a> {
        let end = self.stored.len().min(sent as usize);
        let stored = self.stored.get(header as usize..end).unwrap_or_default();
        Layer { stored, sent: sent.saturating_sub(header).max(stored.len() as u32) }
    }
    /// The two bytes at `at`, in network order.
    pub(super) fn u16(self, at: usize) -> Result<u16, NotIp> {
        take(self.stored, at).map(u16::from_be_bytes).ok_or(NotIp::Cut)
    }
    /// The byte at `at`.
    pub(super) fn byte(self, at: usize) -> Result<u8, NotIp> {
        self.stored.get(at).copied().ok_or(NotIp::Cut)
    }
}

/// How many wrappings are off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Depth(u8);

impl Depth {
    pub(super) const NONE: Depth = Depth(0);

    pub(super) fn deeper(self) -> Result<Depth, NotIp> {
        if self.0 >= MAX_WRAPPINGS { Err(NotIp::Deep) } else { Ok(Depth(self.0 + 1)) }
    }
}
