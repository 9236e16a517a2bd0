//! The contents of capture files.
use crate::LinkType;

/// Bound of timestamps around 1970 in ns, so that differences fit in 64 bits.
pub(crate) const MAX_NS: i64 = (1 << 62) - 1;

/// Maximum frame length. BIG TCP packets have 512 kB; longer ones indicate damage.
pub const MAX_STORED_BYTES: usize = 1 << 20;

/// A captured frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame<'a> {
    /// Time by the capture's clock in ns since 1970, within 2^62; untimed frames repeat the last.
    pub at: i64,
    /// Link type of the first byte.
    pub link: LinkType,
    /// Length as sent; at least as many bytes as are stored.
    pub original_len: u32,
    /// Capturing interface, from 0; later sections of a pcapng file continue the numbering.
    pub interface: u32,
    /// Frames that were lost just before this one, according to the file.
    pub lost_before: u32,
    /// The stored bytes.
    pub bytes: &'a [u8],
}

/// The capturing system's counters of one interface, since the start of the capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// The interface.
    pub interface: u32,
    /// Frames received by the interface.
    pub received: Option<u64>,
    /// Frames dropped by the interface because its buffer was full.
    pub dropped_by_interface: Option<u64>,
    /// Frames dropped by the system: the capture is incomplete, the network did not lose them.
    pub dropped_by_system: Option<u64>,
}

/// The result of one step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step<'a> {
    /// A frame.
    Frame(Frame<'a>),
    /// Counters of an interface.
    Statistics(Statistics),
    /// Something else, which is skipped.
    Other,
    /// No complete item: at least this many bytes are needed.
    NeedMore(usize),
}
