//! The text formats of traces.
use super::{OpportunityTrace, RateTrace, Trace};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use fathom_units::{Duration, Rate};

/// Forty minutes in mahimahi's format at 10 Mbit/s (831 lines of 8 bytes per second).
const MAX_BYTES: usize = 16 << 20;
/// Two days, like the longest run.
const MAX_TIME: Duration = Duration::from_secs(48 * 3600);
/// The bound of other links too; see `core/model/scenario`.
const MAX_RATE: Rate = Rate::from_bits_per_second(1_000_000_000_000);

/// A parse error of a trace, with its line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceError {
    /// Line number, from 1.
    pub line: usize,
    /// What is wrong, and what is expected.
    pub what: String,
}

impl TraceError {
    pub(super) fn new(line: usize, what: &str) -> Self {
        TraceError { line, what: what.to_string() }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}
impl core::error::Error for TraceError {}

pub(super) fn parse(text: &str) -> Result<Trace, TraceError> {
    if text.len() > MAX_BYTES {
        let what = format!("the trace has {} bytes, but at most {MAX_BYTES} are supported", text.len());
        return Err(TraceError { line: 1, what });
    }
    match content(text).next() {
        None => {
            Err(TraceError::new(1, "the trace is empty (expected \"0s 20mbit\" or a time in milliseconds)"))
        }
        Some((_, first)) if first.contains(char::is_whitespace) => rates(text),
        Some(_) => opportunities(text),
    }
}

/// Lines with content, and their numbers.
fn content(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let words = text.lines().map(|line| line.split('#').next().unwrap_or("").trim());
    words.enumerate().map(|(at, line)| (at + 1, line)).filter(|(_, line)| !line.is_empty())
}

/// Converts an error that counts steps to one that counts lines.
fn at_step(error: TraceError, text: &str) -> TraceError {
    let line = content(text).take(error.line).last().map_or(1, |(number, _)| number);
    TraceError { line, ..error }
}

fn rates(text: &str) -> Result<Trace, TraceError> {
    let mut steps = Vec::new();
    let mut period = None;
    for (line_number, line) in content(text) {
        let refuse = |what: String| TraceError { line: line_number, what };
        if period.is_some() {
            return Err(refuse(format!("\"{line}\" comes after \"loop\", which must be the last line")));
        }
        let (time, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let time: Duration = time.parse().map_err(|error| refuse(format!("{error}")))?;
        if time > MAX_TIME {
            return Err(refuse(format!("invalid time {time} (expected at most 48 hours)")));
        }
        match rest.trim() {
            "loop" => period = Some(time),
            rest => steps.push((time, rate(rest).map_err(refuse)?)),
        }
    }
    let trace = RateTrace::new(&steps, period).map_err(|error| at_step(error, text))?;
    Ok(Trace::Rates(Arc::new(trace)))
}

fn rate(text: &str) -> Result<Rate, String> {
    if text.is_empty() {
        return Err(
            "the rate after the time is missing (expected for example \"12.5s 20mbit\" or \"30s loop\")"
                .to_string(),
        );
    }
    let rate: Rate = text.parse().map_err(|error| format!("{error}"))?;
    if rate > MAX_RATE { Err(format!("invalid rate \"{text}\" (expected at most 1Tbit)")) } else { Ok(rate) }
}

fn opportunities(text: &str) -> Result<Trace, TraceError> {
    let most = MAX_TIME.as_nanos() / 1_000_000;
    let mut times = Vec::new();
    for (line_number, line) in content(text) {
        let digits = line.bytes().all(|byte| byte.is_ascii_digit());
        let time = line.parse::<u32>().ok().filter(|time| digits && u64::from(*time) <= most);
        times.push(time.ok_or_else(|| {
            let what = format!("invalid time \"{line}\" (expected whole milliseconds, at most {most})");
            TraceError { line: line_number, what }
        })?);
    }
    let trace = OpportunityTrace::new(times).map_err(|error| at_step(error, text))?;
    Ok(Trace::Opportunities(Arc::new(trace)))
}
