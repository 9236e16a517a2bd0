//! Published claims that a scenario reproduces, and how to check them.
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Display;
use core::ops::Range;
use core::str::FromStr;
use fathom_run::{Measure, Run};
use fathom_units::{Bytes, Duration, Rate, Ratio};
use serde::Deserialize;
use toml::Spanned;

/// A statement of a source, with the result expected here.
#[derive(Clone, PartialEq, Debug)]
pub struct Claim {
    /// The statement in a few words.
    pub says: String,
    /// The published figure, such as `1.2 s`.
    pub published: String,
    /// How to check it.
    pub check: Check,
    /// Smallest and largest accepted result, in the unit of the check.
    pub expected: [f64; 2],
    /// Reason why `expected` differs from the published figure, if it does.
    pub note: Option<String>,
}

/// The number that is compared with [`Claim::expected`].
#[derive(Clone, PartialEq, Debug)]
pub enum Check {
    /// A measure of the run.
    Measure(Measure),
    /// A calculation without a run.
    Arithmetic(Arithmetic),
}

/// A calculation that needs no simulation.
///
/// ```text
/// 9gb at 10gbit                       time to drain a buffer
/// 256p of 1514b at 10mbit             the same with a buffer in packets
/// 5gb filled by 1010mbit into 1gbit   time to fill a buffer
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arithmetic {
    bytes: u64,
    rate: Rate,
    /// Arrival rate at a buffer that fills.
    arriving: Option<Rate>,
}

impl Claim {
    /// Result for `run`; `None` if it has no matching observations.
    pub fn outcome(&self, run: &Run) -> Option<f64> {
        match &self.check {
            Check::Measure(measure) => measure.of(run),
            Check::Arithmetic(arithmetic) => Some(arithmetic.seconds()),
        }
    }
    /// Whether the result is within [`Claim::expected`].
    pub fn holds(&self, outcome: f64) -> bool {
        (self.expected[0]..=self.expected[1]).contains(&outcome)
    }
    /// Unit of the expected values and of the result.
    pub fn unit(&self) -> &'static str {
        self.check.unit()
    }
}

impl Check {
    fn unit(&self) -> &'static str {
        match self {
            Check::Measure(measure) => measure.unit(),
            Check::Arithmetic(_) => "s",
        }
    }
}

impl Arithmetic {
    /// Result in seconds.
    pub fn seconds(&self) -> f64 {
        let rate = self.rate.as_bits_per_second() as f64;
        let rate = self.arriving.map_or(rate, |arriving| arriving.as_bits_per_second() as f64 - rate);
        self.bytes as f64 * 8.0 / rate
    }
}

const FORMS: &str =
    "for example \"9gb at 10gbit\", \"256p of 1514b at 10mbit\" or \"5gb filled by 1010mbit into 1gbit\"";

impl FromStr for Arithmetic {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let words: alloc::vec::Vec<&str> = text.split_whitespace().collect();
        let parsed = match words[..] {
            [size, "at", rate] => Arithmetic { bytes: bytes(size)?, rate: quantity(rate)?, arriving: None },
            [count, "of", size, "at", rate] => {
                let count = count.strip_suffix('p').and_then(|n| n.parse::<u64>().ok());
                let all = count.and_then(|n| n.checked_mul(bytes(size).ok()?));
                let all = all.ok_or_else(|| format!("invalid calculation \"{text}\" (expected {FORMS})"))?;
                Arithmetic { bytes: all, rate: quantity(rate)?, arriving: None }
            }
            [size, "filled", "by", arriving, "into", rate] => {
                let arriving = Some(quantity(arriving)?);
                Arithmetic { bytes: bytes(size)?, rate: quantity(rate)?, arriving }
            }
            _ => return Err(format!("invalid calculation \"{text}\" (expected {FORMS})")),
        };
        let seconds = parsed.seconds();
        let fits = seconds.is_finite() && seconds > 0.0;
        if fits { Ok(parsed) } else { Err(format!("the result of \"{text}\" is not finite and above 0")) }
    }
}

fn bytes(text: &str) -> Result<u64, String> {
    quantity::<Bytes>(text).map(Bytes::get)
}

fn quantity<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimFile {
    says: String,
    published: Option<String>,
    measure: Option<Spanned<String>>,
    arithmetic: Option<Spanned<String>>,
    expected: Spanned<[Spanned<Bound>; 2]>,
    note: Option<String>,
}

/// A bound with its unit in quotes, or a bare number if it has no unit.
#[derive(Deserialize)]
#[serde(untagged)]
enum Bound {
    Number(f64),
    Text(String),
}

impl ClaimFile {
    /// Validates the claim. The error has the position in the file and the problem.
    pub(crate) fn check(self) -> Result<Claim, (Range<usize>, String)> {
        let span = self.expected.span();
        let check = match (self.measure, self.arithmetic) {
            (Some(measure), None) => Check::Measure(parsed(&measure)?),
            (None, Some(arithmetic)) => Check::Arithmetic(parsed(&arithmetic)?),
            _ => return Err((span, "a claim needs either measure or arithmetic".to_string())),
        };
        let [least, most] = self.expected.into_inner();
        let expected = [bound(&least, check.unit())?, bound(&most, check.unit())?];
        if expected[0] > expected[1] {
            return Err((
                span,
                "expected: the first value exceeds the second (expected [minimum, maximum])".to_string(),
            ));
        }
        let published = self.published.unwrap_or_else(|| self.says.clone());
        Ok(Claim { says: self.says, published, check, expected, note: self.note })
    }
}

fn parsed<T: FromStr<Err: Display>>(text: &Spanned<String>) -> Result<T, (Range<usize>, String)> {
    text.get_ref().parse().map_err(|error: T::Err| (text.span(), error.to_string()))
}

fn bound(given: &Spanned<Bound>, unit: &str) -> Result<f64, (Range<usize>, String)> {
    let refuse = |what: String| (given.span(), what);
    let text = match given.get_ref() {
        Bound::Number(number) if !matches!(unit, "s" | "bytes" | "bit/s") => return Ok(*number),
        Bound::Number(number) => {
            return Err(refuse(format!("{number} has no unit (expected one of {unit})")));
        }
        Bound::Text(text) => text,
    };
    let value = match unit {
        "s" => text.parse().map(Duration::as_secs_f64).map_err(|e| e.to_string()),
        "bytes" => text.parse().map(|b: Bytes| b.get() as f64).map_err(|e| e.to_string()),
        "bit/s" => text.parse().map(|r: Rate| r.as_bits_per_second() as f64).map_err(|e| e.to_string()),
        "ratio" => text.parse().map(|r: Ratio| r.0).map_err(|e| e.to_string()),
        _ => text.parse().map_err(|_| format!("invalid number \"{text}\"")),
    };
    value.map_err(refuse)
}
