//! How far below the knee a line is shaped.
use fathom_units::Rate;

/// Shares of the knee that are tried, up and down, one after the other until one is proven.
///
/// What leaves can be shaped close to the line, as nothing reaches it but by us. What arrives has passed the line already: its
/// queue drains only by what the line can do above the shaper, 1.5 % of it at first. The later ones are for lines that vary.
pub const MARGINS: [(f64, f64); 5] = [(0.985, 0.985), (0.97, 0.97), (0.94, 0.94), (0.90, 0.87), (0.85, 0.80)];

/// A share of a rate, to four digits, as a person writes it.
pub(crate) fn share(rate: Rate, ratio: f64) -> Rate {
    let bits = (rate.as_bits_per_second() as f64 * ratio) as u64;
    let unit = 10_u64.pow(bits.max(1).ilog10().saturating_sub(3));
    Rate::from_bits_per_second(bits / unit * unit)
}
