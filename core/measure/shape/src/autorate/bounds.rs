//! Within which rates the controller stays.
use core::fmt;
use fathom_units::{Direction, PerDirection, Rate};

/// The rates of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// It is never set lower: what the line carries at its worst, or what is needed whatever the delay.
    pub min: Rate,
    /// Set first, if nothing was learnt before.
    pub start: Rate,
    /// It is never set higher.
    pub max: Rate,
}

/// What a controller is told once.
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
