//! One capture, reduced to what the analysis needs.
use crate::fingerprint::PacketMark;
use crate::split::Sizes;
use alloc::vec::Vec;

/// Settings of the comparison.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settings {
    /// Maximum number of packets of all captures together; each takes about 80 bytes.
    pub limit: usize,
    /// All captures use the same clock, so delays need no correction.
    pub is_one_clock: bool,
}

impl Default for Settings {
    /// 4 Mi packets: about 320 MiB.
    fn default() -> Self {
        Settings { limit: 1 << 22, is_one_clock: false }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Capture {
    /// In file order first, later sorted by time.
    pub(crate) marks: Vec<PacketMark>,
    /// Number of packets received, kept or not.
    pub(crate) packets: u64,
    pub(crate) unmarked: u64,
    pub(crate) super_packets: u64,
    pub(crate) sizes: Sizes,
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl Capture {
    pub(crate) fn new() -> Self {
        Capture {
            marks: Vec::new(),
            packets: 0,
            unmarked: 0,
            super_packets: 0,
            sizes: Sizes::new(),
            first: i64::MAX,
            last: i64::MIN,
        }
    }
}
