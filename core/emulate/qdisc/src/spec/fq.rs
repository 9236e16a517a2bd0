//! The text form of `fq`.
use super::words::{Exact, Words};
use super::{Settings, SpecError};
use crate::FqParams;
use core::fmt;
use fathom_units::{Bytes, Duration};

impl Default for FqParams {
    /// The defaults of Linux.
    fn default() -> Self {
        FqParams {
            limit_packets: 10_000,
            flow_limit: 100,
            flows: 1024,
            quantum: Bytes(3028),
            initial_quantum: Bytes(15_140),
            refill_delay: Duration::from_millis(40),
        }
    }
}

impl Settings for FqParams {
    const NAME: &'static str = "fq";
    const WORDS: &'static str = "limit flow_limit flows quantum initial_quantum refill_delay";
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError> {
        match word {
            "flow_limit" => self.flow_limit = words.packets(word)?,
            "flows" => self.flows = words.flows()?,
            "quantum" => self.quantum = words.quantum()?,
            "initial_quantum" => {
                self.initial_quantum = words.bytes(word, Bytes::ZERO, "a number of bytes")?;
            }
            "refill_delay" => self.refill_delay = words.duration(word)?,
            _ => self.limit_packets = words.packets("limit")?,
        }
        Ok(())
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " limit {}p flow_limit {}p flows {}", self.limit_packets, self.flow_limit, self.flows)?;
        write!(f, " quantum {}b initial_quantum {}b", self.quantum.get(), self.initial_quantum.get())?;
        write!(f, " refill_delay {}", Exact(self.refill_delay))
    }
}
