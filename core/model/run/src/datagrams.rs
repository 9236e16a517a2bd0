//! Delay of each datagram of a call, a game or a video stream, and the quality that results.
use crate::{Call, Observation, Series, SeriesKey, Value};
use alloc::vec::Vec;
use fathom_stats::Sample;
use fathom_units::{Duration, Time};

/// Window over which call quality is rated: its 250 packets are enough for a 95th percentile.
const CALL_WINDOW: Duration = Duration::from_secs(5);
/// Share of a call's packets that arrive before playout, as defined by the call score.
const PLAYED: f64 = 0.95;

/// The datagrams of one sender in order: the send time of each, and its delay if it arrived.
#[derive(Clone, Default, Debug)]
pub struct DatagramLog(Vec<(Time, Option<Duration>)>);

impl DatagramLog {
    /// Whether no datagram was sent.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Records that the next datagram was sent.
    pub fn sent(&mut self, at: Time) {
        self.0.push((at, None));
    }
    /// Records the arrival of a datagram, numbered from 0. Duplicates are ignored.
    pub fn arrived(&mut self, number: u32, delay: Duration) {
        if let Some((_, took)) = self.0.get_mut(number as usize) {
            took.get_or_insert(delay);
        }
    }
    /// Send time of a datagram.
    pub fn sent_at(&self, number: u32) -> Option<Time> {
        self.0.get(number as usize).map(|(sent, _)| *sent)
    }
    /// Delay of each datagram; one that did not arrive by `end` is censored.
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
    /// Mean opinion score of each window of the call; missing datagrams count as lost.
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
    /// Delay of each datagram above the minimum delay.
    pub fn lateness(&self, key: SeriesKey) -> Series {
        let quickest = self.0.iter().filter_map(|(_, took)| *took).min().unwrap_or_default();
        let mut series = Series::new(key);
        for (sent, took) in self.0.iter().filter_map(|(sent, took)| Some((*sent, (*took)?))) {
            series.push(Observation { at: sent, value: Value::Observed((took - quickest).as_secs_f64()) });
        }
        series
    }
}
