//! The clock of a pcapng interface (if_tsresol, if_tsoffset).
use crate::frame::MAX_NS;

/// Converts the timestamps of an interface to nanoseconds since 1970.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Clock {
    unit: Unit,
    /// Added to each timestamp.
    pub(crate) offset_ns: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unit {
    /// The unit is this many ns.
    Multiple(u64),
    /// This many units are 1 ns.
    Fraction(u64),
    /// A second is 2^n units.
    Binary(u8),
}

impl Clock {
    /// The default.
    pub(crate) const MICROSECONDS: Clock = Clock { unit: Unit::Multiple(1000), offset_ns: 0 };

    /// Parses if_tsresol; `None` if a second does not fit in 64 bits.
    pub(crate) fn new(resolution: u8) -> Option<Clock> {
        let power = u32::from(resolution & 0x7f);
        let unit = match (resolution & 0x80 != 0, power) {
            (true, 0..=63) => Unit::Binary(resolution & 0x7f),
            (false, 0..=9) => Unit::Multiple(10_u64.pow(9 - power)),
            (false, 10..=19) => Unit::Fraction(10_u64.pow(power - 9)),
            _ => return None,
        };
        Some(Clock { unit, offset_ns: 0 })
    }
    #[inline]
    pub(crate) fn ns(self, units: u64) -> i64 {
        let ns = match self.unit {
            Unit::Multiple(1) => units,
            Unit::Multiple(ns) => units.saturating_mul(ns),
            Unit::Fraction(parts) => units / parts,
            Unit::Binary(bits) => {
                u64::try_from((u128::from(units) * 1_000_000_000) >> bits).unwrap_or(u64::MAX)
            }
        };
        let at = i64::try_from(ns).unwrap_or(i64::MAX).saturating_add(self.offset_ns);
        at.clamp(-MAX_NS, MAX_NS)
    }
    /// The unit in ns, at least 1.
    pub(crate) const fn resolution_ns(self) -> u64 {
        let ns = match self.unit {
            Unit::Multiple(ns) => ns,
            Unit::Fraction(_) => 1,
            Unit::Binary(bits) => 1_000_000_000 >> bits,
        };
        if ns == 0 { 1 } else { ns }
    }
}
