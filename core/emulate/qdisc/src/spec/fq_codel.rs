//! The text form of `fq_codel`.
use super::single_queue::ControlSettings;
use super::words::Words;
use super::{Settings, SpecError};
use crate::{ControlParams, FqCodelParams};
use core::fmt;
use fathom_units::{Bytes, ETHERNET_FULL_FRAME};

impl Default for FqCodelParams {
    /// The defaults of Linux and of RFC 8290 section 5.2.
    fn default() -> Self {
        FqCodelParams {
            control: ControlParams { ecn: true, ..ControlParams::default() },
            flows: 1024,
            quantum: ETHERNET_FULL_FRAME,
            limit_packets: 10_240,
            memory: Bytes(32 << 20),
        }
    }
}

impl Settings for FqCodelParams {
    const NAME: &'static str = "fq_codel";
    const WORDS: &'static str = "variant limit flows quantum target interval memory ecn noecn ce_threshold";
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError> {
        match word {
            "limit" => self.limit_packets = words.packets(word)?,
            "flows" => self.flows = words.flows()?,
            "quantum" => self.quantum = words.quantum()?,
            "memory" => self.memory = words.bytes(word, Bytes(1), "a value above 0")?,
            _ => self.control.set(word, words)?,
        }
        Ok(())
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " variant {} limit {}p flows {}", self.control.variant, self.limit_packets, self.flows)?;
        write!(f, " quantum {}b memory {}b {}", self.quantum.get(), self.memory.get(), self.control)
    }
}
