//! Limits of the controller's rates.
use core::fmt;
use fathom_units::{Direction, PerDirection, Rate};

/// Rates of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Minimum rate: the line's worst case, or what is needed regardless of delay.
    pub min: Rate,
    /// Initial rate if nothing was learned before.
    pub start: Rate,
    /// Maximum rate.
    pub max: Rate,
}

/// Configuration of a controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    bounds: PerDirection<Bounds>,
}

/// Invalid rate limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConfigError {
    direction: Direction,
    bounds: Bounds,
}

/// Default minimum and maximum as multiples of the start rate.
const LEAST_RATIO: f64 = 0.2;
const MOST_RATIO: f64 = 2.0;

impl Bounds {
    /// Limits around a start rate, with defaults for the minimum and maximum.
    pub fn around(start: Rate, min: Option<Rate>, max: Option<Rate>) -> Bounds {
        let times = |ratio| Rate::from_bits_per_second((start.as_bits_per_second() as f64 * ratio) as u64);
        let (min, max) =
            (min.unwrap_or_else(|| times(LEAST_RATIO)), max.unwrap_or_else(|| times(MOST_RATIO)));
        Bounds { min, start, max }
    }
}

impl Config {
    /// # Errors
    /// If the rates of a direction violate `0 < min <= start <= max`.
    pub fn new(bounds: PerDirection<Bounds>) -> Result<Self, ConfigError> {
        for (direction, one) in bounds {
            let is_right = Rate::default() < one.min && one.min <= one.start && one.start <= one.max;
            if !is_right {
                return Err(ConfigError { direction, bounds: one });
            }
        }
        Ok(Config { bounds })
    }
    /// Limits of both directions.
    pub const fn bounds(&self) -> &PerDirection<Bounds> {
        &self.bounds
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ConfigError { direction, bounds: Bounds { min, start, max } } = self;
        write!(
            f,
            "{direction}: invalid rates min {min}, start {start}, max {max} (expected 0 < min <= start <= max)"
        )
    }
}

impl core::error::Error for ConfigError {}
