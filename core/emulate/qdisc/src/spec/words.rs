//! Reads the words of a queue discipline's text form.
use super::SpecError;
use crate::{Limit, Spec};
use alloc::string::{String, ToString};
use core::fmt;
use core::ops::RangeInclusive;
use core::str::SplitWhitespace;
use fathom_units::{Bytes, Duration, Rate, Ratio};

/// Longer targets and intervals are assumed to be typing errors.
const MAX_TIME: Duration = Duration::from_secs(3600);
const LIMIT_EXPECTED: &str = "an amount above 0 such as 256p, 375000b, 64kb or 100ms";

/// Linux has the same bound. One entry of a flow table takes about 100 bytes.
const MAX_FLOWS: u64 = 65_536;
/// With less, a full packet would take many turns. FQ-CoDel in Linux has the same bound.
const MIN_QUANTUM: Bytes = Bytes(256);

/// Maximum nesting of queues.
const MAX_DEPTH: usize = 8;

/// The words after the name of a discipline: parameters, most of them followed by a value.
pub(crate) struct Words<'a> {
    words: SplitWhitespace<'a>,
    discipline: &'static str,
    known: &'static str,
}

impl<'a> Words<'a> {
    pub(super) fn new(words: SplitWhitespace<'a>, discipline: &'static str, known: &'static str) -> Self {
        Words { words, discipline, known }
    }
    /// The next parameter, which must be a known one.
    pub(super) fn next_known(&mut self) -> Result<Option<&'static str>, SpecError> {
        let Some(word) = self.words.next() else { return Ok(None) };
        let (discipline, known) = (self.discipline, self.known);
        let found = known.split(' ').find(|known| *known == word).map(Some);
        found.ok_or_else(|| SpecError::Word { word: word.to_string(), discipline, known })
    }
    pub(super) fn value(&mut self, word: &'static str) -> Result<&'a str, SpecError> {
        self.words.next().ok_or(SpecError::NoValue { word })
    }
    pub(super) fn bytes(
        &mut self,
        word: &'static str,
        min: Bytes,
        expected: &'static str,
    ) -> Result<Bytes, SpecError> {
        let text = self.value(word)?;
        let bytes: Bytes = text.parse().map_err(|error| SpecError::Unit { word, error })?;
        if bytes >= min { Ok(bytes) } else { Err(refuse(word, text, expected)) }
    }
    /// A duration above 0 and of at most one hour.
    pub(super) fn duration(&mut self, word: &'static str) -> Result<Duration, SpecError> {
        let text = self.value(word)?;
        let duration: Duration = text.parse().map_err(|error| SpecError::Unit { word, error })?;
        let fits = duration > Duration::ZERO && duration <= MAX_TIME;
        if fits { Ok(duration) } else { Err(refuse(word, text, "a time above 0 and at most 1 hour")) }
    }
    /// A rate above 0.
    pub(super) fn rate(&mut self, word: &'static str) -> Result<Rate, SpecError> {
        let text = self.value(word)?;
        let rate: Rate = text.parse().map_err(|error| SpecError::Unit { word, error })?;
        if rate.as_bits_per_second() > 0 { Ok(rate) } else { Err(refuse(word, text, "a value above 0")) }
    }
    /// A ratio from 0 to 1, as in `2%` or `0.02`.
    pub(super) fn ratio(&mut self, word: &'static str) -> Result<Ratio, SpecError> {
        let text = self.value(word)?;
        let plain = text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).map(Ratio);
        plain.map_or_else(|| text.parse().map_err(|error| SpecError::Unit { word, error }), Ok)
    }
    /// An integer in `range`.
    pub(super) fn number(
        &mut self,
        word: &'static str,
        range: RangeInclusive<u64>,
        expected: &'static str,
    ) -> Result<u64, SpecError> {
        let text = self.value(word)?;
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| refuse(word, text, expected))
    }
    /// A number of packets above 0, as in `1000p`.
    pub(super) fn packets(&mut self, word: &'static str) -> Result<u64, SpecError> {
        let text = self.value(word)?;
        packets(text).ok_or_else(|| refuse(word, text, "a number of packets above 0 such as 1000p"))
    }
    pub(super) fn flows(&mut self) -> Result<u32, SpecError> {
        self.number("flows", 1..=MAX_FLOWS, "a whole number from 1 to 65536").map(|flows| flows as u32)
    }
    pub(super) fn quantum(&mut self) -> Result<Bytes, SpecError> {
        self.bytes("quantum", MIN_QUANTUM, "256b or more")
    }
    /// Reads `rfc` or `linux`.
    pub(super) fn variant(&mut self) -> Result<Variant, SpecError> {
        match self.value("variant")? {
            "rfc" => Ok(Variant::Rfc),
            "linux" => Ok(Variant::Linux),
            text => Err(refuse("variant", text, "rfc or linux")),
        }
    }
    /// A queue discipline between braces, as in `{ fq_codel limit 100p }`; the opening brace has
    /// been read. Both braces must be separate words.
    pub(super) fn child(&mut self) -> Result<Spec, SpecError> {
        let (mut inside, mut depth) = (String::new(), 1);
        while depth > 0 {
            let part = self.value("{")?;
            depth += usize::from(part == "{");
            depth -= usize::from(part == "}");
            if depth > MAX_DEPTH {
                return Err(refuse("queue", part, "at most 8 nested disciplines"));
            }
            if depth > 0 {
                inside.push_str(part);
                inside.push(' ');
            }
        }
        inside.parse()
    }
}

pub(super) fn refuse(word: &'static str, text: &str, expected: &'static str) -> SpecError {
    SpecError::Value { word, text: text.to_string(), expected }
}

/// Parses `256p`; `None` if malformed or zero.
pub(super) fn packets(text: &str) -> Option<u64> {
    let digits = text.strip_suffix(['p', 'P'])?;
    // `parse` alone would accept a sign.
    let plain = digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|packets| plain && *packets > 0)
}

pub(super) fn limit(text: &str) -> Result<Limit, SpecError> {
    if let Some(limit) = packets(text) {
        return Ok(Limit::Packets(limit));
    }
    let bytes = text.parse().ok().filter(|bytes| *bytes > Bytes::ZERO).map(Limit::Bytes);
    let fits = |time: &Duration| *time > Duration::ZERO && *time <= MAX_TIME;
    let time = || text.parse().ok().filter(fits).map(Limit::Sojourn);
    bytes.or_else(time).ok_or_else(|| refuse("limit", text, LIMIT_EXPECTED))
}

/// Writes a duration in the largest exact unit; `Display` of [`Duration`] rounds.
pub(super) struct Exact(pub(super) Duration);

impl fmt::Display for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")];
        units
            .iter()
            .find(|(unit, _)| nanos.is_multiple_of(*unit))
            .map_or(Ok(()), |(unit, name)| write!(f, "{}{name}", nanos / unit))
    }
}

/// Which rules to follow where the RFC and Linux differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Variant {
    /// The rules of the RFC.
    #[default]
    Rfc,
    /// The rules of Linux 6.12.
    Linux,
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Variant::Rfc => "rfc",
            Variant::Linux => "linux",
        })
    }
}
