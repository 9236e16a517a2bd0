//! `drr`.
use super::words::Words;
use super::{SpecError, Text};
use crate::DrrParams;
use core::fmt;
use fathom_units::ETHERNET_FULL_FRAME;

impl Default for DrrParams {
    fn default() -> Self {
        DrrParams { limit_packets: 1000, flows: 1024, quantum: ETHERNET_FULL_FRAME }
    }
}

impl Text for DrrParams {
    const NAME: &'static str = "drr";
    const WORDS: &'static [&'static str] = &["limit", "flows", "quantum"];
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let mut params = DrrParams::default();
        while let Some(word) = words.next_known()? {
            match word {
                "flows" => params.flows = words.flows()?,
                "quantum" => params.quantum = words.quantum()?,
                _ => params.limit_packets = words.packets("limit")?,
            }
        }
        Ok(params)
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " limit {}p flows {} quantum {}b", self.limit_packets, self.flows, self.quantum.get())
    }
}
