//! The text form of `sfq`.
use super::words::{Exact, Words, refuse};
use super::{Settings, SpecError};
use crate::{DropFrom, SfqParams};
use alloc::string::ToString;
use core::fmt;
use fathom_units::ETHERNET_FULL_FRAME;

impl Default for SfqParams {
    /// The defaults of Linux.
    fn default() -> Self {
        SfqParams {
            limit_packets: 127,
            depth: 127,
            divisor: 1024,
            flows: 128,
            quantum: ETHERNET_FULL_FRAME,
            perturb: None,
            drop_from: DropFrom::Tail,
        }
    }
}

/// Linux stores the length of a slot in one byte.
const MAX_DEPTH: u64 = 127;
const MAX_DIVISOR: u64 = 65_536;
/// All 16-bit numbers except those that Linux reserves for lengths.
const MAX_FLOWS: u64 = 65_408;

fn divisor(words: &mut Words<'_>) -> Result<u64, SpecError> {
    let expected = "a power of two up to 65536";
    let divisor = words.number("divisor", 1..=MAX_DIVISOR, expected)?;
    if divisor.is_power_of_two() {
        Ok(divisor)
    } else {
        Err(refuse("divisor", &divisor.to_string(), expected))
    }
}

fn depth(words: &mut Words<'_>) -> Result<u64, SpecError> {
    let depth = words.packets("depth")?;
    if depth <= MAX_DEPTH { Ok(depth) } else { Err(refuse("depth", &depth.to_string(), "at most 127p")) }
}

impl Settings for SfqParams {
    const NAME: &'static str = "sfq";
    const WORDS: &'static str = "limit depth divisor flows quantum perturb headdrop";
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError> {
        match word {
            "depth" => self.depth = depth(words)?,
            "divisor" => self.divisor = divisor(words)?,
            "flows" => self.flows = words.number(word, 1..=MAX_FLOWS, "a whole number from 1 to 65408")?,
            "quantum" => self.quantum = words.quantum()?,
            "perturb" => self.perturb = Some(words.duration(word)?),
            "headdrop" => self.drop_from = DropFrom::Head,
            _ => self.limit_packets = words.packets("limit")?,
        }
        Ok(())
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " limit {}p depth {}p divisor {}", self.limit_packets, self.depth, self.divisor)?;
        write!(f, " flows {} quantum {}b", self.flows, self.quantum.get())?;
        if let Some(perturb) = self.perturb {
            write!(f, " perturb {}", Exact(perturb))?;
        }
        f.write_str(if self.drop_from == DropFrom::Head { " headdrop" } else { "" })
    }
}
