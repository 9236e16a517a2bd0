//! Parameters that a sweep varies.
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// More values than this on one axis are assumed to be a typing error.
const MAX_VALUES: usize = 100_000;

/// A scenario key and the values it takes, in order.
///
/// ```text
/// hop.modem.up.queue=fq_codel,cake bandwidth 3mbit
/// hop.modem.up.rate=1mbit..10mbit/10      ten values, evenly spaced
/// hop.modem.up.rate=1mbit..1gbit*4        four values with a constant ratio
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Axis {
    /// Path of the key, as in [`crate::Setting`].
    pub path: String,
    /// Values as they would be written in the file.
    pub values: Vec<String>,
}

/// Why a text is not a valid [`Axis`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AxisError(String);

impl fmt::Display for AxisError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
impl core::error::Error for AxisError {}

impl FromStr for Axis {
    type Err = AxisError;
    fn from_str(text: &str) -> Result<Self, AxisError> {
        let (path, values) = text.split_once('=').unwrap_or((text, ""));
        if path.is_empty() || values.is_empty() {
            let form = "expected KEY=VALUE,VALUE or KEY=FROM..TO/COUNT";
            return Err(AxisError(format!("invalid axis \"{text}\" ({form})")));
        }
        let values = match values.split_once("..") {
            Some((from, rest)) => range(from, rest)?,
            None => values.split(',').map(|value| value.trim().to_owned()).collect(),
        };
        if let Some(at) = values.iter().position(String::is_empty) {
            return Err(AxisError(format!("{path}: value {} is empty", at + 1)));
        }
        Ok(Axis { path: path.to_owned(), values })
    }
}

/// Parses a range from `from` and either `TO/COUNT` or `TO*COUNT`.
fn range(from: &str, rest: &str) -> Result<Vec<String>, AxisError> {
    let refuse = |why: &str| AxisError(format!("\"{from}..{rest}\": {why}"));
    let at = rest
        .find(['/', '*'])
        .ok_or_else(|| refuse("the number of values is missing (expected FROM..TO/COUNT)"))?;
    let (to, count) = rest.split_at(at);
    let is_geometric = count.starts_with('*');
    let count: usize = count[1..].parse().map_err(|_| refuse("invalid count (expected an integer)"))?;
    if !(2..=MAX_VALUES).contains(&count) {
        return Err(refuse("invalid count (expected 2 to 100000)"));
    }
    let ((low, unit), (high, other)) = (split_unit(from), split_unit(to));
    let same_unit = unit == other || unit.is_empty();
    let low: f64 = low.parse().map_err(|_| refuse("invalid first value (expected a number)"))?;
    let high: f64 = high.parse().map_err(|_| refuse("invalid last value (expected a number)"))?;
    if !same_unit {
        return Err(refuse("the first and last units differ"));
    }
    if is_geometric && !(low > 0.0 && high > 0.0) {
        return Err(refuse("a geometric range needs values above 0"));
    }
    let value = |index: usize| {
        let share = index as f64 / (count - 1) as f64;
        if is_geometric { low * libm::pow(high / low, share) } else { low + (high - low) * share }
    };
    Ok((0..count).map(|index| format!("{}{other}", rounded(value(index)))).collect())
}

/// Splits a text into a number and its unit.
fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(text.len());
    text.split_at(end)
}

/// Rounds to six digits, so that fractions of a range stay readable.
fn rounded(value: f64) -> f64 {
    let magnitude = libm::floor(libm::log10(libm::fabs(value))).clamp(-9.0, 9.0);
    let scale = libm::pow(10.0, 5.0 - magnitude);
    if value == 0.0 { 0.0 } else { libm::round(value * scale) / scale }
}
