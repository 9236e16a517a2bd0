//! The text form of `codel`.
use super::SpecError;
use super::single_queue::ControlSettings;
use super::words::{Exact, Words};
use crate::{ControlParams, Variant};
use core::fmt;
use fathom_units::Duration;

impl Default for ControlParams {
    /// 5 ms, 100 ms, no ECN, no threshold. Source: RFC 8289 section 4.
    fn default() -> Self {
        ControlParams {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ecn: false,
            ce_threshold: None,
            variant: Variant::Rfc,
        }
    }
}
impl ControlSettings for ControlParams {
    const NAME: &'static str = "codel";
    const WORDS: &'static str = "variant limit target interval ecn noecn ce_threshold";
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError> {
        match word {
            "target" => self.target = words.duration(word)?,
            "interval" => self.interval = words.duration(word)?,
            "ecn" => self.ecn = true,
            "noecn" => self.ecn = false,
            "ce_threshold" => self.ce_threshold = Some(words.duration(word)?),
            _ => self.variant = words.variant()?,
        }
        Ok(())
    }
    fn variant(&self) -> Variant {
        self.variant
    }
}

impl fmt::Display for ControlParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ecn = if self.ecn { "ecn" } else { "noecn" };
        write!(f, "target {} interval {} {ecn}", Exact(self.target), Exact(self.interval))?;
        self.ce_threshold.map_or(Ok(()), |threshold| write!(f, " ce_threshold {}", Exact(threshold)))
    }
}
