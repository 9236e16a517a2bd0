//! The text form of `switch`.
use super::words::{Words, refuse};
use super::{SpecError, Text};
use crate::{Sharing, SwitchParams};
use core::fmt;
use fathom_units::{Bytes, Rate};

/// Every packet is compared with each port. Large switches have a few hundred ports.
const MAX_PORTS: u64 = 1024;
/// Real switches use powers of two from 1/128 to 8.
const MAX_ALPHA: f64 = 1024.0;

/// The parameters read so far, in any order.
#[derive(Default)]
struct ReadWords {
    ports: Option<u32>,
    rate: Option<Rate>,
    memory: Option<Bytes>,
    sharing: Option<Sharing>,
}

fn alpha(text: &str) -> Result<Sharing, SpecError> {
    let number = text.parse().ok().filter(|alpha: &f64| *alpha > 0.0 && *alpha <= MAX_ALPHA);
    number.map(Sharing::Dynamic).ok_or_else(|| refuse("alpha", text, "a number above 0 and at most 1024"))
}

impl ReadWords {
    fn read(words: &mut Words<'_>) -> Result<ReadWords, SpecError> {
        let mut read = ReadWords::default();
        while let Some(word) = words.next_known()? {
            let sharing = match word {
                "ports" => {
                    let ports = words.number(word, 1..=MAX_PORTS, "a whole number from 1 to 1024")?;
                    read.ports = Some(ports as u32);
                    continue;
                }
                "rate" => {
                    read.rate = Some(words.rate(word)?);
                    continue;
                }
                "memory" => {
                    read.memory = Some(words.bytes(word, Bytes(1), "a value above 0")?);
                    continue;
                }
                "alpha" => alpha(words.value(word)?)?,
                "static" => Sharing::Static,
                _ => Sharing::Complete,
            };
            if read.sharing.is_some_and(|other| other != sharing) {
                return Err(refuse(word, word, "one of alpha, shared and static"));
            }
            read.sharing = Some(sharing);
        }
        Ok(read)
    }
}

impl Text for SwitchParams {
    const NAME: &'static str = "switch";
    const WORDS: &'static str = "ports rate memory alpha shared static";
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let read = ReadWords::read(words)?;
        let needs = |word: &'static str| SpecError::Missing { discipline: SwitchParams::NAME, word };
        Ok(SwitchParams {
            ports: read.ports.ok_or_else(|| needs("ports"))?,
            rate: read.rate.ok_or_else(|| needs("rate"))?,
            memory: read.memory.ok_or_else(|| needs("memory"))?,
            sharing: read.sharing.unwrap_or(Sharing::Dynamic(1.0)),
        })
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " ports {} rate {}bit", self.ports, self.rate.as_bits_per_second())?;
        write!(f, " memory {}b ", self.memory.get())?;
        match self.sharing {
            Sharing::Dynamic(alpha) => write!(f, "alpha {alpha}"),
            Sharing::Complete => f.write_str("shared"),
            Sharing::Static => f.write_str("static"),
        }
    }
}
