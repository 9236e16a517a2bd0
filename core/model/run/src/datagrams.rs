//! Delay of each datagram of a call, a game or a video stream, and the quality that results.
use crate::{Call, Observation, Series, SeriesKey, Value};
use alloc::vec::Vec;
use fathom_stats::Sample;
use fathom_units::{Duration, Time};

/// Window over which call quality is rated: its 250 packets are enough for a 95th percentile.
const CALL_WINDOW: Duration = Duration::from_secs(5);
/// Window over which missed deadlines are counted.
const GAME_WINDOW: Duration = Duration::from_secs(1);
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
    /// Mean opinion score of each window of the call; missing datagrams count as lost. A window
    /// starts at the first datagram, and at each of the ascending times `cuts`.
    pub fn quality(&self, key: SeriesKey, cuts: &[Time]) -> Series {
        let mut series = Series::new(key);
        for packets in self.windows(CALL_WINDOW, cuts) {
            let heard: Vec<f64> =
                packets.iter().filter_map(|(_, took)| took.map(Duration::as_secs_f64)).collect();
            let lost = 1.0 - heard.len() as f64 / packets.len() as f64;
            let played = Sample::new(heard.into_iter().map(|delay| (delay, false))).percentile(PLAYED);
            let call = played.map_or(1.0, |delay| Call::new(delay.value, lost).mos);
            series.push(Observation { at: packets[0].0, value: Value::Observed(call) });
        }
        series
    }
    /// Datagrams by windows of this length, from the first on and from each of `cuts`.
    fn windows(&self, length: Duration, cuts: &[Time]) -> impl Iterator<Item = &[(Time, Option<Duration>)]> {
        let first = self.0.first().map_or(Time::ZERO, |(at, _)| *at);
        let window = move |at: &Time| {
            let passed = cuts.partition_point(|cut| cut <= at);
            let begin = passed.checked_sub(1).map_or(first, |last| cuts[last].max(first));
            (passed, at.saturating_since(begin).as_nanos() / length.as_nanos())
        };
        self.0.chunk_by(move |a, b| window(&a.0) == window(&b.0))
    }
    fn quickest(&self) -> Duration {
        self.0.iter().filter_map(|(_, took)| *took).min().unwrap_or_default()
    }
    /// Share of each second's datagrams that were lost, or were later than `deadline` above the
    /// minimum delay.
    pub fn misses(&self, key: SeriesKey, deadline: Duration) -> Series {
        let (mut series, latest) = (Series::new(key), self.quickest() + deadline);
        for packets in self.windows(GAME_WINDOW, &[]) {
            let missed = packets.iter().filter(|(_, took)| took.is_none_or(|took| took > latest)).count();
            let ratio = missed as f64 / packets.len() as f64;
            series.push(Observation { at: packets[0].0, value: Value::Observed(ratio) });
        }
        series
    }
    /// Delay of each datagram above the minimum delay.
    pub fn lateness(&self, key: SeriesKey) -> Series {
        let quickest = self.quickest();
        let mut series = Series::new(key);
        for (sent, took) in self.0.iter().filter_map(|(sent, took)| Some((*sent, (*took)?))) {
            series.push(Observation { at: sent, value: Value::Observed((took - quickest).as_secs_f64()) });
        }
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Metric;

    const MS: Duration = Duration::from_millis(1);

    /// A datagram every 100 ms for 3 s. From 1 s to 2 s, every other one is lost; later, each takes
    /// 150 ms more.
    fn log() -> DatagramLog {
        let mut log = DatagramLog::default();
        for number in 0..30 {
            log.sent(Time::ZERO + MS * 100 * u64::from(number));
            match number {
                10..20 if number % 2 == 0 => {}
                20.. => log.arrived(number, MS * 170),
                _ => log.arrived(number, MS * 20),
            }
        }
        log
    }

    #[test]
    fn late_and_lost_updates_miss_the_deadline() {
        let misses = |deadline| log().misses(SeriesKey::of(Metric::DeadlineMisses), MS * deadline).values;
        assert_eq!(misses(100), [0.0, 0.5, 1.0]);
        assert_eq!(misses(150), [0.0, 0.5, 0.0]);
    }

    #[test]
    fn a_rating_of_a_call_does_not_mix_two_phases() {
        let key = SeriesKey::of(Metric::CallMos);
        let cut = Time::ZERO + MS * 1_000;
        assert_eq!(log().quality(key.clone(), &[]).at_ns, [0]);
        let rated = log().quality(key, &[cut, Time::ZERO + MS * 2_000]);
        assert_eq!(rated.at_ns, [0, 1_000_000_000, 2_000_000_000]);
        let expected = [Call::new(0.02, 0.0), Call::new(0.02, 0.5), Call::new(0.17, 0.0)];
        assert_eq!(rated.values, expected.map(|call| call.mos));
    }
}
