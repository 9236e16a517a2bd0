//! Transmission opportunities in mahimahi's format.
use super::parse::TraceError;
use alloc::sync::Arc;
use alloc::vec::Vec;
use fathom_units::{Bytes, Duration, Rate, Time};

const NANOS_PER_MS: u64 = 1_000_000;

/// 1500 bytes and the 4-byte header of TUN devices. Source: mahimahi's `link_queue.hh`.
const OPPORTUNITY: Bytes = Bytes(1504);

/// Times in ms at which [`OpportunityTrace::OPPORTUNITY`] bytes may pass; the last is the period.
#[derive(Clone, PartialEq, Debug)]
pub struct OpportunityTrace {
    times: Vec<u32>,
    period: u64,
    /// Number of times equal to the period; they coincide with time zero of the next period.
    at_the_end: u64,
}

impl OpportunityTrace {
    /// Bytes per opportunity.
    pub const OPPORTUNITY: Bytes = OPPORTUNITY;

    /// Creates a trace from `times` in milliseconds.
    ///
    /// # Errors
    /// Returns what is wrong with which time, counted from 1: no times, decreasing times, or a
    /// period of zero.
    pub fn new(times: Vec<u32>) -> Result<Self, TraceError> {
        let Some(last) = times.last().copied() else {
            return Err(TraceError::new(1, "the trace has no times"));
        };
        if let Some(at) = times.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(TraceError::new(at + 2, "times must not decrease"));
        }
        if last == 0 {
            let what = "the last time is the period and must be above 0";
            return Err(TraceError::new(times.len(), what));
        }
        let at_the_end = times.iter().rev().take_while(|time| **time == last).count() as u64;
        Ok(OpportunityTrace { times, period: u64::from(last), at_the_end })
    }

    /// The mean rate over a period.
    pub(crate) fn nominal_rate(&self) -> Rate {
        let bytes = Bytes(OPPORTUNITY.get() * self.times.len() as u64);
        Rate::from_bytes_per(bytes, Duration::from_millis(self.period))
    }

    /// The time of opportunity `number`, counted from 0.
    fn time(&self, number: u64) -> Time {
        let (rounds, place) = (number / self.count(), number % self.count());
        let ms = u128::from(rounds) * u128::from(self.period) + u128::from(self.times[place as usize]);
        Time::from_nanos(u64::try_from(ms * u128::from(NANOS_PER_MS)).unwrap_or(u64::MAX))
    }

    /// The number of the first opportunity at or after `time`.
    fn first_from(&self, time: Time) -> u64 {
        let ms = time.as_nanos().div_ceil(NANOS_PER_MS);
        let (rounds, within) = (ms / self.period, ms % self.period);
        let earlier = self.times.partition_point(|each| u64::from(*each) < within) as u64;
        let number = rounds * self.count() + earlier;
        if within == 0 && rounds > 0 { number - self.at_the_end } else { number }
    }

    const fn count(&self) -> u64 {
        self.times.len() as u64
    }
}

/// A transmitter that uses the opportunities of a trace.
///
/// A packet may use the rest of an opportunity if it is ready in time; otherwise the rest is lost.
/// A packet longer than an opportunity uses several; mahimahi aborts instead.
pub(crate) struct Opportunities {
    trace: Arc<OpportunityTrace>,
    /// The next opportunity, or the current one if some of it is left.
    number: u64,
    left: u64,
}

impl Opportunities {
    pub(crate) const fn new(trace: Arc<OpportunityTrace>) -> Self {
        Opportunities { trace, number: 0, left: OPPORTUNITY.get() }
    }
    pub(crate) fn ready(&mut self, now: Time) -> Time {
        if self.trace.time(self.number) < now {
            (self.number, self.left) = (self.trace.first_from(now), OPPORTUNITY.get());
        }
        self.trace.time(self.number)
    }
    pub(crate) fn send(&mut self, len: Bytes, start: Time) -> Time {
        self.ready(start);
        let mut end = self.trace.time(self.number);
        let mut len = len.get();
        while len > 0 {
            end = self.trace.time(self.number);
            let passed = len.min(self.left);
            len -= passed;
            self.left -= passed;
            if self.left == 0 {
                (self.number, self.left) = (self.number + 1, OPPORTUNITY.get());
            }
        }
        end
    }
}
