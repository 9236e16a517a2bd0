//! Single numbers computed from a run, for the claims of scenarios and the columns of sweeps.
use crate::{Metric, PhaseKind, Run, Series, Value};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use fathom_stats::{Sample, jain_index};
use fathom_units::{Direction, Duration, Time};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A statistic over the observations of one metric.
///
/// ```text
/// METRIC [up | down] [flow N | flow N..M] [scope NAME] STATISTIC
///     [while PHASE | from TIME [to TIME]]
///
/// udp_rtt_s max while up
/// goodput_bits_per_second down mean from 10s
/// udp_rtt_s reaches 1
/// ```
/// Without `flow`, the measure uses the series of the whole direction if one exists, and all
/// per-flow series together otherwise. `first`, `last` and `grown` apply to counters: the values of
/// several series are added.
#[derive(Clone, PartialEq, Debug)]
pub struct Measure {
    metric: Metric,
    direction: Option<Direction>,
    /// First and last flow.
    flows: Option<(u32, u32)>,
    scope: Option<String>,
    statistic: Statistic,
    window: Window,
}

/// How to reduce observations to one number, such as `p95`, `max`, `reaches 1`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Statistic {
    /// Minimum of the observed values.
    Min,
    /// Mean of the observed values.
    Mean,
    /// Percentile, as a ratio from 0 to 1. A censored value counts as its lower bound or larger.
    Percentile(f64),
    /// Maximum of the observed values.
    Max,
    /// First value.
    First,
    /// Last value.
    Last,
    /// Growth within the window of a counter that starts at 0 and is recorded when it changes.
    Grown,
    /// Sum of the observed values.
    Sum,
    /// Number of observations.
    Count,
    /// Ratio of censored observations.
    Lost,
    /// Jain's fairness index over the means of the series (flows).
    Jain,
    /// Seconds from the start of the window to the first observation of at least this value.
    Reaches(f64),
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Window {
    All,
    Phase(PhaseKind),
    Between(Time, Time),
}

/// Why a text is not a valid [`Measure`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MeasureError {
    word: String,
    expected: &'static str,
}

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.word.as_str() {
            "" => write!(f, "the measure is incomplete (expected {})", self.expected),
            word => write!(f, "invalid word \"{word}\" in a measure (expected {})", self.expected),
        }
    }
}
impl core::error::Error for MeasureError {}

const STATISTICS: &str = "min, mean, a percentile such as p50 or p99.9, max, first, last, grown, sum, count, lost, jain, or reaches NUMBER";
const PHASES: &str = "idle, down, up, both, drain or watch";

impl Measure {
    /// Computes the measure; `None` if the run has no matching observations.
    pub fn of(&self, run: &Run) -> Option<f64> {
        let window = self.window.bounds(run)?;
        let series = self.series(run);
        if self.statistic == Statistic::Jain {
            let means = series.iter().filter_map(|s| sample(s, window).mean_of_observed());
            return jain_index(means.collect::<Vec<_>>());
        }
        if matches!(self.statistic, Statistic::First | Statistic::Last | Statistic::Grown) {
            return self.statistic.summed(&series, window);
        }
        let mut observations: Vec<(Time, Value)> =
            series.iter().flat_map(|s| s.between(window.0, window.1)).map(|o| (o.at, o.value)).collect();
        observations.sort_by_key(|(at, _)| *at);
        self.statistic.of(&observations, window.0)
    }
    /// Unit of the statistic or of the metric.
    pub fn unit(&self) -> &'static str {
        match self.statistic {
            Statistic::Count => "1",
            Statistic::Lost | Statistic::Jain => "ratio",
            Statistic::Reaches(_) => "s",
            _ => self.metric.info().unit,
        }
    }
    fn series<'r>(&self, run: &'r Run) -> Vec<&'r Series> {
        let fits = |s: &&Series| {
            s.key.metric == self.metric
                && (self.direction.is_none() || s.key.direction == self.direction)
                && self
                    .flows
                    .is_none_or(|(first, last)| s.key.flow.is_some_and(|flow| (first..=last).contains(&flow)))
                && (self.scope.is_none() || s.key.scope == self.scope)
        };
        let all: Vec<&Series> = run.series.iter().filter(fits).collect();
        let whole: Vec<&Series> = all.iter().copied().filter(|s| s.key.flow.is_none()).collect();
        let per_flow = self.flows.is_some() || self.statistic == Statistic::Jain;
        match (per_flow, whole.is_empty()) {
            (true, _) => all.into_iter().filter(|s| s.key.flow.is_some()).collect(),
            (false, false) => whole,
            (false, true) => all,
        }
    }
}

impl Window {
    /// Start (inclusive) and end (exclusive).
    fn bounds(self, run: &Run) -> Option<(Time, Time)> {
        match self {
            Window::All => Some((Time::ZERO, Time::MAX)),
            Window::Between(from, to) => Some((from, to)),
            Window::Phase(kind) => {
                let phase = run.phase(kind)?;
                Some((Time::from_nanos(phase.start_ns), Time::from_nanos(phase.end_ns)))
            }
        }
    }
}

fn sample(series: &Series, (from, to): (Time, Time)) -> Sample {
    Sample::new(series.between(from, to).map(|o| pair(o.value)))
}

const fn pair(value: Value) -> (f64, bool) {
    match value {
        Value::Observed(v) => (v, false),
        Value::Censored { at_least } => (at_least, true),
    }
}

impl Statistic {
    /// Sum over the series of each one's first value, last value or growth.
    fn summed(self, series: &[&Series], (from, to): (Time, Time)) -> Option<f64> {
        let of = |one: &&Series| {
            let mut values = one.between(from, to).map(|o| pair(o.value).0);
            match self {
                Statistic::First => values.next(),
                Statistic::Grown => grown(one, (from, to)),
                _ => values.last(),
            }
        };
        series.iter().filter_map(of).reduce(|sum, value| sum + value)
    }
    /// Applies the statistic to observations in time order, in a window that starts at `start`.
    fn of(self, observations: &[(Time, Value)], start: Time) -> Option<f64> {
        let all = Sample::new(observations.iter().map(|(_, value)| pair(*value)));
        let observed = all.observed();
        match self {
            Statistic::Min => observed.first().copied(),
            Statistic::Max => observed.last().copied(),
            Statistic::Mean => all.mean_of_observed(),
            Statistic::Percentile(p) => all.percentile(p).map(|b| b.value),
            Statistic::Sum => (!all.is_empty()).then(|| observed.iter().sum()),
            Statistic::Count => Some(observations.len() as f64),
            Statistic::Lost => {
                let censored = observations.len() - observed.len();
                (!all.is_empty()).then(|| censored as f64 / observations.len() as f64)
            }
            Statistic::Jain | Statistic::First | Statistic::Last | Statistic::Grown => None,
            Statistic::Reaches(level) => {
                let first = observations.iter().find(|(_, value)| pair(*value).0 >= level)?;
                Some((first.0 - start).as_secs_f64())
            }
        }
    }
}

impl FromStr for Measure {
    type Err = MeasureError;
    fn from_str(text: &str) -> Result<Self, MeasureError> {
        let mut words = text.split_whitespace().peekable();
        let name = words.next().unwrap_or("");
        let metric = Metric::ALL.iter().copied().find(|m| m.info().name == name);
        let metric = metric.ok_or_else(|| refuse(name, "a metric of docs/metrics.md, such as udp_rtt_s"))?;
        let mut measure = Measure {
            metric,
            direction: None,
            flows: None,
            scope: None,
            statistic: Statistic::Mean,
            window: Window::All,
        };
        let statistic = loop {
            let word = words.next().unwrap_or("");
            if let Ok(direction) = word.parse() {
                measure.direction = Some(direction);
                continue;
            }
            match word {
                "flow" => measure.flows = Some(flows(words.next().unwrap_or(""))?),
                "scope" => measure.scope = words.next().map(ToString::to_string),
                word => break word,
            }
        };
        measure.statistic = statistic_of(statistic, &mut words)?;
        measure.window = window_of(&mut words)?;
        match words.next() {
            None => Ok(measure),
            Some(word) => Err(refuse(word, "nothing more")),
        }
    }
}

fn refuse(word: &str, expected: &'static str) -> MeasureError {
    MeasureError { word: word.to_string(), expected }
}

fn number<T: FromStr>(word: Option<&str>, expected: &'static str) -> Result<T, MeasureError> {
    let word = word.unwrap_or("");
    word.parse().map_err(|_| refuse(word, expected))
}

/// Parses `N` or `N..M`.
fn flows(word: &str) -> Result<(u32, u32), MeasureError> {
    let (first, last) = word.split_once("..").unwrap_or((word, word));
    let numbers = first.parse().ok().zip(last.parse().ok()).filter(|(first, last)| first <= last);
    numbers.ok_or_else(|| refuse(word, "the number of a flow, or two such as 1..10"))
}

fn statistic_of<'a>(
    word: &str,
    words: &mut impl Iterator<Item = &'a str>,
) -> Result<Statistic, MeasureError> {
    Ok(match word {
        "min" => Statistic::Min,
        "mean" => Statistic::Mean,
        "max" => Statistic::Max,
        "first" => Statistic::First,
        "last" => Statistic::Last,
        "grown" => Statistic::Grown,
        "sum" => Statistic::Sum,
        "count" => Statistic::Count,
        "lost" => Statistic::Lost,
        "jain" => Statistic::Jain,
        "reaches" => Statistic::Reaches(number(words.next(), "a number in the metric's unit")?),
        other => Statistic::Percentile(percentile(other).ok_or_else(|| refuse(other, STATISTICS))?),
    })
}

/// `None` if the counter was never recorded.
fn grown(counter: &Series, (from, to): (Time, Time)) -> Option<f64> {
    let before = |end: Time| counter.between(Time::ZERO, end).map(|o| pair(o.value).0).last();
    counter.iter().next()?;
    Some(before(to).unwrap_or(0.0) - before(from).unwrap_or(0.0))
}

/// Parses `p99.9` as 0.999.
fn percentile(word: &str) -> Option<f64> {
    let percent: f64 = word.strip_prefix('p')?.parse().ok()?;
    (percent > 0.0 && percent < 100.0).then_some(percent / 100.0)
}

fn window_of<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Window, MeasureError> {
    let time = |word: Option<&str>| number::<Duration>(word, "a time such as 10s").map(|d| Time::ZERO + d);
    Ok(match words.next() {
        None => Window::All,
        Some("while") => {
            let name = words.next().unwrap_or("");
            let kinds = [
                PhaseKind::Idle,
                PhaseKind::Down,
                PhaseKind::Up,
                PhaseKind::Both,
                PhaseKind::Drain,
                PhaseKind::Watch,
            ];
            let kind = kinds.into_iter().find(|kind| kind.name() == name);
            Window::Phase(kind.ok_or_else(|| refuse(name, PHASES))?)
        }
        Some("from") => {
            let from = time(words.next())?;
            match words.next() {
                None => Window::Between(from, Time::MAX),
                Some("to") => Window::Between(from, time(words.next())?),
                Some(other) => return Err(refuse(other, "\"to\" and a time, or nothing")),
            }
        }
        Some(other) => return Err(refuse(other, "\"while\" and a phase, or \"from\" and a time")),
    })
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.metric.info().name)?;
        match self.direction {
            Some(Direction::Up) => write!(f, " up")?,
            Some(Direction::Down) => write!(f, " down")?,
            None => {}
        }
        match self.flows {
            Some((first, last)) if first == last => write!(f, " flow {first}")?,
            Some((first, last)) => write!(f, " flow {first}..{last}")?,
            None => {}
        }
        if let Some(scope) = &self.scope {
            write!(f, " scope {scope}")?;
        }
        write!(f, " {}", self.statistic)?;
        match self.window {
            Window::All => Ok(()),
            Window::Phase(kind) => write!(f, " while {}", kind.name()),
            Window::Between(from, Time::MAX) => write!(f, " from {}ns", from.as_nanos()),
            Window::Between(from, to) => write!(f, " from {}ns to {}ns", from.as_nanos(), to.as_nanos()),
        }
    }
}

impl FromStr for Statistic {
    type Err = MeasureError;
    fn from_str(text: &str) -> Result<Self, MeasureError> {
        let mut words = text.split_whitespace();
        let statistic = statistic_of(words.next().unwrap_or(""), &mut words)?;
        words.next().map_or(Ok(statistic), |word| Err(refuse(word, "nothing more")))
    }
}

impl Serialize for Statistic {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Statistic {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Statistic::Min => "min",
            Statistic::Mean => "mean",
            Statistic::Max => "max",
            Statistic::First => "first",
            Statistic::Last => "last",
            Statistic::Grown => "grown",
            Statistic::Sum => "sum",
            Statistic::Count => "count",
            Statistic::Lost => "lost",
            Statistic::Jain => "jain",
            Statistic::Percentile(p) => return write!(f, "p{}", libm::round(p * 1e6) / 1e4),
            Statistic::Reaches(level) => return write!(f, "reaches {level}"),
        };
        f.write_str(word)
    }
}
