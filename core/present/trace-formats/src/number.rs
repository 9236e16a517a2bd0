//! Numbers as text.
use core::fmt;
use fathom_flow::Moments;

/// Nanoseconds as seconds with six decimals, as all these tools write times.
pub(crate) struct Seconds(pub(crate) i64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0.unsigned_abs() / 1000;
        let sign = if self.0 < 0 && micros > 0 { "-" } else { "" };
        write!(f, "{sign}{}.{:06}", micros / 1_000_000, micros % 1_000_000)
    }
}

/// Milliseconds since 1970, which as a fraction have more digits than a number of 64 bits.
pub(crate) struct Milliseconds(pub(crate) i64);

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0.div_euclid(1_000_000), self.0.rem_euclid(1_000_000))
    }
}

/// Nanoseconds of milliseconds.
pub(crate) const MS: f64 = 1e6;

/// The standard deviation as tcptrace and Tstat tell it: 0 of two values and fewer.
pub(crate) fn deviation(of: &Moments) -> f64 {
    if of.count <= 2 { 0.0 } else { of.standard_deviation().unwrap_or(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn six_decimals() {
        assert_eq!(Seconds(1_795_175_574_000_123_999).to_string(), "1795175574.000123");
        assert_eq!(Seconds(-1_500_000_000).to_string(), "-1.500000");
        assert_eq!(Seconds(-999).to_string(), "0.000000");
    }
}
