//! Within which rates the controller stays.
use super::Both;
use core::fmt;
use fathom_units::Rate;

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
    bounds: Both<Bounds>,
}

/// Rates that no controller can keep to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConfigError {
    direction: &'static str,
    bounds: Bounds,
}

impl Config {
    /// # Errors
    /// If a direction's rates are not `0 < min <= start <= max`.
    pub fn new(bounds: Both<Bounds>) -> Result<Self, ConfigError> {
        for (direction, one) in [("up", bounds.up), ("down", bounds.down)] {
            let is_right = Rate::default() < one.min && one.min <= one.start && one.start <= one.max;
            if !is_right {
                return Err(ConfigError { direction, bounds: one });
            }
        }
        Ok(Config { bounds })
    }
    /// Of both directions.
    pub const fn bounds(&self) -> &Both<Bounds> {
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
