//! The text form of a queue discipline and its parameters, in the words of `tc(8)`.
mod blue;
mod cake;
mod codel;
mod drr;
mod dualpi2;
mod ebdp;
mod error;
mod fifo;
mod fq;
mod fq_codel;
mod fq_pie;
mod htb;
mod pie;
mod red;
mod rfc970;
mod sfb;
mod sfq;
mod switch;
mod tbf;
mod words;

pub use error::SpecError;

use crate::any::NAMES;
use crate::{AnyQdisc, Packet, Spec};
use alloc::string::String;
use core::fmt;
use core::str::{FromStr, SplitWhitespace};
use words::Words;

/// Parameters with a text form: a name, then words in any order. `read` takes defaults for those left out; `write`
/// writes all of them, a blank before each.
pub(crate) trait Text: Sized {
    const NAME: &'static str;
    const WORDS: &'static [&'static str];
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError>;
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl Spec {
    /// An empty queue. `seed` is for disciplines that use chance, if only for the salt of a hash.
    pub fn build<P: Packet>(&self, seed: u64) -> AnyQdisc<P> {
        AnyQdisc::new(self, seed)
    }
}

impl FromStr for Spec {
    type Err = SpecError;
    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or("");
        Spec::read(name, words).unwrap_or_else(|| Err(SpecError::Discipline { word: name.into() }))
    }
}

/// Reads the parameters of one discipline.
pub(crate) fn read<T: Text>(words: SplitWhitespace<'_>) -> Result<T, SpecError> {
    T::read(&mut Words::new(words, T::NAME, T::WORDS))
}

/// `fifo, codel, ...`
fn known_disciplines() -> String {
    NAMES.join(", ")
}
