//! The text form of a queue discipline and its parameters, in the words of `tc(8)`.
use crate::{AnyQdisc, CodelParams, ControlParams, DropFrom, FifoParams, FqCodelParams, Limit, Packet};
use alloc::string::{String, ToString};
use core::fmt;
use core::str::{FromStr, SplitWhitespace};
use fathom_units::{Bytes, Duration, UnitError};

/// A queue discipline and its parameters.
///
/// ```text
/// fifo limit 256p | 375000b | 100ms [drop tail | drop head]
/// codel [limit 1000p] [target 5ms] [interval 100ms] [ecn | noecn]
/// fq_codel [limit 10240p] [flows 1024] [quantum 1514b] [target 5ms] [interval 100ms] [memory 32mb] [ecn | noecn]
/// ```
/// Values in brackets are the defaults, as in Linux; ECN is off in `codel` and on in `fq_codel`. Sizes are in tc's
/// units (`kb` is 1024 bytes), and a number without a unit is refused. `Display` writes every parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spec {
    /// First in, first out.
    Fifo(FifoParams),
    /// CoDel, RFC 8289.
    Codel(CodelParams),
    /// FQ-CoDel, RFC 8290.
    FqCodel(FqCodelParams),
}

/// Why a text is not a [`Spec`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SpecError {
    /// No text, or a first word that is no discipline.
    Discipline {
        /// The word; empty if there was none.
        word: String,
    },
    /// A word that this discipline does not know.
    Word {
        /// The word.
        word: String,
        /// The discipline.
        discipline: &'static str,
        /// What it knows.
        known: &'static [&'static str],
    },
    /// A word that needs a value and came last.
    NoValue {
        /// The word.
        word: &'static str,
    },
    /// A value that is no quantity.
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
        /// What would do.
        expected: &'static str,
    },
    /// `fifo` without a limit: there is no such buffer.
    NoLimit,
    /// `fifo limit <time> drop tail`: see [`Limit::Sojourn`].
    TailOfTime,
}

const DISCIPLINES: &str = "fifo, codel, fq_codel";
const FIFO_WORDS: &[&str] = &["limit", "drop"];
const CODEL_WORDS: &[&str] = &["limit", "target", "interval", "ecn", "noecn"];
const FQ_CODEL_WORDS: &[&str] =
    &["limit", "flows", "quantum", "target", "interval", "memory", "ecn", "noecn"];
/// Longer targets and intervals are typing errors.
const MAX_TIME: Duration = Duration::from_secs(3600);
/// One entry of the table takes about 100 bytes. Linux allows as many.
const MAX_FLOWS: u64 = 65_536;
/// With less, a full packet would take many turns. Linux has the same floor.
const MIN_QUANTUM: Bytes = Bytes(256);
const LIMIT_EXPECTED: &str = "an amount above 0 such as 256p, 375000b, 64kb or 100ms";

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpecError::Discipline { word } if word.is_empty() => {
                write!(f, "no queue discipline given (known: {DISCIPLINES})")
            }
            SpecError::Discipline { word } => {
                write!(f, "unknown queue discipline \"{word}\" (known: {DISCIPLINES})")
            }
            SpecError::Word { word, discipline, known } => {
                write!(f, "unknown word \"{word}\" for {discipline} (known: {})", known.join(", "))
            }
            SpecError::NoValue { word } => write!(f, "\"{word}\" needs a value after it"),
            SpecError::Unit { word, error } => write!(f, "{word}: {error}"),
            SpecError::Value { word, text, expected } => {
                write!(f, "{word} \"{text}\" will not do (expected {expected})")
            }
            SpecError::NoLimit => write!(f, "fifo needs a limit (such as \"fifo limit 256p\" or \"64kb\")"),
            SpecError::TailOfTime => {
                write!(
                    f,
                    "a fifo limited by time drops at its head (leave out \"drop tail\", or limit in bytes)"
                )
            }
        }
    }
}
impl core::error::Error for SpecError {}

impl Default for ControlParams {
    /// 5 ms, 100 ms, no ECN. Source: RFC 8289 section 4.
    fn default() -> Self {
        ControlParams { target: Duration::from_millis(5), interval: Duration::from_millis(100), ecn: false }
    }
}
impl Default for CodelParams {
    /// Those of Linux.
    fn default() -> Self {
        CodelParams { control: ControlParams::default(), limit_packets: 1000 }
    }
}
impl Default for FqCodelParams {
    /// Those of Linux and of RFC 8290 section 5.2.
    fn default() -> Self {
        FqCodelParams {
            control: ControlParams { ecn: true, ..ControlParams::default() },
            flows: 1024,
            quantum: Bytes(1514),
            limit_packets: 10_240,
            memory: Bytes(32 << 20),
        }
    }
}

impl Spec {
    /// An empty queue. `seed` is for disciplines that use chance; here the salt of fq_codel's hash.
    pub fn build<P: Packet>(&self, seed: u64) -> AnyQdisc<P> {
        AnyQdisc::new(self, seed)
    }
}

impl FromStr for Spec {
    type Err = SpecError;
    fn from_str(text: &str) -> Result<Self, SpecError> {
        let mut words = text.split_whitespace();
        match words.next().unwrap_or("") {
            "fifo" => fifo(Words { words, discipline: "fifo", known: FIFO_WORDS }),
            "codel" => codel(Words { words, discipline: "codel", known: CODEL_WORDS }),
            "fq_codel" => fq_codel(Words { words, discipline: "fq_codel", known: FQ_CODEL_WORDS }),
            word => Err(SpecError::Discipline { word: word.to_string() }),
        }
    }
}

/// What follows the discipline's name.
struct Words<'a> {
    words: SplitWhitespace<'a>,
    discipline: &'static str,
    known: &'static [&'static str],
}

impl<'a> Words<'a> {
    /// The next parameter's name, which is one of those known.
    fn next_known(&mut self) -> Result<Option<&'static str>, SpecError> {
        let Some(word) = self.words.next() else { return Ok(None) };
        let known = self.known.iter().find(|known| **known == word).copied();
        let (discipline, all) = (self.discipline, self.known);
        known.map(Some).ok_or_else(|| SpecError::Word { word: word.to_string(), discipline, known: all })
    }
    fn value(&mut self, word: &'static str) -> Result<&'a str, SpecError> {
        self.words.next().ok_or(SpecError::NoValue { word })
    }
    fn bytes(&mut self, word: &'static str, min: Bytes, expected: &'static str) -> Result<Bytes, SpecError> {
        let text = self.value(word)?;
        let bytes: Bytes = text.parse().map_err(|error| SpecError::Unit { word, error })?;
        if bytes >= min { Ok(bytes) } else { Err(refuse(word, text, expected)) }
    }
    fn duration(&mut self, word: &'static str) -> Result<Duration, SpecError> {
        let text = self.value(word)?;
        let duration: Duration = text.parse().map_err(|error| SpecError::Unit { word, error })?;
        let fits = duration > Duration::ZERO && duration <= MAX_TIME;
        if fits { Ok(duration) } else { Err(refuse(word, text, "more than 0 and at most an hour")) }
    }
    fn flows(&mut self) -> Result<u32, SpecError> {
        let text = self.value("flows")?;
        let flows = text.parse().ok().filter(|flows| (1..=MAX_FLOWS).contains(&u64::from(*flows)));
        flows.ok_or_else(|| refuse("flows", text, "a whole number from 1 to 65536"))
    }
    fn packets(&mut self) -> Result<u64, SpecError> {
        let text = self.value("limit")?;
        packets(text).ok_or_else(|| refuse("limit", text, "a number of packets above 0 such as 1000p"))
    }
    /// Reads one word of the control law; false if `word` is none of them.
    fn control(&mut self, word: &'static str, params: &mut ControlParams) -> Result<bool, SpecError> {
        match word {
            "target" => params.target = self.duration(word)?,
            "interval" => params.interval = self.duration(word)?,
            "ecn" => params.ecn = true,
            "noecn" => params.ecn = false,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn refuse(word: &'static str, text: &str, expected: &'static str) -> SpecError {
    SpecError::Value { word, text: text.to_string(), expected }
}

/// `256p`; `None` if it is not that, or is zero.
fn packets(text: &str) -> Option<u64> {
    let digits = text.strip_suffix(['p', 'P'])?;
    // `parse` alone would take a sign.
    let plain = digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|packets| plain && *packets > 0)
}

fn limit(text: &str) -> Result<Limit, SpecError> {
    if let Some(limit) = packets(text) {
        return Ok(Limit::Packets(limit));
    }
    let bytes = text.parse().ok().filter(|bytes| *bytes > Bytes::ZERO).map(Limit::Bytes);
    let fits = |time: &Duration| *time > Duration::ZERO && *time <= MAX_TIME;
    let time = || text.parse().ok().filter(fits).map(Limit::Sojourn);
    bytes.or_else(time).ok_or_else(|| refuse("limit", text, LIMIT_EXPECTED))
}

fn fifo(mut words: Words<'_>) -> Result<Spec, SpecError> {
    let (mut max, mut from) = (None, None);
    while let Some(word) = words.next_known()? {
        let value = words.value(word)?;
        match (word, value) {
            ("limit", _) => max = Some(limit(value)?),
            (_, "tail") => from = Some(DropFrom::Tail),
            (_, "head") => from = Some(DropFrom::Head),
            _ => return Err(refuse(word, value, "head or tail")),
        }
    }
    let limit = max.ok_or(SpecError::NoLimit)?;
    let by_time = matches!(limit, Limit::Sojourn(_));
    if by_time && from == Some(DropFrom::Tail) {
        return Err(SpecError::TailOfTime);
    }
    let usual = if by_time { DropFrom::Head } else { DropFrom::Tail };
    Ok(Spec::Fifo(FifoParams { limit, drop_from: from.unwrap_or(usual) }))
}

fn codel(mut words: Words<'_>) -> Result<Spec, SpecError> {
    let mut params = CodelParams::default();
    while let Some(word) = words.next_known()? {
        if !words.control(word, &mut params.control)? {
            params.limit_packets = words.packets()?;
        }
    }
    Ok(Spec::Codel(params))
}

fn fq_codel(mut words: Words<'_>) -> Result<Spec, SpecError> {
    let mut params = FqCodelParams::default();
    while let Some(word) = words.next_known()? {
        if words.control(word, &mut params.control)? {
            continue;
        }
        match word {
            "flows" => params.flows = words.flows()?,
            "quantum" => params.quantum = words.bytes(word, MIN_QUANTUM, "256b or more")?,
            "memory" => params.memory = words.bytes(word, Bytes(1), "more than 0")?,
            _ => params.limit_packets = words.packets()?,
        }
    }
    Ok(Spec::FqCodel(params))
}

/// A duration in the largest unit that loses nothing; `Display` of [`Duration`] rounds.
struct Exact(Duration);

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

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Packets(packets) => write!(f, "{packets}p"),
            Limit::Bytes(bytes) => write!(f, "{}b", bytes.get()),
            Limit::Sojourn(time) => write!(f, "{}", Exact(*time)),
        }
    }
}
impl fmt::Display for ControlParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ecn = if self.ecn { "ecn" } else { "noecn" };
        write!(f, "target {} interval {} {ecn}", Exact(self.target), Exact(self.interval))
    }
}
impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spec::Fifo(FifoParams { limit, drop_from: DropFrom::Tail }) => write!(f, "fifo limit {limit}"),
            Spec::Fifo(FifoParams { limit, drop_from: DropFrom::Head }) => {
                write!(f, "fifo limit {limit} drop head")
            }
            Spec::Codel(params) => write!(f, "codel limit {}p {}", params.limit_packets, params.control),
            Spec::FqCodel(params) => {
                write!(f, "fq_codel limit {}p flows {} ", params.limit_packets, params.flows)?;
                let (quantum, memory) = (params.quantum.get(), params.memory.get());
                write!(f, "quantum {quantum}b memory {memory}b {}", params.control)
            }
        }
    }
}
