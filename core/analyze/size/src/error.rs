//! Why a question has no answer.
use alloc::string::String;
use core::fmt;
use fathom_units::{Bytes, Rate, UnitError};

/// Why a question has no answer. `Display` names the quantity, its value and what to try.
#[derive(Clone, PartialEq, Debug)]
pub enum SizeError {
    /// A quantity is zero.
    Zero(&'static str),
    /// A quantity is given twice.
    Twice(&'static str, String),
    /// Fewer than two of buffer, rate and delay are given.
    TooFew(&'static str),
    /// All quantities are given, so there is nothing to calculate.
    TooMany,
    /// The arrival rate does not exceed the link rate.
    NoOverload(Rate, Rate),
    /// A result is outside of the supported range.
    Range(&'static str, &'static str),
    /// The packet exceeds the largest IP packet plus Ethernet header.
    Packet(Bytes),
    /// The word is not a rate, size, duration, number of packets or percentage.
    Word(String),
    /// The number does not suit its unit.
    Unit(UnitError),
}

impl From<UnitError> for SizeError {
    fn from(error: UnitError) -> Self {
        SizeError::Unit(error)
    }
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SizeError::Zero(what) => {
                write!(f, "{what} is zero\n  try: a {what} above zero")
            }
            SizeError::Twice(what, word) => {
                write!(f, "\"{word}\": the {what} is already given\n  try: each quantity once")
            }
            SizeError::TooFew(given) => {
                write!(
                    f,
                    "{given} is given, but two of buffer, rate and delay are needed\n  try: fathom size 256p 10mbit"
                )
            }
            SizeError::TooMany => f.write_str("all quantities are given\n  try: leave out the one to find"),
            SizeError::NoOverload(arriving, rate) => {
                write!(
                    f,
                    "arrival rate {arriving} does not exceed the link rate {rate}, so no queue builds up\n  try: an arrival rate above {rate}"
                )
            }
            SizeError::Range(what, limit) => {
                write!(f, "{what} would be {limit}\n  try: values closer to those of a real line")
            }
            SizeError::Packet(size) => {
                let size = fathom_text::bytes(size.get() as f64);
                write!(
                    f,
                    "invalid packet size {size} (expected at most 65,549 B: an IP packet with Ethernet header)\n  try: --packet 1514b"
                )
            }
            SizeError::Word(word) => write!(
                f,
                "invalid quantity \"{word}\" (expected a buffer such as 256p or 375000b, a rate such as 10mbit, a time such as 20ms, or an overload such as 1%)\n  try: fathom size 256p 10mbit"
            ),
            SizeError::Unit(error) => error.fmt(f),
        }
    }
}
impl core::error::Error for SizeError {}
