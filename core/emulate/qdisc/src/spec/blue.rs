//! The text form of `blue`.
use super::words::{Exact, Words};
use super::{Settings, SpecError};
use crate::BlueParams;
use core::fmt;
use fathom_units::{Duration, Ratio};

impl Default for BlueParams {
    fn default() -> Self {
        BlueParams {
            limit_packets: 1000,
            increment: Ratio(0.02),
            decrement: Ratio(0.002),
            freeze: Duration::from_millis(100),
            ecn: false,
        }
    }
}

impl Settings for BlueParams {
    const NAME: &'static str = "blue";
    const WORDS: &'static str = "limit increment decrement freeze ecn noecn";
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError> {
        match word {
            "increment" => self.increment = words.ratio(word)?,
            "decrement" => self.decrement = words.ratio(word)?,
            "freeze" => self.freeze = words.duration(word)?,
            "ecn" => self.ecn = true,
            "noecn" => self.ecn = false,
            _ => self.limit_packets = words.packets("limit")?,
        }
        Ok(())
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ecn = if self.ecn { "ecn" } else { "noecn" };
        write!(f, " limit {}p increment {}", self.limit_packets, self.increment.0)?;
        write!(f, " decrement {} freeze {} {ecn}", self.decrement.0, Exact(self.freeze))
    }
}
