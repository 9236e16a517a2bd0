//! Errors of parsing a queue discipline.
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use fathom_units::UnitError;

/// Why a text is not a [`Spec`](crate::Spec).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SpecError {
    /// The text is empty or starts with an unknown discipline.
    Discipline {
        /// The first word; empty if there is none.
        word: String,
        /// The names of all disciplines.
        known: &'static [&'static str],
    },
    /// A parameter that this discipline does not have.
    Word {
        /// The unknown parameter.
        word: String,
        /// The discipline.
        discipline: &'static str,
        /// Its parameters, separated by blanks.
        known: &'static str,
    },
    /// The last parameter lacks its value.
    NoValue {
        /// The parameter.
        word: &'static str,
    },
    /// A value that is not a valid quantity.
    Unit {
        /// The parameter.
        word: &'static str,
        /// What is wrong with the value.
        error: UnitError,
    },
    /// A value of the wrong kind or out of range.
    Value {
        /// The parameter.
        word: &'static str,
        /// The value.
        text: String,
        /// Which values are allowed.
        expected: &'static str,
    },
    /// A required parameter is missing.
    Missing {
        /// The discipline.
        discipline: &'static str,
        /// The missing parameter.
        word: &'static str,
    },
    /// `tbf` with more than one of `limit`, `latency` and a queue in braces.
    TbfQueues,
    /// `fifo` without a limit: no real buffer is unlimited.
    NoLimit,
    /// `fifo limit <time> drop tail`: see [`Limit::Sojourn`](crate::Limit::Sojourn).
    TailOfTime,
    /// `cake nat`: there is no address translation to look up.
    Nat,
}

/// `did you mean "codel"? `, or nothing.
fn guess(word: &str, known: &[&str]) -> String {
    fathom_text::nearest(word, known).map_or_else(String::new, |near| format!("did you mean \"{near}\"? "))
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::Discipline { word, known } if word.is_empty() => {
                write!(f, "the queue discipline is missing (known: {})", known.join(", "))
            }
            SpecError::Discipline { word, known } => {
                let guess = guess(word, known);
                write!(f, "unknown queue discipline \"{word}\" ({guess}known: {})", known.join(", "))
            }
            SpecError::Word { word, discipline, known } => {
                let known: Vec<&str> = known.split(' ').collect();
                let guess = guess(word, &known);
                write!(f, "unknown parameter \"{word}\" of {discipline} ({guess}known: {})", known.join(", "))
            }
            SpecError::NoValue { word: "{" } => write!(f, "\"}}\" after \"{{\" is missing"),
            SpecError::NoValue { word } => write!(f, "\"{word}\" needs a value"),
            SpecError::Unit { word, error } => write!(f, "{word}: {error}"),
            SpecError::Value { word, text, expected } => {
                write!(f, "invalid {word} \"{text}\" (expected {expected})")
            }
            SpecError::Nat => {
                write!(f, "cake does not support \"nat\" here: no addresses are translated (remove \"nat\")")
            }
            SpecError::Missing { discipline, word } => {
                write!(f, "{discipline} requires \"{word}\" with a value")
            }
            SpecError::TbfQueues => {
                write!(f, "tbf accepts only one of \"limit\", \"latency\" and a queue in braces")
            }
            SpecError::NoLimit => {
                write!(f, "fifo requires a limit (such as \"fifo limit 256p\" or \"fifo limit 64kb\")")
            }
            SpecError::TailOfTime => {
                write!(
                    f,
                    "a fifo with a time limit drops at its head (remove \"drop tail\", or use a limit in bytes)"
                )
            }
        }
    }
}
impl core::error::Error for SpecError {}
