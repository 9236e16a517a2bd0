//! `ebdp` and `astar`.
use super::words::{Exact, Words};
use super::{SpecError, Text};
use crate::{AstarParams, EbdpParams};
use core::fmt;
use fathom_units::Duration;

impl Default for EbdpParams {
    fn default() -> Self {
        EbdpParams { delay: Duration::from_millis(200), extra_packets: 5, limit_packets: 400 }
    }
}

/// More are a typing error.
const MAX_EXTRA: u64 = 1_000_000;

impl Text for EbdpParams {
    const NAME: &'static str = "ebdp";
    const WORDS: &'static [&'static str] = &["limit", "delay", "extra"];
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let mut params = EbdpParams::default();
        while let Some(word) = words.next_known()? {
            match word {
                "delay" => params.delay = words.duration(word)?,
                "extra" => {
                    params.extra_packets =
                        words.number(word, 1..=MAX_EXTRA, "a number of packets above 0")?;
                }
                _ => params.limit_packets = words.packets("limit")?,
            }
        }
        Ok(params)
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " limit {}p delay {} extra {}", self.limit_packets, Exact(self.delay), self.extra_packets)
    }
}

impl Text for AstarParams {
    const NAME: &'static str = "astar";
    const WORDS: &'static [&'static str] = EbdpParams::WORDS;
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError> {
        Ok(AstarParams { ebdp: EbdpParams::read(words)? })
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ebdp.write(f)
    }
}
