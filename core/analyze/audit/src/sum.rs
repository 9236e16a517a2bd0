//! A sum and its result, so that a reader can do it again.
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, Rate};

/// Factors and a divisor that make seconds: `1000 * 1514 * 8 / 1e9`.
#[derive(Clone, PartialEq, Debug)]
pub struct Sum {
    factors: Vec<u64>,
    rate: Rate,
}

impl Sum {
    /// Packets of a size at a rate.
    pub(crate) fn packets(count: u64, each: Bytes, rate: Rate) -> Sum {
        Sum { factors: Vec::from([count, each.0]), rate }
    }
    /// So many of it side by side.
    pub(crate) fn times(mut self, count: u64) -> Sum {
        if count != 1 {
            self.factors.insert(0, count);
        }
        self
    }
    /// Bytes at a rate.
    pub(crate) fn bytes(bytes: Bytes, rate: Rate) -> Sum {
        Sum { factors: Vec::from([bytes.0]), rate }
    }
    pub(crate) const fn rate(&self) -> Rate {
        self.rate
    }
    /// Everything multiplied out, in bytes.
    pub fn total(&self) -> Bytes {
        Bytes(self.factors.iter().fold(1, |product: u64, factor| product.saturating_mul(*factor)))
    }
    /// The result.
    pub fn delay(&self) -> Duration {
        self.rate.serialization_time(self.total())
    }
    /// As it is written: `1000 * 1514 * 8 / 1000000000`.
    pub fn text(&self) -> String {
        let factors: Vec<String> = self.factors.iter().map(u64::to_string).collect();
        format!("{} * 8 / {}", factors.join(" * "), self.rate.as_bits_per_second())
    }
}
