//! What a capture file holds.
use crate::LinkType;

/// No frame's time is further from 1970, so that the time between any two is a number of 64 bits. ns.
pub(crate) const MAX_NS: i64 = (1 << 62) - 1;

/// Longest frame that is read. BIG TCP makes packets of 512 kB; a longer one is a sign of damage.
pub const MAX_STORED_BYTES: usize = 1 << 20;

/// A frame, as far as it was stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// Nanoseconds since 1970 by the capture's clock; of the frame before, if the file gives this one no time. Below 2^62, and above -2^62.
    pub at: i64,
    /// What its first byte is.
    pub link: LinkType,
    /// Bytes as it was sent, never fewer than are stored.
    pub original_len: u32,
    /// Which interface saw it, from 0; a new section of a pcapng file numbers on.
    pub interface: u32,
    /// Frames that the file says were lost just before this one.
    pub lost_before: u32,
    /// The bytes that are stored.
    pub bytes: &'a [u8],
}

/// What the capturing system counted on one interface. Each count is since the capture began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Of which interface.
    pub interface: u32,
    /// Frames that the interface received.
    pub received: Option<u64>,
    /// Frames that the interface dropped for want of room.
    pub dropped_by_interface: Option<u64>,
    /// Frames that the system dropped: the capture is incomplete, not the network.
    pub dropped_by_system: Option<u64>,
}

/// What one step found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step<'a> {
    /// A frame.
    Frame(Frame<'a>),
    /// Counts of one interface.
    Statistics(Statistics),
    /// Something else, which is passed over.
    Other,
    /// Nothing yet: there must be at least this many bytes.
    NeedMore(usize),
}
