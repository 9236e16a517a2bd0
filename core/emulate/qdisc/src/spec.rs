//! The text form of a queue discipline and its parameters, with the keywords of `tc(8)`.
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
mod single_queue;
mod switch;
mod tbf;
mod words;

pub use error::SpecError;
pub use single_queue::SingleQueueParams;

use core::fmt;
use core::str::SplitWhitespace;
pub use words::Variant;
use words::Words;

/// Parameters with a text form: the name of the discipline, then words in any order.
pub(crate) trait Text: Sized {
    const NAME: &'static str;
    /// All parameters, separated by blanks.
    const WORDS: &'static str;
    /// Parses the parameters. Missing ones get their defaults.
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError>;
    /// Writes all parameters, each after a blank.
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// Parameters that all have defaults and do not depend on each other; see [`Text`].
pub(crate) trait Settings: Default {
    const NAME: &'static str;
    const WORDS: &'static str;
    /// Sets the parameter `word`. Its value is next in `words`.
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError>;
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl<T: Settings> Text for T {
    const NAME: &'static str = T::NAME;
    const WORDS: &'static str = T::WORDS;
    fn read(words: &mut Words<'_>) -> Result<Self, SpecError> {
        let mut settings = T::default();
        while let Some(word) = words.next_known()? {
            settings.set(word, words)?;
        }
        Ok(settings)
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Settings::write(self, f)
    }
}

/// Parses the parameters of one discipline, to the last word.
pub(crate) fn read<T: Text>(words: SplitWhitespace<'_>) -> Result<T, SpecError> {
    T::read(&mut Words::new(words, T::NAME, T::WORDS))
}
