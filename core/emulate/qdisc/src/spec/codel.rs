//! `codel`.
use super::words::{Exact, Words};
use super::{Settings, SpecError};
use crate::{CodelParams, ControlParams, Variant};
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
impl Default for CodelParams {
    /// Those of Linux.
    fn default() -> Self {
        CodelParams { control: ControlParams::default(), limit_packets: 1000 }
    }
}
/// Sets one parameter of the control law.
pub(super) fn control(
    word: &'static str,
    words: &mut Words<'_>,
    params: &mut ControlParams,
) -> Result<(), SpecError> {
    match word {
        "target" => params.target = words.duration(word)?,
        "interval" => params.interval = words.duration(word)?,
        "ecn" => params.ecn = true,
        "noecn" => params.ecn = false,
        "ce_threshold" => params.ce_threshold = Some(words.duration(word)?),
        _ => params.variant = words.variant()?,
    }
    Ok(())
}

impl Settings for CodelParams {
    const NAME: &'static str = "codel";
    const WORDS: &'static str = "variant limit target interval ecn noecn ce_threshold";
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError> {
        match word {
            "limit" => self.limit_packets = words.packets(word)?,
            _ => control(word, words, &mut self.control)?,
        }
        Ok(())
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " variant {} limit {}p {}", self.control.variant, self.limit_packets, self.control)
    }
}

/// All but the variant, which stands first in a discipline's text.
impl fmt::Display for ControlParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ecn = if self.ecn { "ecn" } else { "noecn" };
        write!(f, "target {} interval {} {ecn}", Exact(self.target), Exact(self.interval))?;
        self.ce_threshold.map_or(Ok(()), |threshold| write!(f, " ce_threshold {}", Exact(threshold)))
    }
}
