//! The text form of `rfc970`.
use super::words::{Exact, Words};
use super::{Settings, SpecError};
use crate::Rfc970Params;
use core::fmt;

impl Default for Rfc970Params {
    fn default() -> Self {
        Rfc970Params { limit_packets: 1000, ttl: None }
    }
}

impl Settings for Rfc970Params {
    const NAME: &'static str = "rfc970";
    const WORDS: &'static str = "limit ttl";
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError> {
        match word {
            "ttl" => self.ttl = Some(words.duration(word)?),
            _ => self.limit_packets = words.packets("limit")?,
        }
        Ok(())
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " limit {}p", self.limit_packets)?;
        self.ttl.map_or(Ok(()), |ttl| write!(f, " ttl {}", Exact(ttl)))
    }
}
