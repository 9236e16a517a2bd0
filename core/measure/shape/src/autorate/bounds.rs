//! Within which rates the controller stays.
use core::fmt;
use fathom_units::{Direction, PerDirection, Rate};

/// The rates of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// It is never set lower: what the line carries at its worst, or what is needed whatever the delay.
    pub min: Rate,
    /// Set first, if nothing was learned before.
    pub start: Rate,
    /// It is never set higher.
    pub max: Rate,
}

/// Configuration of a controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    bounds: PerDirection<Bounds>,
}

/// Rates that no controller can keep to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConfigError {
    direction: Direction,
    bounds: Bounds,
}

/// Least and largest rate as multiples of the start rate, where they are not given: a line at its worst, and at its best.
const LEAST_RATIO: f64 = 0.2;
const MOST_RATIO: f64 = 2.0;

impl Bounds {
    /// Bounds around a start rate, where the least and the largest are not given.
    pub fn around(start: Rate, min: Option<Rate>, max: Option<Rate>) -> Bounds {
        let times = |ratio| Rate::from_bits_per_second((start.as_bits_per_second() as f64 * ratio) as u64);
        let (min, max) =
            (min.unwrap_or_else(|| times(LEAST_RATIO)), max.unwrap_or_else(|| times(MOST_RATIO)));
        Bounds { min, start, max }
    }
}

impl Config {
    /// # Errors
    /// If a direction's rates are not `0 < min <= start <= max`.
    pub fn new(bounds: PerDirection<Bounds>) -> Result<Self, ConfigError> {
        for (direction, one) in bounds {
            let is_right = Rate::default() < one.min && one.min <= one.start && one.start <= one.max;
            if !is_right {
                return Err(ConfigError { direction, bounds: one });
            }
        }
        Ok(Config { bounds })
    }
    /// Of both directions.
    pub const fn bounds(&self) -> &PerDirection<Bounds> {
        &self.bounds
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ConfigError { direction, bounds: Bounds { min, start, max } } = self;
        write!(f, "{direction}: rates min {min}, start {start}, max {max} are not 0 < min <= start <= max")
    }
}

impl core::error::Error for ConfigError {}
