//! `blue`.
use super::words::{Exact, Words};
use super::{SpecError, Text};
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

impl Text for BlueParams {
    const NAME: &'static str = "blue";
    const WORDS: &'static [&'static str] = &["limit", "increment", "decrement", "freeze", "ecn", "noecn"];
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let mut params = BlueParams::default();
        while let Some(word) = words.next_known()? {
            match word {
                "increment" => params.increment = words.ratio(word)?,
                "decrement" => params.decrement = words.ratio(word)?,
                "freeze" => params.freeze = words.duration(word)?,
                "ecn" => params.ecn = true,
                "noecn" => params.ecn = false,
                _ => params.limit_packets = words.packets("limit")?,
            }
        }
        Ok(params)
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ecn = if self.ecn { "ecn" } else { "noecn" };
        write!(f, " limit {}p increment {}", self.limit_packets, self.increment.0)?;
        write!(f, " decrement {} freeze {} {ecn}", self.decrement.0, Exact(self.freeze))
    }
}
