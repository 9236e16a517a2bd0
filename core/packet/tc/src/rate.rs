//! Rates as HTB and TBF have them: `struct tc_ratespec`, with 64-bit rates beside it, and bursts in ticks.
//!
//! The kernel's own description of netlink has the struct wrong: after `overhead` come the *signed 16 bit* `cell_align` and `mpu`.
use crate::attribute::{u16_at, u32_at};
use core::fmt;
use fathom_units::Rate;

/// A tick of the packet scheduler since Linux 2.6.31 (`PSCHED_SHIFT` is 6); `/proc/net/psched` shows it as its second number.
pub const TICK_NANOS: u64 = 64;
/// `struct tc_ratespec`.
pub(crate) const SPEC_BYTES: usize = 12;
/// Logarithm of the cells of the old rate tables for packets up to 2047 bytes, and their alignment, as `tc` writes them. The
/// kernel reads them only with a table, and a table only if the link layer is not named.
const CELL: (u8, i16) = (3, -1);

/// What a packet takes on the line beside its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum LinkLayer {
    /// Not named.
    Unaware,
    /// Bytes are bytes.
    #[default]
    Ethernet,
    /// 48 bytes of payload travel in 53.
    Atm,
}

/// A rate and how packets are counted against it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RateSpec {
    /// bytes per second.
    pub bytes_per_second: u64,
    /// Bytes that each packet has on the line beyond those that the interface sees.
    pub overhead: u16,
    /// The least that a packet counts, in bytes.
    pub mpu: u16,
    /// Cells or bytes.
    pub link_layer: LinkLayer,
}

impl RateSpec {
    /// A rate on a line that adds nothing.
    #[must_use]
    pub fn new(rate: Rate) -> RateSpec {
        RateSpec { bytes_per_second: rate.as_bits_per_second() / 8, ..RateSpec::default() }
    }
    /// The rate.
    #[must_use]
    pub const fn rate(&self) -> Rate {
        Rate::from_bits_per_second(self.bytes_per_second.saturating_mul(8))
    }
    /// The attribute of 64 bits that is needed beside it.
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
    /// `None` if `bytes` is too short.
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
    /// Overhead and cells as `tc` has them behind the rate, with a space before; nothing where there is nothing to say.
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

/// How long `bytes` take at `rate`, in ticks; as much as fits where the rate is 0. Exact, where `tc` cuts to whole microseconds
/// first (which makes 2 kB at 100 Gbit/s no time at all).
#[must_use]
pub fn ticks(bytes: u32, rate: &RateSpec) -> u32 {
    const NANOS_PER_SECOND: u128 = 1_000_000_000;
    let nanos = u128::from(bytes) * NANOS_PER_SECOND;
    let per_tick = u128::from(rate.bytes_per_second) * u128::from(TICK_NANOS);
    nanos.checked_div(per_tick).and_then(|n| u32::try_from(n).ok()).unwrap_or(u32::MAX)
}

/// The bytes that take `ticks` at `rate`, rounded up: what was cut off when they were made ticks.
pub(crate) fn bytes_of(ticks: u32, rate: &RateSpec) -> u32 {
    const NANOS_PER_SECOND: u128 = 1_000_000_000;
    let bytes = u128::from(ticks) * u128::from(TICK_NANOS) * u128::from(rate.bytes_per_second);
    u32::try_from(bytes.div_ceil(NANOS_PER_SECOND)).unwrap_or(u32::MAX)
}
