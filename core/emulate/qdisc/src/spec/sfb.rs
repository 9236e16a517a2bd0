//! The text form of `sfb`.
use super::words::{Exact, Words};
use super::{Settings, SpecError};
use crate::SfbParams;
use core::fmt;
use fathom_units::{Duration, Ratio};

impl Default for SfbParams {
    fn default() -> Self {
        SfbParams {
            limit_packets: 1000,
            max: 25,
            target: 20,
            increment: Ratio(0.0005),
            decrement: Ratio(0.00005),
            rehash: Duration::from_secs(600),
            db: Duration::from_secs(60),
            penalty_rate: 10,
            penalty_burst: 20,
        }
    }
}

fn number(words: &mut Words<'_>, word: &'static str, max: u64) -> Result<u64, SpecError> {
    words.number(word, 1..=max, "a whole number above 0")
}
fn bin(words: &mut Words<'_>, word: &'static str) -> Result<u16, SpecError> {
    number(words, word, u64::from(u16::MAX)).map(|packets| packets as u16)
}
fn penalty(words: &mut Words<'_>, word: &'static str) -> Result<u32, SpecError> {
    number(words, word, 1_000_000).map(|packets| packets as u32)
}

impl Settings for SfbParams {
    const NAME: &'static str = "sfb";
    const WORDS: &'static str = "limit max target increment decrement rehash db penalty_rate penalty_burst";
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError> {
        match word {
            "max" => self.max = bin(words, word)?,
            "target" => self.target = bin(words, word)?,
            "increment" => self.increment = words.ratio(word)?,
            "decrement" => self.decrement = words.ratio(word)?,
            "rehash" => self.rehash = words.duration(word)?,
            "db" => self.db = words.duration(word)?,
            "penalty_rate" => self.penalty_rate = penalty(words, word)?,
            "penalty_burst" => self.penalty_burst = penalty(words, word)?,
            _ => self.limit_packets = words.packets("limit")?,
        }
        Ok(())
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " limit {}p max {} target {}", self.limit_packets, self.max, self.target)?;
        write!(f, " increment {} decrement {}", self.increment.0, self.decrement.0)?;
        write!(f, " rehash {} db {}", Exact(self.rehash), Exact(self.db))?;
        write!(f, " penalty_rate {} penalty_burst {}", self.penalty_rate, self.penalty_burst)
    }
}
