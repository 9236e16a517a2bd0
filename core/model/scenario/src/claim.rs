//! What a scenario claims, with its source, and how to check it.
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Display;
use core::ops::Range;
use core::str::FromStr;
use fathom_run::{Measure, Run};
use fathom_units::{Bytes, Duration, Rate, Ratio};
use serde::Deserialize;
use toml::Spanned;

/// One statement of a source, and what comes out here.
#[derive(Clone, PartialEq, Debug)]
pub struct Claim {
    /// The statement, in a few words.
    pub says: String,
    /// The figure as the source has it, such as `1.2 s`.
    pub published: String,
    /// How it is checked.
    pub check: Check,
    /// Least and most that must come out, in the check's unit.
    pub expected: [f64; 2],
    /// Why `expected` is not what was published, where that is so.
    pub note: Option<String>,
}

/// A number to be held against [`Claim::expected`].
#[derive(Clone, PartialEq, Debug)]
pub enum Check {
    /// Out of the run.
    Measure(Measure),
    /// Without a run.
    Arithmetic(Arithmetic),
}

/// Sums that need no simulation.
///
/// ```text
/// 9gb at 10gbit                 how long a buffer takes to drain
/// 256p of 1514b at 10mbit       the same, counted in packets
/// 5gb filled by 1010mbit into 1gbit
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arithmetic {
    bytes: u64,
    rate: Rate,
    /// What arrives meanwhile, at a buffer that fills.
    arriving: Option<Rate>,
}

impl Claim {
    /// What comes out of `run`; `None` if it has no such observation.
    pub fn outcome(&self, run: &Run) -> Option<f64> {
        match &self.check {
            Check::Measure(measure) => measure.of(run),
            Check::Arithmetic(arithmetic) => Some(arithmetic.seconds()),
        }
    }
    /// True if `outcome` is as expected.
    pub fn holds(&self, outcome: f64) -> bool {
        (self.expected[0]..=self.expected[1]).contains(&outcome)
    }
    /// Unit of `expected` and of the outcome.
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
    /// The result, in seconds.
    pub fn seconds(&self) -> f64 {
        let rate = self.rate.as_bits_per_second() as f64;
        let rate = self.arriving.map_or(rate, |arriving| arriving.as_bits_per_second() as f64 - rate);
        self.bytes as f64 * 8.0 / rate
    }
}

const FORMS: &str =
    "such as \"9gb at 10gbit\", \"256p of 1514b at 10mbit\" or \"5gb filled by 1010mbit into 1gbit\"";

impl FromStr for Arithmetic {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let words: alloc::vec::Vec<&str> = text.split_whitespace().collect();
        let parsed = match words[..] {
            [size, "at", rate] => Arithmetic { bytes: bytes(size)?, rate: quantity(rate)?, arriving: None },
            [count, "of", size, "at", rate] => {
                let count = count.strip_suffix('p').and_then(|n| n.parse::<u64>().ok());
                let all = count.and_then(|n| n.checked_mul(bytes(size).ok()?));
                let all = all.ok_or_else(|| format!("\"{text}\" is no sum (expected one {FORMS})"))?;
                Arithmetic { bytes: all, rate: quantity(rate)?, arriving: None }
            }
            [size, "filled", "by", arriving, "into", rate] => {
                let arriving = Some(quantity(arriving)?);
                Arithmetic { bytes: bytes(size)?, rate: quantity(rate)?, arriving }
            }
            _ => return Err(format!("\"{text}\" is no sum (expected one {FORMS})")),
        };
        let seconds = parsed.seconds();
        let fits = seconds.is_finite() && seconds > 0.0;
        if fits { Ok(parsed) } else { Err(format!("\"{text}\" has no finite result above 0")) }
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

/// A bound with its unit in quotes, or a bare number where the unit is none.
#[derive(Deserialize)]
#[serde(untagged)]
enum Bound {
    Number(f64),
    Text(String),
}

impl ClaimFile {
    /// The claim, or what is wrong with it and where.
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
            return Err((span, "expected is [least, most]".to_string()));
        }
        let published = self.published.unwrap_or_else(|| self.says.clone());
        Ok(Claim { says: self.says, published, check, expected, note: self.note })
    }
}

fn parsed<T: FromStr<Err: Display>>(text: &Spanned<String>) -> Result<T, (Range<usize>, String)> {
    text.get_ref().parse().map_err(|error: T::Err| (text.span(), error.to_string()))
}

/// A bound in `unit`.
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
        _ => text.parse().map_err(|_| format!("\"{text}\" is no number")),
    };
    value.map_err(refuse)
}
