//! Disciplines with one queue: a control law and a limit.
use super::words::Words;
use super::{Settings, SpecError};
use crate::Variant;
use core::fmt;

/// Parameters of a discipline with a single queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SingleQueueParams<C> {
    /// Parameters of the control law.
    pub control: C,
    /// Limit in packets; default 1000, as in Linux.
    pub limit_packets: u64,
}

/// Parameters of a control law. `Display` omits the variant, which a discipline writes first.
pub(crate) trait ControlSettings: Default + fmt::Display {
    const NAME: &'static str;
    const WORDS: &'static str;
    /// Sets the parameter `word`. Its value is next in `words`.
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError>;
    fn variant(&self) -> Variant;
}

impl<C: Default> Default for SingleQueueParams<C> {
    fn default() -> Self {
        SingleQueueParams { control: C::default(), limit_packets: 1000 }
    }
}

impl<C: ControlSettings> Settings for SingleQueueParams<C> {
    const NAME: &'static str = C::NAME;
    const WORDS: &'static str = C::WORDS;
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError> {
        match word {
            "limit" => self.limit_packets = words.packets(word)?,
            _ => self.control.set(word, words)?,
        }
        Ok(())
    }
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " variant {} limit {}p {}", self.control.variant(), self.limit_packets, self.control)
    }
}
