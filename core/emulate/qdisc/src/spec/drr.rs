//! The text form of `drr`.
use super::words::Words;
use super::{Settings, SpecError};
use crate::DrrParams;
use core::fmt;
use fathom_units::ETHERNET_FULL_FRAME;

impl Default for DrrParams {
    fn default() -> Self {
        DrrParams { limit_packets: 1000, flows: 1024, quantum: ETHERNET_FULL_FRAME }
    }
}

impl Settings for DrrParams {
    const NAME: &'static str = "drr";
    const WORDS: &'static str = "limit flows quantum";
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError> {
        match word {
            "flows" => self.flows = words.flows()?,
            "quantum" => self.quantum = words.quantum()?,
            _ => self.limit_packets = words.packets("limit")?,
        }
        Ok(())
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " limit {}p flows {} quantum {}b", self.limit_packets, self.flows, self.quantum.get())
    }
}
