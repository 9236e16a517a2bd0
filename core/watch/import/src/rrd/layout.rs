//! Memory layout of the machine that wrote a database.
use core::fmt;

/// The float cookie of `rrd_format.h`, after the version.
pub(crate) const COOKIE: f64 = 8.642135e130;

/// Bytes of a parameter: the union of a `long` and a `double`.
pub(crate) const PARAMETER: usize = 8;
/// Bytes of the parameters in each header.
const PARAMETERS: usize = 10 * PARAMETER;

/// Byte order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Lowest byte first.
    Little,
    /// Highest byte first.
    Big,
}

/// Memory layout of numbers on a machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Byte order.
    pub order: Order,
    /// Size of a `long` in bytes.
    pub long: usize,
    /// Alignment of a `double` in a structure.
    pub align: usize,
    /// Size of a `time_t` in bytes.
    pub time: usize,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = if self.order == Order::Little { "little" } else { "big" };
        write!(f, "{}-bit {order}-endian", self.long * 8)?;
        if self.long == 4 {
            write!(f, " aligned to {}, {}-bit times", self.align, self.time * 8)?;
        }
        Ok(())
    }
}

impl Layout {
    /// All known layouts: i386; 32-bit ARM, MIPS and PowerPC; 32-bit machines with 64-bit `time_t`;
    /// all 64-bit machines.
    pub const ALL: [Layout; 10] = {
        const fn layout(order: Order, long: usize, align: usize, time: usize) -> Layout {
            Layout { order, long, align, time }
        }
        use Order::{Big, Little};
        [
            layout(Little, 8, 8, 8),
            layout(Big, 8, 8, 8),
            layout(Little, 4, 4, 4),
            layout(Big, 4, 4, 4),
            layout(Little, 4, 8, 4),
            layout(Big, 4, 8, 4),
            layout(Little, 4, 4, 8),
            layout(Big, 4, 4, 8),
            layout(Little, 4, 8, 8),
            layout(Big, 4, 8, 8),
        ]
    };
    /// Offset of the cookie: aligned, after nine characters.
    pub(crate) const fn cookie_at(self) -> usize {
        up(9, self.align)
    }
    pub(crate) fn double(self, bytes: &[u8], at: usize) -> Option<f64> {
        let eight: [u8; 8] = bytes.get(at..at.checked_add(8)?)?.try_into().ok()?;
        Some(match self.order {
            Order::Little => f64::from_le_bytes(eight),
            Order::Big => f64::from_be_bytes(eight),
        })
    }
    /// An unsigned number of `size` bytes.
    pub(crate) fn number(self, bytes: &[u8], at: usize, size: usize) -> Option<u64> {
        let found = bytes.get(at..at.checked_add(size)?)?;
        let shift = |sum: u64, byte: &u8| (sum << 8) | u64::from(*byte);
        Some(match self.order {
            Order::Little => found.iter().rev().fold(0, shift),
            Order::Big => found.iter().fold(0, shift),
        })
    }
    /// Offset of the three counts in the first header: sources, archives, seconds per step.
    pub(crate) const fn counts_at(self) -> usize {
        self.cookie_at() + 8
    }
    pub(crate) const fn head(self) -> usize {
        up(self.counts_at() + 3 * self.long, self.align) + PARAMETERS
    }
    /// Size of a source header: two names of 20 characters, then parameters.
    pub(crate) const fn source(self) -> usize {
        up(40, self.align) + PARAMETERS
    }
    /// Offset of the counts in an archive header: rows, steps per row.
    pub(crate) const fn archive_counts_at(self) -> usize {
        up(20, self.long)
    }
    pub(crate) const fn archive(self) -> usize {
        up(self.archive_counts_at() + 2 * self.long, self.align) + PARAMETERS
    }
    /// Size of the live header: the time of the last update, since version 3 with microseconds.
    pub(crate) const fn live(self, version: u32) -> usize {
        if version < 3 {
            self.time
        } else {
            up(self.time + self.long, if self.time == 8 { self.align } else { 4 })
        }
    }
    /// Size of the state of a source: the last value as 30 characters, then parameters.
    pub(crate) const fn prepared_source(self) -> usize {
        up(30, self.align) + PARAMETERS
    }
    pub(crate) const fn prepared_archive() -> usize {
        PARAMETERS
    }
}

/// Rounds up to a multiple of `to`, a power of two.
const fn up(at: usize, to: usize) -> usize {
    at.next_multiple_of(to)
}
