//! Limits of what a user may request.
use fathom_units::{Duration, Rate, UnitError};
use std::ops::RangeInclusive;

/// Limits of a rate, bit/s. Below, one packet alone takes too long; above, byte limits of the
/// kernel overflow their 32 bits.
const MIN_RATE: u64 = 64_000;
const MAX_RATE: u64 = 400_000_000_000;

/// tc-cake(8) has presets from 100 us, in a data center, to an hour, between planets. Real queues
/// are within these.
const ROUND_TRIPS: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(60);

/// Reads the round-trip time of a shaper.
///
/// # Errors
/// The text is not a time, or beyond the limits.
pub fn shaper_round_trip(text: &str) -> Result<Duration, String> {
    let time: Duration = text.parse().map_err(|error: UnitError| error.to_string())?;
    let is_allowed = ROUND_TRIPS.contains(&time);
    is_allowed
        .then_some(time)
        .ok_or_else(|| format!("expected {} to {}", ROUND_TRIPS.start(), ROUND_TRIPS.end()))
}

/// Reads the rate of a shaper.
///
/// # Errors
/// The text is not a rate, or beyond the limits.
pub fn shaper_rate(text: &str) -> Result<Rate, String> {
    let rate: Rate = text.parse().map_err(|error: UnitError| error.to_string())?;
    if (MIN_RATE..=MAX_RATE).contains(&rate.as_bits_per_second()) {
        return Ok(rate);
    }
    let [min, max] = [MIN_RATE, MAX_RATE].map(Rate::from_bits_per_second);
    Err(format!("cannot shape to {rate} (expected {min} to {max})"))
}
