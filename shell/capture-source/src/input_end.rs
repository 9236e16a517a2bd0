//! What is known when reading has ended.
use crate::ReadFault;
use fathom_capture::{Quality, Statistics};

/// How reading ended, and what the file said beside the frames.
#[derive(Debug)]
pub struct InputEnd {
    /// Frames that were read.
    pub frames: u64,
    /// Bytes of the capture, unpacked.
    pub bytes: u64,
    /// The last counts of each interface.
    pub statistics: Vec<Statistics>,
    /// Nanoseconds of the coarsest clock; 0 if there is none.
    pub resolution_ns: u64,
    /// Frames to which the file gave no time.
    pub untimed: u64,
    /// Why it ended early, if it did.
    pub trouble: Option<ReadFault>,
}

impl InputEnd {
    /// Adds to `quality` what the file said beside the frames.
    pub fn tell(&self, quality: &mut Quality) {
        quality.statistics(&self.statistics);
        (quality.resolution_ns, quality.untimed) = (self.resolution_ns, self.untimed);
    }
}
