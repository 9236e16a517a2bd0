//! Parses `256p 10mbit` to a [`Question`].
use crate::{Buffer, Question, SizeError};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str::FromStr;
use fathom_units::{Bytes, Duration, Rate, Ratio};

const PACKETS: [&str; 5] = ["p", "pkt", "pkts", "packet", "packets"];

enum Quantity {
    Buffer(Buffer),
    Rate(Rate),
    Time(Duration),
    Share(f64),
}

impl Question {
    /// Adds a quantity; its unit determines which.
    ///
    /// # Errors
    /// If the word is not a quantity, or this quantity was added before.
    pub fn add(&mut self, word: &str) -> Result<(), SizeError> {
        let twice = |what| SizeError::Twice(what, word.to_string());
        let (what, is_second) = match quantity(word)? {
            Quantity::Buffer(buffer) => ("buffer", self.buffer.replace(buffer).is_some()),
            Quantity::Rate(rate) => ("rate", self.rate.replace(rate).is_some()),
            Quantity::Time(time) => ("time", self.delay.replace(time).is_some()),
            Quantity::Share(share) => ("overload", self.overload.replace(share).is_some()),
        };
        if is_second { Err(twice(what)) } else { Ok(()) }
    }
}

impl FromStr for Question {
    type Err = SizeError;
    /// Parses quantities and options as on the command line: `1gbit 5000000000b --overload 1%`.
    fn from_str(line: &str) -> Result<Self, SizeError> {
        let mut question = Question::default();
        let words = joined(line.split_whitespace());
        let mut words = words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match word.strip_prefix("--") {
                Some("atm") => question.framing.atm = true,
                Some(name) => question.option(name, words.next().unwrap_or_default())?,
                None => question.add(word)?,
            }
        }
        Ok(question)
    }
}

impl Question {
    fn option(&mut self, name: &str, value: &str) -> Result<(), SizeError> {
        match name {
            "packet" => self.framing.packet = value.parse()?,
            "overhead" => self.framing.overhead = value.parse()?,
            "flows" => self.flows = Some(value.parse().map_err(|_| SizeError::Word(value.to_string()))?),
            "overload" => self.overload = Some(value.parse::<Ratio>()?.0),
            "arriving" => self.arriving = Some(value.parse()?),
            "fill" => self.fill = Some(value.parse()?),
            _ => return Err(SizeError::Word(name.to_string())),
        }
        Ok(())
    }
}

/// Joins numbers with units that are separate words, as in `375 kB` and `20.0 Mbit/s`.
pub fn joined<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let mut joined: Vec<String> = Vec::new();
    for word in words {
        let is_unit = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '%');
        match joined.last_mut().filter(|last| is_unit && last.ends_with(|c: char| c.is_ascii_digit())) {
            Some(number) => *number += word,
            None => joined.push(word.to_string()),
        }
    }
    joined
}

fn quantity(word: &str) -> Result<Quantity, SizeError> {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',').trim();
    let unit = unit.to_ascii_lowercase();
    if unit.is_empty() || unit.len() == word.trim().len() {
        return Err(SizeError::Word(word.to_string()));
    }
    if PACKETS.contains(&unit.as_str()) {
        return packets(word).map(|n| Quantity::Buffer(Buffer::Packets(n)));
    }
    if unit == "%" {
        return Ok(Quantity::Share(word.parse::<Ratio>()?.0));
    }
    // Each unit belongs to one quantity. As in tc, `m` and `k` are sizes.
    if unit.ends_with("bit") || unit.ends_with("bps") || unit.ends_with("bit/s") {
        return Ok(Quantity::Rate(word.parse()?));
    }
    if unit.ends_with('s') || unit.ends_with("sec") || unit == "min" {
        return Ok(Quantity::Time(word.parse::<Duration>()?));
    }
    match word.parse::<Bytes>() {
        Ok(bytes) => Ok(Quantity::Buffer(Buffer::Bytes(bytes))),
        Err(_) if !unit.starts_with(['b', 'k', 'm', 'g']) => Err(SizeError::Word(word.to_string())),
        Err(error) => Err(error.into()),
    }
}

/// Fractions of a packet are rejected.
fn packets(word: &str) -> Result<u64, SizeError> {
    let digits: String = word.trim().chars().take_while(|c| !c.is_ascii_alphabetic()).collect();
    digits.trim().parse().map_err(|_| SizeError::Word(word.to_string()))
}
