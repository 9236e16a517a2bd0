//! Result of reading a capture.
use crate::ReadFault;
use fathom_capture::{Quality, Statistics};

/// How reading ended, and what else the file contained apart from frames.
#[derive(Debug)]
pub struct InputEnd {
    /// Number of frames.
    pub frames: u64,
    /// Size of the decompressed capture in bytes.
    pub bytes: u64,
    /// Latest counts of each interface.
    pub statistics: Vec<Statistics>,
    /// Coarsest timestamp resolution in nanoseconds; 0 if there is none.
    pub resolution_ns: u64,
    /// Frames without a timestamp.
    pub untimed: u64,
    /// Why reading ended early, if it did.
    pub trouble: Option<ReadFault>,
}

impl InputEnd {
    /// Adds what the file reported apart from frames to `quality`.
    pub fn tell(&self, quality: &mut Quality) {
        quality.statistics(&self.statistics);
        (quality.resolution_ns, quality.untimed) = (self.resolution_ns, self.untimed);
    }
}
