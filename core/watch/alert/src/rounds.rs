//! Groups samples into rounds, each with its loss and its median, for SmokePing's patterns.
use crate::pattern::Value;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_stats::upper_median;
use fathom_units::{Duration, WallTime};
use fathom_watch_samples::{Code, Sample, Tally};

/// The rounds of one length of a series.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    length: Duration,
    /// How long after its end a round still accepts losses.
    wait: Duration,
    most: usize,
    /// Percent and milliseconds, oldest first. Both begin with the start mark.
    pub(crate) loss: VecDeque<Value>,
    pub(crate) rtt: VecDeque<Value>,
    /// Rounds that have not ended, by number.
    open: Vec<Open>,
    /// Number of the last closed round.
    closed: Option<u64>,
}

#[derive(Clone, Default, Debug)]
struct Open {
    number: u64,
    tally: Tally,
    delays: Vec<f64>,
}

impl Rounds {
    pub(crate) fn new(length: Duration, wait: Duration, most: usize) -> Self {
        let start = || VecDeque::from([Value::Start]);
        Rounds { length, wait, most, loss: start(), rtt: start(), open: Vec::new(), closed: None }
    }
    /// Restores the values of an earlier run.
    pub(crate) fn resume(&mut self, loss: &[Value], rtt: &[Value]) {
        if !loss.is_empty() && loss.len() == rtt.len() {
            self.loss = loss.iter().copied().collect();
            self.rtt = rtt.iter().copied().collect();
        }
    }
    const fn number(&self, at: WallTime) -> u64 {
        at.0 / self.length.as_nanos()
    }
    pub(crate) fn add(&mut self, sample: Sample) {
        let number = self.number(sample.at);
        if self.closed.is_some_and(|closed| number <= closed) {
            return;
        }
        let known = self.open.iter().position(|round| round.number == number);
        if known.is_none() {
            self.open.push(Open { number, ..Open::default() });
        }
        let index = known.unwrap_or(self.open.len() - 1);
        if let Some(round) = self.open.get_mut(index) {
            let code = Code::of(sample.outcome);
            round.tally.add(code);
            round.delays.extend(code.value());
        }
    }
    /// Closes the next round that ended; returns whether there was one.
    pub(crate) fn close_one(&mut self, now: WallTime) -> bool {
        let current = self.number(now);
        // Future rounds are from before the clock was set back.
        self.closed = self.closed.filter(|closed| *closed <= current);
        self.open.retain(|round| round.number <= current + 1);
        let Some(first) = self.open.iter().map(|round| round.number).min() else { return false };
        // After a long pause, skip the rounds without samples.
        let next =
            self.closed.filter(|c| first.saturating_sub(*c) <= self.most as u64).map_or(first, |c| c + 1);
        let end = (next + 1).saturating_mul(self.length.as_nanos()).saturating_add(self.wait.as_nanos());
        if end > now.0 {
            return false;
        }
        let at = self.open.iter().position(|round| round.number == next);
        let round = at.map(|index| self.open.swap_remove(index)).unwrap_or_default();
        self.closed = Some(next);
        self.push(round);
        true
    }
    fn push(&mut self, round: Open) {
        self.loss.push_back(round.tally.loss_ratio().map_or(Value::Unknown, |r| Value::Number(r * 100.0)));
        // SmokePing uses the upper median.
        let median = upper_median(round.delays);
        self.rtt.push_back(median.map_or(Value::Unknown, |s| Value::Number(s * 1_000.0)));
        while self.loss.len() > self.most {
            self.loss.pop_front();
            self.rtt.pop_front();
        }
    }
}

/// The newest values as text: `0%, 0%, 40%`.
pub(crate) fn shown(values: &VecDeque<Value>, unit: &str) -> alloc::string::String {
    let newest = values.iter().skip(values.len().saturating_sub(SHOWN));
    let one = |value: &Value| match value {
        Value::Start => "S".into(),
        Value::Unknown => "U".into(),
        Value::Number(number) => alloc::format!("{number:.0}{unit}"),
    };
    newest.map(one).collect::<Vec<alloc::string::String>>().join(", ")
}

/// Most values that are shown.
const SHOWN: usize = 12;
