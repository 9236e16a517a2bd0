//! `rfc970`.
use super::words::{Exact, Words};
use super::{SpecError, Text};
use crate::Rfc970Params;
use core::fmt;

impl Default for Rfc970Params {
    fn default() -> Self {
        Rfc970Params { limit_packets: 1000, ttl: None }
    }
}

impl Text for Rfc970Params {
    const NAME: &'static str = "rfc970";
    const WORDS: &'static [&'static str] = &["limit", "ttl"];
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let mut params = Rfc970Params::default();
        while let Some(word) = words.next_known()? {
            match word {
                "ttl" => params.ttl = Some(words.duration(word)?),
                _ => params.limit_packets = words.packets("limit")?,
            }
        }
        Ok(params)
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " limit {}p", self.limit_packets)?;
        self.ttl.map_or(Ok(()), |ttl| write!(f, " ttl {}", Exact(ttl)))
    }
}
