//! The text form of `ebdp` and `astar`.
use super::words::{Exact, Words};
use super::{Settings, SpecError};
use crate::{AstarParams, EbdpParams};
use core::fmt;
use fathom_units::Duration;

impl Default for EbdpParams {
    fn default() -> Self {
        EbdpParams { delay: Duration::from_millis(200), extra_packets: 5, limit_packets: 400 }
    }
}

/// A larger value is assumed to be a typing error.
const MAX_EXTRA: u64 = 1_000_000;

impl Settings for EbdpParams {
    const NAME: &'static str = "ebdp";
    const WORDS: &'static str = "limit delay extra";
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError> {
        match word {
            "delay" => self.delay = words.duration(word)?,
            "extra" => {
                self.extra_packets = words.number(word, 1..=MAX_EXTRA, "a number of packets above 0")?;
            }
            _ => self.limit_packets = words.packets("limit")?,
        }
        Ok(())
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " limit {}p delay {} extra {}", self.limit_packets, Exact(self.delay), self.extra_packets)
    }
}

impl Settings for AstarParams {
    const NAME: &'static str = "astar";
    const WORDS: &'static str = <EbdpParams as Settings>::WORDS;
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError> {
        self.ebdp.set(word, words)
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Settings::write(&self.ebdp, f)
    }
}
