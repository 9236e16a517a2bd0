//! One capture, as far as its packets are kept.
use crate::fingerprint::PacketMark;
use crate::split::Sizes;
use alloc::vec::Vec;

/// How captures are compared.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Settings {
    /// Packets that are kept, of all captures together, about 80 bytes each.
    pub limit: usize,
    /// All captures were stamped by one clock: delays are taken as they are.
    pub is_one_clock: bool,
}

impl Default for Settings {
    /// 4 Mi packets: about 320 MiB.
    fn default() -> Self {
        Settings { limit: 1 << 22, is_one_clock: false }
    }
}

/// One capture.
#[derive(Clone, Debug)]
pub(crate) struct Capture {
    /// In the order of the file, then in that of time.
    pub(crate) marks: Vec<PacketMark>,
    /// Packets offered, kept or not.
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
