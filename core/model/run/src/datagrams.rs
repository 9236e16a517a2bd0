//! How long each datagram of a call, a game or a camera took, and what that makes of it.
use crate::{Call, Observation, Series, SeriesKey, Value};
use alloc::vec::Vec;
use fathom_stats::Sample;
use fathom_units::{Duration, Time};

/// A call is judged so often: 250 packets give a 95th percentile.
const CALL_WINDOW: Duration = Duration::from_secs(5);
/// Share of a call's packets that its playout waits for, as the score has it.
const PLAYED: f64 = 0.95;

/// The datagrams of one sender in order: when each was sent, and how long it took if it arrived.
#[derive(Clone, Default, Debug)]
pub struct DatagramLog(Vec<(Time, Option<Duration>)>);

impl DatagramLog {
    /// Nothing was sent.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// The next one leaves.
    pub fn sent(&mut self, at: Time) {
        self.0.push((at, None));
    }
    /// The one of this number, counted from 0, arrived. Of one that came twice, the first counts.
    pub fn arrived(&mut self, number: u32, delay: Duration) {
        if let Some((_, took)) = self.0.get_mut(number as usize) {
            took.get_or_insert(delay);
        }
    }
    /// When the one of this number was sent.
    pub fn sent_at(&self, number: u32) -> Option<Time> {
        self.0.get(number as usize).map(|(sent, _)| *sent)
    }
    /// The delay of each; what did not arrive by `end` is censored.
    pub fn delays(&self, key: SeriesKey, end: Time) -> Series {
        let mut series = Series::new(key);
        for (sent, took) in &self.0 {
            let value = match took {
                Some(took) => Value::Observed(took.as_secs_f64()),
                None => Value::Censored { at_least: end.saturating_since(*sent).as_secs_f64() },
            };
            series.push(Observation { at: *sent, value });
        }
        series
    }
    /// The E-model's opinion of each window of the call. What did not arrive by the end is lost.
    pub fn quality(&self, key: SeriesKey) -> Series {
        let mut series = Series::new(key);
        let Some((begin, _)) = self.0.first() else { return series };
        let window = |at: &Time| at.saturating_since(*begin).as_nanos() / CALL_WINDOW.as_nanos();
        for packets in self.0.chunk_by(|a, b| window(&a.0) == window(&b.0)) {
            let heard: Vec<f64> =
                packets.iter().filter_map(|(_, took)| took.map(Duration::as_secs_f64)).collect();
            let lost = 1.0 - heard.len() as f64 / packets.len() as f64;
            let played = Sample::new(heard.into_iter().map(|delay| (delay, false))).percentile(PLAYED);
            let call = played.map_or(1.0, |delay| Call::new(delay.value, lost).mos);
            series.push(Observation { at: packets[0].0, value: Value::Observed(call) });
        }
        series
    }
    /// How much later than the quickest each update came.
    pub fn lateness(&self, key: SeriesKey) -> Series {
        let quickest = self.0.iter().filter_map(|(_, took)| *took).min().unwrap_or_default();
        let mut series = Series::new(key);
        for (sent, took) in self.0.iter().filter_map(|(sent, took)| Some((*sent, (*took)?))) {
            series.push(Observation { at: sent, value: Value::Observed((took - quickest).as_secs_f64()) });
        }
        series
    }
}
