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

use core::fmt;
use core::str::SplitWhitespace;
use words::Words;

/// Parameters with a text form: a name, then words in any order. `read` takes defaults for those left out; `write`
/// writes all of them, a blank before each.
pub(crate) trait Text: Sized {
    const NAME: &'static str;
    const WORDS: &'static [&'static str];
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError>;
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// Reads the parameters of one discipline.
pub(crate) fn read<T: Text>(words: SplitWhitespace<'_>) -> Result<T, SpecError> {
    T::read(&mut Words::new(words, T::NAME, T::WORDS))
}
