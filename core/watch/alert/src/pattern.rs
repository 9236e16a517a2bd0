//! SmokePing's pattern language over rounds: `>0%,*12*,>0%`.
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

/// Most rounds that a pattern may use: three and a half days of five-minute rounds.
const MAX_ROUNDS: usize = 1_000;

/// The values that a pattern tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Loss of a round, in percent.
    Loss,
    /// Median of a round, in milliseconds.
    Rtt,
}

/// The value of a round.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// The mark before the first round: monitoring started here.
    Start,
    /// Unknown: nothing was sent, or nothing was answered.
    Unknown,
    /// Percent of loss, or milliseconds.
    Number(f64),
}

/// Interpretation of `*N*`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Semantics {
    /// As in SmokePing's manual: skips up to N values.
    #[default]
    Documented,
    /// As implemented in SmokePing 2.7 to 2.9: it misses some gaps that its manual allows (its
    /// issue 388).
    Smokeping,
}

/// A parsed pattern.
#[derive(Clone, PartialEq, Debug)]
pub struct Pattern {
    parts: Vec<Part>,
    semantics: Semantics,
    text: String,
}

#[derive(Clone, PartialEq, Debug)]
enum Part {
    Any,
    IsStart,
    IsUnknown,
    IsKnown,
    Compares(Vec<(Comparison, f64)>),
    Gap(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    Equal,
    Unequal,
    Less,
    Greater,
    AtMost,
    AtLeast,
}

impl Comparison {
    /// Splits a leading comparison operator from the rest of the text.
    pub(crate) fn split(text: &str) -> Option<(Comparison, &str)> {
        use Comparison::{AtLeast, AtMost, Equal, Greater, Less, Unequal};
        [("==", Equal), ("!=", Unequal), ("<=", AtMost), (">=", AtLeast), ("<", Less), (">", Greater)]
            .into_iter()
            .find_map(|(sign, op)| text.strip_prefix(sign).map(|rest| (op, rest)))
    }
    #[allow(clippy::float_cmp, reason = "the pattern's author asked for just this value")]
    pub(crate) fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Comparison::Equal => value == limit,
            Comparison::Unequal => value != limit,
            Comparison::Less => value < limit,
            Comparison::Greater => value > limit,
            Comparison::AtMost => value <= limit,
            Comparison::AtLeast => value >= limit,
        }
    }
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// Which entry is wrong, and why.
    pub fn parse(text: &str, kind: Kind, semantics: Semantics) -> Result<Pattern, String> {
        let entries = text.split(',').map(str::trim);
        let parts = entries.map(|entry| part(entry, kind)).collect::<Result<Vec<_>, _>>()?;
        let pattern = Pattern { parts, semantics, text: text.to_string() };
        if pattern.shortest() == 0 {
            return Err("the pattern has no comparison: gaps alone match everything".to_string());
        }
        let longest = pattern.longest();
        if longest > MAX_ROUNDS {
            return Err(format!("the pattern has {longest} rounds, more than the limit of {MAX_ROUNDS}"));
        }
        Ok(pattern)
    }
    /// The pattern as written.
    pub fn text(&self) -> &str {
        &self.text
    }
    /// The interpretation of `*N*`.
    pub const fn semantics(&self) -> Semantics {
        self.semantics
    }
    /// Most rounds that the pattern can span.
    pub fn longest(&self) -> usize {
        self.gaps().iter().fold(self.shortest(), |sum, gap| sum.saturating_add(*gap))
    }
    fn shortest(&self) -> usize {
        self.parts.len() - self.gaps().len()
    }
    fn gaps(&self) -> Vec<usize> {
        let gap = |part: &Part| if let Part::Gap(max) = part { Some(*max) } else { None };
        self.parts.iter().filter_map(gap).collect()
    }
    /// Whether the pattern matches the newest of these rounds and those before it. `values` are
    /// oldest first.
    pub fn matches(&self, values: &[Value]) -> bool {
        // SmokePing discards values that no pattern reaches.
        let from = values.len().saturating_sub(self.longest());
        let values = values.get(from..).unwrap_or_default();
        match self.semantics {
            Semantics::Documented => self.matches_within(values),
            Semantics::Smokeping => self.matches_as_smokeping(values),
        }
    }
    /// Matches backwards from the newest value; `ends[i]` says whether the part before may end at
    /// `i`.
    fn matches_within(&self, values: &[Value]) -> bool {
        let mut ends = vec![false; values.len() + 1];
        ends.iter_mut().last().into_iter().for_each(|newest| *newest = true);
        for part in self.parts.iter().rev() {
            ends = match part {
                Part::Gap(max) => reached(&ends, *max),
                test => {
                    let pairs = values.iter().zip(ends.iter().skip(1));
                    let mut before: Vec<bool> =
                        pairs.map(|(value, is_end)| *is_end && test.holds(Some(value))).collect();
                    before.push(false);
                    before
                }
            };
        }
        ends.into_iter().any(|found| found)
    }
    /// SmokePing compiles a pattern to nested loops, one per gap, and leaves some of them too
    /// early. This uses the same bounds.
    fn matches_as_smokeping(&self, values: &[Value]) -> bool {
        if values.len() < self.shortest() {
            return false;
        }
        let room = values.len() - self.shortest();
        let bounds: Vec<usize> = self.gaps().iter().rev().map(|max| room.min(*max)).collect();
        let nest = Nest { pattern: self, values, longest: self.longest(), bounds };
        nest.level(0, 0).is_some()
    }
    /// The tests before the first gap, between the first and the second gap, and so on.
    fn runs(&self) -> Vec<&[Part]> {
        self.parts.split(|part| matches!(part, Part::Gap(_))).collect()
    }
}

/// The positions from which a gap of up to `max` values reaches one of `ends`.
fn reached(ends: &[bool], max: usize) -> Vec<bool> {
    let end_from = |from: usize| ends.iter().skip(from).take(max + 1).any(|end| *end);
    (0..ends.len()).map(end_from).collect()
}

struct Nest<'p> {
    pattern: &'p Pattern,
    values: &'p [Value],
    longest: usize,
    /// Bound of each loop, outermost first: the outermost belongs to the last gap.
    bounds: Vec<usize>,
}

impl Nest<'_> {
    /// Evaluates the body inside `depth` loops; the outer loop counters sum to `outer`. `None` if
    /// the search is over. The inner loop runs before the tests of this level.
    fn level(&self, depth: usize, outer: usize) -> Option<bool> {
        if let Some(bound) = self.bounds.get(depth) {
            self.search(depth, outer, *bound)?;
        }
        let runs = self.pattern.runs();
        let before = self.bounds.len() - depth;
        let skipped: usize = runs.iter().take(before).map(|run| run.len()).sum();
        let run = runs.get(before).copied().unwrap_or_default();
        let holds =
            |(index, part): (usize, &Part)| part.holds(self.value(self.back(skipped + index) + outer));
        let found = run.iter().enumerate().all(holds);
        if depth == 0 { found.then_some(true) } else { Some(found) }
    }
    fn search(&self, depth: usize, outer: usize, bound: usize) -> Option<()> {
        let mut at = 0;
        while at < self.longest.saturating_sub(outer).min(bound) {
            if self.level(depth + 1, outer + at)? {
                break;
            }
            at += 1;
        }
        // SmokePing reduces the bound by the loop counter itself: this is why it misses gaps.
        (at < self.longest.saturating_sub(outer + at).min(bound)).then_some(())
    }
    /// Distance from the end of the values to a test of the pattern, gaps not counted.
    fn back(&self, index: usize) -> usize {
        self.pattern.shortest() - index
    }
    fn value(&self, back: usize) -> Option<&Value> {
        self.values.len().checked_sub(back).and_then(|at| self.values.get(at))
    }
}

impl Part {
    /// Values before the first one are unknown.
    fn holds(&self, value: Option<&Value>) -> bool {
        let value = value.unwrap_or(&Value::Unknown);
        match (self, value) {
            (Part::Any | Part::Gap(_), _) | (Part::IsStart, Value::Start) => true,
            (Part::IsUnknown, value) => *value == Value::Unknown,
            (Part::IsKnown, value) => *value != Value::Unknown,
            (Part::Compares(all), Value::Number(number)) => {
                all.iter().all(|(op, limit)| op.holds(*number, *limit))
            }
            _ => false,
        }
    }
}

fn part(entry: &str, kind: Kind) -> Result<Part, String> {
    if let Some(count) = entry.strip_prefix('*').and_then(|rest| rest.strip_suffix('*')) {
        let max = count.parse::<usize>().ok().filter(|n| *n > 0 && !count.starts_with(['+', '0']));
        return max.map(Part::Gap).ok_or_else(|| format!("invalid gap \"{entry}\" (for example *12*)"));
    }
    let Some((op, rest)) = Comparison::split(entry) else {
        return Err(format!("invalid entry \"{entry}\" (for example >0%, ==U, ==S, ==*, >45%<=55% or *12*)"));
    };
    match (op, rest) {
        (Comparison::Equal, "*") => Ok(Part::Any),
        (Comparison::Equal, "S") => Ok(Part::IsStart),
        (Comparison::Equal, "U") => Ok(Part::IsUnknown),
        (Comparison::Unequal, "U") => Ok(Part::IsKnown),
        (_, "*" | "S" | "U") => Err(format!("\"{entry}\": {rest} is valid only with == (U also with !=)")),
        _ => comparisons(entry, op, rest, kind),
    }
}

fn comparisons(entry: &str, op: Comparison, rest: &str, kind: Kind) -> Result<Part, String> {
    let Some(split) = rest.find(['<', '>']) else {
        return Ok(Part::Compares(Vec::from([(op, number(entry, rest, kind)?)])));
    };
    let (first, second) = rest.split_at(split);
    let Some((other, second)) = Comparison::split(second) else {
        return Err(format!("\"{entry}\": invalid range (for example >45%<=55%)"));
    };
    let both = [(op, number(entry, first, kind)?), (other, number(entry, second, kind)?)];
    Ok(Part::Compares(Vec::from(both)))
}

fn number(entry: &str, text: &str, kind: Kind) -> Result<f64, String> {
    let digits = match kind {
        Kind::Loss => text
            .strip_suffix('%')
            .ok_or_else(|| format!("\"{entry}\": loss needs a percent sign (for example >10%)"))?,
        Kind::Rtt if text.ends_with('%') => {
            return Err(format!("\"{entry}\": rtt is in milliseconds, without a unit (for example >100)"));
        }
        Kind::Rtt => text,
    };
    let plain = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && digits.len() <= 12;
    let value = digits.parse::<f64>().ok().filter(|_| plain);
    value.ok_or_else(|| format!("\"{entry}\": invalid number \"{text}\""))
}
