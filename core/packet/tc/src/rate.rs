//! Rates of HTB and TBF: `struct tc_ratespec`, separate 64-bit rates, and bursts in ticks.
//!
//! The kernel's netlink specification is wrong about the struct: `overhead` is followed by the
//! *signed 16-bit* `cell_align`, then `mpu`.
use crate::attribute::{u16_at, u32_at};
use core::fmt;
use fathom_units::Rate;

/// Tick of the packet scheduler since Linux 2.6.31 (`PSCHED_SHIFT` 6; see `/proc/net/psched`).
pub const TICK_NANOS: u64 = 64;
/// `struct tc_ratespec`.
pub(crate) const SPEC_BYTES: usize = 12;
/// Logarithm and alignment of cells in old rate tables for packets up to 2047 bytes, as `tc` writes
/// them. The kernel uses them only with a table and an unspecified link layer.
const CELL: (u8, i16) = (3, -1);

/// Framing on the line.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum LinkLayer {
    /// Unspecified.
    Unaware,
    /// No cells.
    #[default]
    Ethernet,
    /// 53-byte cells with 48 bytes of payload.
    Atm,
}

/// A rate, and the packet sizes charged to it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RateSpec {
    /// Bytes per second.
    pub bytes_per_second: u64,
    /// Overhead per packet in bytes, relative to the size seen by the interface.
    pub overhead: u16,
    /// Minimum packet size in bytes.
    pub mpu: u16,
    /// Framing.
    pub link_layer: LinkLayer,
}

impl RateSpec {
    /// A rate without overhead.
    #[must_use]
    pub fn new(rate: Rate) -> RateSpec {
        RateSpec { bytes_per_second: rate.as_bits_per_second() / 8, ..RateSpec::default() }
    }
    /// The rate.
    #[must_use]
    pub const fn rate(&self) -> Rate {
        Rate::from_bits_per_second(self.bytes_per_second.saturating_mul(8))
    }
    /// The 64-bit attribute, if the rate needs it.
    pub(crate) fn wide(&self) -> Option<u64> {
        (self.bytes_per_second > u64::from(u32::MAX)).then_some(self.bytes_per_second)
    }
    pub(crate) fn encode(&self) -> [u8; SPEC_BYTES] {
        let mut bytes = [0; SPEC_BYTES];
        bytes[0] = CELL.0;
        bytes[1] = self.link_layer as u8;
        bytes[2..4].copy_from_slice(&self.overhead.to_ne_bytes());
        bytes[4..6].copy_from_slice(&CELL.1.to_ne_bytes());
        bytes[6..8].copy_from_slice(&self.mpu.to_ne_bytes());
        let narrow = u32::try_from(self.bytes_per_second).unwrap_or(u32::MAX);
        bytes[8..12].copy_from_slice(&narrow.to_ne_bytes());
        bytes
    }
    /// Parses it; `None` if `bytes` is too short.
    pub(crate) fn decode(bytes: &[u8], wide: Option<u64>) -> Option<RateSpec> {
        let link_layer = match bytes.get(1)? {
            1 => LinkLayer::Ethernet,
            2 => LinkLayer::Atm,
            _ => LinkLayer::Unaware,
        };
        let (overhead, mpu) = (u16_at(bytes, 2)?, u16_at(bytes, 6)?);
        let narrow = u64::from(u32_at(bytes, 8)?);
        Some(RateSpec { bytes_per_second: wide.unwrap_or(narrow), overhead, mpu, link_layer })
    }
    /// Writes overhead and framing in `tc`'s syntax, after a blank; nothing if there is none.
    pub(crate) fn write_line(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.mpu > 0 {
            write!(f, " mpu {}", self.mpu)?;
        }
        if self.overhead > 0 {
            write!(f, " overhead {}", self.overhead)?;
        }
        if self.link_layer == LinkLayer::Atm { f.write_str(" linklayer atm") } else { Ok(()) }
    }
}

/// Time of `bytes` at `rate`, in ticks; the maximum if the rate is 0. Exact, unlike `tc`, which
/// first truncates to microseconds (2 kB at 100 Gbit/s become 0).
#[must_use]
pub fn ticks(bytes: u32, rate: &RateSpec) -> u32 {
    const NANOS_PER_SECOND: u128 = 1_000_000_000;
    let nanos = u128::from(bytes) * NANOS_PER_SECOND;
    let per_tick = u128::from(rate.bytes_per_second) * u128::from(TICK_NANOS);
    nanos.checked_div(per_tick).and_then(|n| u32::try_from(n).ok()).unwrap_or(u32::MAX)
}

/// Bytes that take `ticks` at `rate`, rounded up to undo the truncation of [`ticks`].
pub(crate) fn bytes_of(ticks: u32, rate: &RateSpec) -> u32 {
    const NANOS_PER_SECOND: u128 = 1_000_000_000;
    let bytes = u128::from(ticks) * u128::from(TICK_NANOS) * u128::from(rate.bytes_per_second);
    u32::try_from(bytes.div_ceil(NANOS_PER_SECOND)).unwrap_or(u32::MAX)
}
