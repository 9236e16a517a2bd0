//! How far below the knee a line is shaped.
use fathom_units::{PerDirection, Rate};

const fn margin(up: f64, down: f64) -> PerDirection<f64> {
    PerDirection { up, down }
}

/// Shares of the knee that are tried one after the other until the checks pass.
///
/// Egress can be shaped close to the line's rate, as nothing reaches the line but through the shaper. Ingress has passed the line
/// already: its queue drains only by what the line can do above the shaper, 1.5 % of its rate at first. The later ones are for lines that
/// vary.
pub const MARGINS: [PerDirection<f64>; 5] =
    [margin(0.985, 0.985), margin(0.97, 0.97), margin(0.94, 0.94), margin(0.90, 0.87), margin(0.85, 0.80)];

/// A share of a rate, rounded down to four digits, as a person writes it.
pub(super) fn share(rate: Rate, ratio: f64) -> Rate {
    let bits = (rate.as_bits_per_second() as f64 * ratio) as u64;
    let unit = 10_u64.pow(bits.max(1).ilog10().saturating_sub(3));
    Rate::from_bits_per_second(bits / unit * unit)
}
