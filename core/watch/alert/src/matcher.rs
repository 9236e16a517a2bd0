//! SmokePing's matchers: calculations over the rounds of a target.
use crate::pattern::{Comparison, Value};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_stats::{midpoint_median, upper_median};

const KNOWN: &str = "Avgratio, CheckLatency, CheckLoss, ConsecutiveLoss, Median, Medratio";
/// Most rounds that a matcher may use, as for patterns.
const MAX_ROUNDS: usize = 1_000;

/// A parsed matcher.
#[derive(Clone, PartialEq, Debug)]
pub struct Matcher {
    test: Test,
    text: String,
}

#[derive(Clone, PartialEq, Debug)]
enum Test {
    /// Ratio of the averages, or medians, of the last rounds and of the rounds before them.
    Ratio { is_median: bool, historic: usize, current: usize, op: Comparison, ratio: f64 },
    /// Difference of two medians, in milliseconds.
    Difference { old: usize, new: usize, ms: f64 },
    /// A number of consecutive rounds at or above a limit raises; a number below another limit
    /// clears.
    InTurn { of_loss: bool, raise: (f64, usize), clear: (f64, usize) },
}

impl Matcher {
    /// Parses a matcher: `CheckLoss(l=>10,x=>3)`.
    ///
    /// # Errors
    /// What is wrong, and which matchers are known.
    pub fn parse(text: &str) -> Result<Matcher, String> {
        let inside =
            text.trim().split_once('(').and_then(|(name, rest)| Some((name, rest.strip_suffix(')')?)));
        let (name, inside) = inside
            .ok_or_else(|| format!("invalid matcher \"{text}\" (for example CheckLoss(l=>10,x=>3))"))?;
        let mut keys = Keys::read(inside)?;
        let test = match name.trim() {
            "Avgratio" => ratio(&mut keys, false)?,
            "Medratio" => ratio(&mut keys, true)?,
            "Median" => {
                let (old, new) = (keys.count("old")?, keys.count("new")?);
                Test::Difference { old, new, ms: keys.number("diff")? * 1_000.0 }
            }
            "CheckLoss" => in_turn(&mut keys, true)?,
            "CheckLatency" => in_turn(&mut keys, false)?,
            "ConsecutiveLoss" => Test::InTurn {
                of_loss: true,
                raise: (keys.number("pctlossraise")?, keys.count("stepsraise")?),
                clear: (keys.number("pctlossclear")?, keys.count("stepsclear")?),
            },
            "ExpLoss" => {
                return Err(
                    "the matcher ExpLoss is not supported (use type = \"loss\" with above and clear)"
                        .to_string(),
                );
            }
            other => return Err(format!("unknown matcher \"{other}\" (known: {KNOWN})")),
        };
        keys.none_left(name)?;
        Ok(Matcher { test, text: text.trim().to_string() })
    }
    /// The matcher as written.
    pub fn text(&self) -> &str {
        &self.text
    }
    /// Number of rounds that the matcher uses.
    pub const fn longest(&self) -> usize {
        match self.test {
            Test::Ratio { historic, current, .. } => historic + current,
            Test::Difference { old, new, .. } => old + new,
            Test::InTurn { raise, clear, .. } => {
                if raise.1 > clear.1 {
                    raise.1
                } else {
                    clear.1
                }
            }
        }
    }
    /// Whether the matcher matches, and the values compared; `None` without enough data.
    /// `is_raised`: whether it matched before.
    pub(crate) fn matches(&self, loss: &[Value], rtt: &[Value], is_raised: bool) -> Option<(bool, String)> {
        match &self.test {
            Test::Ratio { is_median, historic, current, op, ratio } => {
                let (old, new) = split(rtt, *historic, *current)?;
                let middle: fn(Vec<f64>) -> Option<f64> = if *is_median { upper_median } else { mean };
                let (before, now) = (middle(old)?, middle(new)?);
                let text = format!("{now:.1} ms, {before:.1} ms before");
                (before > 0.0).then(|| (op.holds(now / before, *ratio), text))
            }
            Test::Difference { old, new, ms } => {
                let (before, now) = split(rtt, *old, *new)?;
                let (before, now) = (midpoint_median(before)?, midpoint_median(now)?);
                let difference = if now > before { now - before } else { before - now };
                Some((difference > *ms, format!("median {now:.1} ms, {before:.1} ms before")))
            }
            Test::InTurn { of_loss, raise, clear } => {
                let values = if *of_loss { loss } else { rtt };
                let (limit, steps) = if is_raised { *clear } else { *raise };
                let last = numbers(values, steps)?;
                let turned = last.iter().all(|v| if is_raised { *v < limit } else { *v >= limit });
                let unit = if *of_loss { "%" } else { " ms" };
                let seen: Vec<String> = last.iter().map(|v| format!("{v:.1}{unit}")).collect();
                Some((
                    is_raised != turned,
                    format!("last {steps}: {} (limit {limit}{unit})", seen.join(", ")),
                ))
            }
        }
    }
}

fn ratio(keys: &mut Keys<'_>, is_median: bool) -> Result<Test, String> {
    let (historic, current) = (keys.count("historic")?, keys.count("current")?);
    let sign = keys.text("comparator")?.trim_matches(['\'', '"']);
    let op = Comparison::split(sign).filter(|(op, rest)| rest.is_empty() && *op != Comparison::Unequal);
    let (op, _) = op.ok_or_else(|| format!("unknown comparator \"{sign}\" (known: <, >, <=, >=, ==)"))?;
    Ok(Test::Ratio { is_median, historic, current, op, ratio: keys.number("percentage")? / 100.0 })
}

fn in_turn(keys: &mut Keys<'_>, of_loss: bool) -> Result<Test, String> {
    let both = (keys.number("l")?, keys.count("x")?);
    Ok(Test::InTurn { of_loss, raise: both, clear: both })
}

/// The last `new` rounds, and the `old` rounds before them.
fn split(values: &[Value], old: usize, new: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let from = values.len().checked_sub(old + new)?;
    let (before, now) = values.get(from..)?.split_at_checked(old)?;
    if before.first() == Some(&Value::Start) {
        return None;
    }
    Some((known(before), known(now)))
}

fn known(values: &[Value]) -> Vec<f64> {
    values.iter().filter_map(|v| if let Value::Number(n) = v { Some(*n) } else { None }).collect()
}

/// The last `count` values; `None` unless all are known.
fn numbers(values: &[Value], count: usize) -> Option<Vec<f64>> {
    let last = values.get(values.len().checked_sub(count)?..)?;
    Some(known(last)).filter(|known| known.len() == count)
}

fn mean(values: Vec<f64>) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// `name=>value` pairs.
struct Keys<'t> {
    left: BTreeMap<&'t str, &'t str>,
}

impl<'t> Keys<'t> {
    fn read(text: &'t str) -> Result<Self, String> {
        let pair = |part: &'t str| {
            let found = part.split_once("=>").map(|(key, value)| (key.trim(), value.trim()));
            found.ok_or_else(|| format!("invalid argument \"{}\" (for example l=>10)", part.trim()))
        };
        let left = text.split(',').map(pair).collect::<Result<_, _>>()?;
        Ok(Keys { left })
    }
    fn text(&mut self, key: &str) -> Result<&'t str, String> {
        self.left.remove(key).ok_or_else(|| format!("{key} is missing"))
    }
    fn number(&mut self, key: &str) -> Result<f64, String> {
        let text = self.text(key)?;
        let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let number = text.parse::<f64>().ok().filter(|_| plain && text.len() <= 12);
        number.ok_or_else(|| format!("{key}: invalid number \"{text}\""))
    }
    fn count(&mut self, key: &str) -> Result<usize, String> {
        let text = self.text(key)?;
        let number = text.parse::<usize>().ok().filter(|n| (1..=MAX_ROUNDS / 2).contains(n));
        number.ok_or_else(|| {
            format!("{key}: invalid number \"{text}\" (expected a whole number from 1 to {})", MAX_ROUNDS / 2)
        })
    }
    fn none_left(&self, name: &str) -> Result<(), String> {
        let strange = self.left.keys().next();
        strange.map_or(Ok(()), |key| Err(format!("{name} has no argument \"{key}\"")))
    }
}
