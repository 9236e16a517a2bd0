//! `switch`.
use super::words::{Words, refuse};
use super::{SpecError, Text};
use crate::{Sharing, SwitchParams};
use core::fmt;
use fathom_units::{Bytes, Rate};

/// Each costs a look at every packet; large switches have some hundred.
const MAX_PORTS: u64 = 1024;
/// Switches have powers of two from 1/128 to 8.
const MAX_ALPHA: f64 = 1024.0;

/// What was said, in whatever order.
#[derive(Default)]
struct Said {
    ports: Option<u32>,
    rate: Option<Rate>,
    memory: Option<Bytes>,
    sharing: Option<Sharing>,
}

fn alpha(text: &str) -> Result<Sharing, SpecError> {
    let number = text.parse().ok().filter(|alpha: &f64| *alpha > 0.0 && *alpha <= MAX_ALPHA);
    number.map(Sharing::Dynamic).ok_or_else(|| refuse("alpha", text, "a number above 0 and at most 1024"))
}

impl Said {
    fn read(words: &mut Words<'_>) -> Result<Said, SpecError> {
        let mut said = Said::default();
        while let Some(word) = words.next_known()? {
            let sharing = match word {
                "ports" => {
                    let ports = words.number(word, 1..=MAX_PORTS, "a whole number from 1 to 1024")?;
                    said.ports = Some(ports as u32);
                    continue;
                }
                "rate" => {
                    said.rate = Some(words.rate(word)?);
                    continue;
                }
                "memory" => {
                    said.memory = Some(words.bytes(word, Bytes(1), "more than 0")?);
                    continue;
                }
                "alpha" => alpha(words.value(word)?)?,
                "static" => Sharing::Static,
                _ => Sharing::Complete,
            };
            if said.sharing.is_some_and(|other| other != sharing) {
                return Err(refuse(word, word, "one of alpha, shared and static"));
            }
            said.sharing = Some(sharing);
        }
        Ok(said)
    }
}

impl Text for SwitchParams {
    const NAME: &'static str = "switch";
    const WORDS: &'static str = "ports rate memory alpha shared static";
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let said = Said::read(words)?;
        let needs = |word: &'static str| SpecError::Missing { discipline: SwitchParams::NAME, word };
        Ok(SwitchParams {
            ports: said.ports.ok_or_else(|| needs("ports"))?,
            rate: said.rate.ok_or_else(|| needs("rate"))?,
            memory: said.memory.ok_or_else(|| needs("memory"))?,
            sharing: said.sharing.unwrap_or(Sharing::Dynamic(1.0)),
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
