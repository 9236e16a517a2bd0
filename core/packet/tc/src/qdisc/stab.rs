//! Size tables: the size that a packet is charged for. Only rules without a table are written; the
//! kernel then uses `max(size + overhead, mpu)`.
use crate::attribute::{Writer, find, u32_at};
use core::fmt;

/// Rules of a size table.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Stab {
    /// Overhead per packet in bytes, relative to the size seen by the interface; may be negative.
    pub overhead: i32,
    /// Minimum packet size in bytes. The kernel uses it only with a table.
    pub mpu: u32,
}

/// TCA_STAB_BASE: `struct tc_sizespec`.
const BASE: u16 = 1;

impl Stab {
    pub(crate) fn read(bytes: &[u8]) -> Option<Stab> {
        let base = find(bytes, BASE)?;
        Some(Stab { overhead: u32_at(base, 4)?.cast_signed(), mpu: u32_at(base, 12)? })
    }
    pub(crate) fn write(&self, to: &mut Writer) {
        const ETHERNET: u32 = 1;
        let mut base = [0; 24];
        base[4..8].copy_from_slice(&self.overhead.to_ne_bytes());
        base[8..12].copy_from_slice(&ETHERNET.to_ne_bytes());
        base[12..16].copy_from_slice(&self.mpu.to_ne_bytes());
        to.put(BASE, &base);
    }
    pub(crate) fn write_words(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " stab overhead {} linklayer ethernet", self.overhead)
    }
}
