//! Echo requests of a text log, in which lost ones leave gaps.
use crate::error::Problem;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use fathom_run::{Observation, Series, SeriesKey, Value};
use fathom_units::Time;

/// Most probes of one series: a damaged number must not become a long list of lost ones.
const MAX_PROBES: u64 = 4_000_000;
/// Sequence numbers of ICMP have 16 bits.
const WRAP: u64 = 1 << 16;

/// The response to an echo request.
#[derive(Clone, Copy)]
struct Echo {
    /// Send time by the wall clock, if the log has it.
    sent_s: Option<f64>,
    rtt_s: f64,
}

/// The echo requests to one target.
#[derive(Default)]
pub(crate) struct Echoes {
    by_number: BTreeMap<u64, Echo>,
    duplicates: u32,
    reordered: u32,
    /// First and last number known.
    first: Option<u64>,
    last: u64,
}

impl Echoes {
    /// Adds a response. `sequence` may wrap at 16 bits. `received_s` is the time of its arrival.
    pub(crate) fn answer(&mut self, sequence: u64, rtt_s: f64, received_s: Option<f64>) {
        let number = self.unwrapped(sequence);
        let is_late = self.by_number.last_key_value().is_some_and(|(last, _)| *last > number);
        let echo = Echo { sent_s: received_s.map(|at| at - rtt_s), rtt_s };
        if self.by_number.contains_key(&number) {
            self.duplicates = self.duplicates.saturating_add(1);
        } else {
            self.reordered = self.reordered.saturating_add(u32::from(is_late));
            self.by_number.insert(number, echo);
            self.sent(number);
        }
    }
    /// Adds a probe without a response.
    pub(crate) fn lost(&mut self, sequence: u64) {
        let number = self.unwrapped(sequence);
        self.sent(number);
    }
    /// Number of probes by the summary of the tool; shows those lost at the end.
    pub(crate) fn total(&mut self, count: u64) {
        if let (Some(first), Some(before)) = (self.first, count.checked_sub(1)) {
            self.last = self.last.max(first.saturating_add(before));
        } else if count > 0 {
            self.sent(count);
            self.first = Some(1);
        }
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.first.is_none()
    }
    /// Number of probes.
    fn count(&self) -> u64 {
        self.first.map_or(0, |first| (self.last - first).saturating_add(1))
    }
    fn sent(&mut self, number: u64) {
        self.first = Some(self.first.map_or(number, |first| first.min(number)));
        self.last = self.last.max(number);
    }
    /// The sequence number without wrapping: the one closest to the last.
    fn unwrapped(&self, sequence: u64) -> u64 {
        if self.first.is_none() || sequence >= WRAP {
            return sequence;
        }
        let near = (self.last / WRAP * WRAP).saturating_add(sequence);
        if near.saturating_add(WRAP / 2) < self.last { near.saturating_add(WRAP) } else { near }
    }
    /// First and last answered probe with a send time by the wall clock.
    fn timed(&self) -> Option<[(u64, f64); 2]> {
        let mut timed = self.by_number.iter().filter_map(|(number, echo)| Some((*number, echo.sent_s?)));
        let first = timed.next()?;
        Some([first, timed.next_back().unwrap_or(first)])
    }
    /// Mean time between two probes by the wall clock.
    pub(crate) fn interval_s(&self) -> Option<f64> {
        let [(first, from_s), (last, to_s)] = self.timed()?;
        let interval_s = (to_s - from_s) / (last - first) as f64;
        (interval_s.is_finite() && interval_s >= 0.0).then_some(interval_s)
    }
    /// Send time of the first probe by the wall clock, which may be one of those lost.
    pub(crate) fn start_s(&self, interval_s: f64) -> Option<f64> {
        let [(first, from_s), _] = self.timed()?;
        Some(from_s - (first - self.first?) as f64 * interval_s)
    }
    /// The series in send order. A log with times of arrival has the send times of the answered
    /// probes, and lost ones were sent between them; otherwise they were `interval_s` apart.
    pub(crate) fn series(
        &self,
        key: SeriesKey,
        start_s: Option<f64>,
        interval_s: f64,
    ) -> Result<Series, Problem> {
        let mut series = Series::new(key);
        (series.duplicates, series.reordered) = (self.duplicates, self.reordered);
        let Some(first) = self.first else { return Ok(series) };
        if self.count() > MAX_PROBES {
            return Err(Problem::Damaged(format!("a list of probes exceeds the limit of {MAX_PROBES}")));
        }
        let times = self.times(first, start_s, interval_s)?;
        let end = self.end(first, &times);
        for (number, at) in (first..=self.last).zip(&times) {
            let value = match self.by_number.get(&number) {
                Some(echo) => Value::Observed(echo.rtt_s),
                // It was waited for until the last response at least.
                None => Value::Censored { at_least: end.saturating_sub(*at) as f64 / 1e9 },
            };
            series.push(Observation { at: Time::from_nanos(*at), value });
        }
        Ok(series)
    }
    /// Send time of each probe, in ns of the run.
    fn times(&self, first: u64, start_s: Option<f64>, interval_s: f64) -> Result<Vec<u64>, Problem> {
        let known = |number: &u64| Some(self.by_number.get(number)?.sent_s? - start_s?);
        let mut answered = self.by_number.keys().copied().peekable();
        let mut times = Vec::new();
        // Number and time of the last probe with a time.
        let (mut from, mut from_s) = (first, 0.0);
        let mut latest = 0;
        for number in first..=self.last {
            let is_answered = answered.next_if_eq(&number).is_some();
            let seconds = match known(&number).filter(|_| is_answered) {
                Some(at_s) => {
                    (from, from_s) = (number, at_s);
                    at_s
                }
                None => {
                    let step_s = match answered.peek().and_then(|next| Some((*next, known(next)?))) {
                        Some((next, next_s)) => (next_s - from_s) / (next - from).max(1) as f64,
                        None => interval_s,
                    };
                    from_s + (number - from) as f64 * step_s
                }
            };
            // The wall clock may be set back, and times are rounded.
            latest = crate::draft::nanos(seconds.max(0.0))?.max(latest);
            times.push(latest);
        }
        Ok(times)
    }
    /// Arrival of the last response, or the last send time.
    fn end(&self, first: u64, times: &[u64]) -> u64 {
        let arrivals = self.by_number.iter().filter_map(|(number, echo)| {
            let at = times.get((number - first) as usize)?;
            Some(at.saturating_add((echo.rtt_s * 1e9) as u64))
        });
        arrivals.max().max(times.last().copied()).unwrap_or(0)
    }
}
