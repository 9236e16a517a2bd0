//! The text form of `pie`.
use super::SpecError;
use super::single_queue::ControlSettings;
use super::words::{Exact, Words};
use crate::{PieControlParams, Variant};
use core::fmt;
use fathom_units::{Duration, Ratio};

impl Default for PieControlParams {
    /// 15 ms, gains 2/16 and 20/16, bursts of 150 ms, no ECN (RFC 8033 section 4, and Linux).
    fn default() -> Self {
        PieControlParams {
            target: Duration::from_millis(15),
            tupdate: Duration::from_millis(15),
            alpha: 2,
            beta: 20,
            max_burst: Duration::from_millis(150),
            ecn: false,
            mark_ecn_threshold: Ratio(0.1),
            bytemode: false,
            dq_rate_estimator: false,
            variant: Variant::Rfc,
        }
    }
}

/// In sixteenths of 1/s; the same bound as in Linux.
const MAX_GAIN: u64 = 32;
const GAIN_EXPECTED: &str = "a whole number from 0 to 32, in sixteenths of 1/s";

fn gain(words: &mut Words<'_>, word: &'static str) -> Result<u32, SpecError> {
    words.number(word, 0..=MAX_GAIN, GAIN_EXPECTED).map(|gain| gain as u32)
}

impl ControlSettings for PieControlParams {
    const NAME: &'static str = "pie";
    const WORDS: &'static str = "variant limit target tupdate alpha beta max_burst ecn noecn mark_ecn_threshold bytemode \
        nobytemode dq_rate_estimator no_dq_rate_estimator";
    fn set(&mut self, word: &'static str, words: &mut Words<'_>) -> Result<(), SpecError> {
        match word {
            "variant" => self.variant = words.variant()?,
            "target" => self.target = words.duration(word)?,
            "tupdate" => self.tupdate = words.duration(word)?,
            "alpha" => self.alpha = gain(words, word)?,
            "beta" => self.beta = gain(words, word)?,
            "max_burst" => self.max_burst = words.duration(word)?,
            "ecn" => self.ecn = true,
            "noecn" => self.ecn = false,
            "mark_ecn_threshold" => self.mark_ecn_threshold = words.ratio(word)?,
            "bytemode" => self.bytemode = true,
            "nobytemode" => self.bytemode = false,
            "dq_rate_estimator" => self.dq_rate_estimator = true,
            _ => self.dq_rate_estimator = false,
        }
        Ok(())
    }
    fn variant(&self) -> Variant {
        self.variant
    }
}

impl fmt::Display for PieControlParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |on: bool, yes: &'static str, no: &'static str| if on { yes } else { no };
        write!(f, "target {} tupdate {}", Exact(self.target), Exact(self.tupdate))?;
        write!(f, " alpha {} beta {} max_burst {}", self.alpha, self.beta, Exact(self.max_burst))?;
        write!(f, " {} mark_ecn_threshold {}", word(self.ecn, "ecn", "noecn"), self.mark_ecn_threshold.0)?;
        write!(f, " {}", word(self.bytemode, "bytemode", "nobytemode"))?;
        write!(f, " {}", word(self.dq_rate_estimator, "dq_rate_estimator", "no_dq_rate_estimator"))
    }
}
