//! The clock of an interface of a pcapng file (if_tsresol, if_tsoffset).
use crate::frame::MAX_NS;

/// How an interface's timestamps become nanoseconds since 1970.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Clock {
    unit: Unit,
    /// Added to each.
    pub(crate) offset_ns: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Unit {
    /// Nanoseconds of one unit.
    Multiple(u64),
    /// Units of one nanosecond.
    Fraction(u64),
    /// Seconds are shifted left by so many bits.
    Binary(u8),
}

impl Clock {
    /// What holds if the file does not say.
    pub(crate) const MICROSECONDS: Clock = Clock { unit: Unit::Multiple(1000), offset_ns: 0 };

    /// By if_tsresol; `None` if no 64 bits could hold a second of it.
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
    /// Nanoseconds of its unit, at least 1.
    pub(crate) const fn resolution_ns(self) -> u64 {
        let ns = match self.unit {
            Unit::Multiple(ns) => ns,
            Unit::Fraction(_) => 1,
            Unit::Binary(bits) => 1_000_000_000 >> bits,
        };
        if ns == 0 { 1 } else { ns }
    }
}
