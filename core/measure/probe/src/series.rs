//! Series of observations from one kind of probe, with the outcome of every probe.
use crate::{Book, LossPolicy, Probe, Reply};
use alloc::vec::Vec;
use fathom_run::{NotSent, Observation, Series, SeriesKey, Value};
use fathom_units::{Duration, Time};

#[derive(Clone, Copy, PartialEq, Debug)]
enum Outcome {
    Outstanding,
    Answered(Duration),
    /// The connection broke this long after sending, so the probe can no longer be answered.
    GivenUp(Duration),
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    sent: Time,
    outcome: Outcome,
}

/// A reply to a probe of a series.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SeriesReply {
    /// Sequence number of the probe.
    pub sequence: u32,
    /// Send time of the probe.
    pub sent: Time,
    /// What kind of reply it is, and its delay.
    pub reply: Reply,
    /// TTL or hop limit of the reply, if the kernel reports it.
    pub hop_limit: Option<u8>,
}

/// A [`Book`] that stores every probe and becomes a [`Series`]. Late replies count too.
#[derive(Clone, Debug)]
pub struct ProbeSeries {
    book: Book,
    /// By sequence number, from `first` on.
    entries: Vec<Entry>,
    /// Number of the first probe that was not forgotten.
    first: u32,
    largest: Duration,
    series: Series,
    /// All replies since they were last taken, if anybody takes them.
    log: Option<Vec<SeriesReply>>,
}

impl ProbeSeries {
    /// Creates an empty series with this key.
    pub const fn new(key: SeriesKey) -> Self {
        let book = Book::new(LossPolicy::NEVER);
        let series = Series::new(key);
        ProbeSeries { book, entries: Vec::new(), first: 0, largest: Duration::ZERO, series, log: None }
    }
    /// Keeps the replies from now on, also duplicate ones, until [`ProbeSeries::take_replies`].
    pub fn log_replies(&mut self) {
        self.log = Some(Vec::new());
    }
    /// The replies since the last call, in the order of their arrival.
    pub fn take_replies(&mut self) -> Vec<SeriesReply> {
        self.log.as_mut().map(core::mem::take).unwrap_or_default()
    }
    /// Key of the series.
    pub const fn key(&self) -> &SeriesKey {
        &self.series.key
    }
    /// Sequence number of the next probe, which is the number of probes sent.
    pub const fn next_sequence(&self) -> u32 {
        self.book.next_sequence()
    }
    /// Records a probe sent at `at` and returns its sequence number. Times must not decrease.
    pub fn sent(&mut self, at: Time) -> u32 {
        self.entries.push(Entry { sent: at, outcome: Outcome::Outstanding });
        self.book.send((), at).sequence
    }
    /// Records due probes that could not be sent.
    pub fn not_sent(&mut self, reason: NotSent, count: u32) {
        if count > 0 {
            let counted = self.series.not_sent.entry(reason).or_insert(0);
            *counted = counted.saturating_add(count);
        }
    }
    /// Corrects the departure time of an outstanding probe, but not the time of its observation.
    pub fn departed(&mut self, sequence: u32, at: Time) {
        self.book.departed(sequence, at);
    }
    /// Departure time of an outstanding probe.
    pub fn departure_of(&self, sequence: u32) -> Option<Time> {
        self.book.sent_at(sequence)
    }
    /// Records a reply to probe `sequence`; returns the observation if it is the first one.
    pub fn reply(&mut self, sequence: u32, received: Time) -> Option<Observation> {
        self.reply_with(sequence, received, None)
    }
    /// As [`ProbeSeries::reply`], with the TTL or hop limit of the reply.
    pub fn reply_with(
        &mut self,
        sequence: u32,
        received: Time,
        hop_limit: Option<u8>,
    ) -> Option<Observation> {
        let entry = self.entries.get_mut(sequence.checked_sub(self.first)? as usize)?;
        let sent = entry.sent;
        let reply = self.book.reply(&Probe { sequence, at: (), sent }, received);
        if let Some(log) = &mut self.log {
            log.push(SeriesReply { sequence, sent, reply, hop_limit });
        }
        if !reply.is_first() {
            self.series.duplicates += 1;
            return None;
        }
        entry.outcome = Outcome::Answered(reply.delay);
        self.largest = self.largest.max(reply.delay);
        self.series.reordered += u32::from(reply.is_reordered);
        Some(Observation { at: entry.sent, value: Value::Observed(reply.delay.as_secs_f64()) })
    }
    /// Records that the connection of probe `sequence` broke at `at`, so it cannot be answered.
    pub fn give_up(&mut self, sequence: u32, at: Time) {
        let was_outstanding = self.book.give_up(sequence);
        let place = sequence.checked_sub(self.first).filter(|_| was_outstanding);
        if let Some(entry) = place.and_then(|place| self.entries.get_mut(place as usize)) {
            entry.outcome = Outcome::GivenUp(at.saturating_since(entry.sent));
        }
    }
    /// Forgets the probes that were sent before this time: later replies to them are ignored, and
    /// [`ProbeSeries::close`] does not return them. For probes without an end.
    pub fn forget_before(&mut self, time: Time) {
        let old = self.entries.partition_point(|entry| entry.sent < time) as u32;
        for sequence in self.first..self.first + old {
            self.book.give_up(sequence);
        }
        self.entries.drain(..old as usize);
        self.first += old;
    }
    /// Number of outstanding probes.
    pub fn outstanding(&self) -> usize {
        self.book.outstanding()
    }
    /// Number of outstanding probes that were sent at `since` or later.
    pub fn outstanding_since(&self, since: Time) -> u32 {
        let recent = self.entries.iter().rev().take_while(|entry| entry.sent >= since);
        recent.filter(|entry| entry.outcome == Outcome::Outstanding).count() as u32
    }
    /// Departure time of the oldest outstanding probe.
    pub fn oldest_outstanding(&self) -> Option<Time> {
        self.book.oldest_outstanding()
    }
    /// The largest delay so far.
    pub const fn largest_delay(&self) -> Duration {
        self.largest
    }
    /// Whether any probe was answered.
    pub const fn has_replies(&self) -> bool {
        self.book.has_replies()
    }
    /// Send time of each probe, by sequence number.
    pub fn sent_times(&self) -> impl Iterator<Item = Time> + '_ {
        self.entries.iter().map(|entry| entry.sent)
    }
    /// The series in send order. Probes without a reply at `at` are censored with the time waited.
    pub fn close(self, at: Time) -> Series {
        let mut series = self.series;
        for entry in self.entries {
            let censored = |waited: Duration| Value::Censored { at_least: waited.as_secs_f64() };
            let value = match entry.outcome {
                Outcome::Answered(delay) => Value::Observed(delay.as_secs_f64()),
                Outcome::GivenUp(waited) => censored(waited),
                Outcome::Outstanding => censored(at.saturating_since(entry.sent)),
            };
            series.push(Observation { at: entry.sent, value });
        }
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use fathom_run::Metric;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    const fn sent_at(sequence: u32) -> Time {
        Time::from_nanos(sequence as u64 * 50_000_000)
    }
    fn with(probes: u32) -> ProbeSeries {
        let mut series = ProbeSeries::new(SeriesKey::of(Metric::UdpRtt));
        for n in 0..probes {
            assert_eq!(series.sent(sent_at(n)), n);
        }
        series
    }

    #[test]
    fn late_replies_count() {
        let mut series = with(20_000);
        // 716 s were seen once on an LTE line.
        let late = Duration::from_secs(716);
        let expected = Observation { at: Time::ZERO, value: Value::Observed(716.0) };
        assert_eq!(series.reply(0, sent_at(0) + late), Some(expected));
        assert_eq!(series.largest_delay(), late);
        assert_eq!(series.outstanding(), 19_999);
        assert_eq!(series.close(Time::from_nanos(1)).values[0], 716.0);
    }

    #[test]
    fn forgotten_probes_take_no_memory_and_get_no_replies() {
        let mut series = with(20);
        assert!(series.reply(3, sent_at(3) + MS(1)).is_some());
        series.forget_before(sent_at(10));
        assert_eq!((series.outstanding(), series.oldest_outstanding()), (10, Some(sent_at(10))));
        assert_eq!(series.reply(9, sent_at(20)), None);
        assert!(series.reply(10, sent_at(10) + MS(1)).is_some());
        assert_eq!(series.sent(sent_at(20)), 20);
        series.give_up(20, sent_at(21));
        series.forget_before(sent_at(10));
        assert_eq!(series.close(sent_at(30)).values.len(), 11);
    }

    #[test]
    fn duplicate_reordered_and_unknown_replies_are_distinguished() {
        let mut series = with(5);
        let order = [0, 2, 2, 1, 4, 3, 9];
        let first = order.map(|n: u32| series.reply(n, sent_at(n) + MS(1)).is_some());
        assert_eq!(first, [true, true, false, true, true, true, false]);
        let series = series.close(Time::ZERO);
        assert_eq!((series.duplicates, series.reordered), (1, 2));
    }

    #[test]
    fn unanswered_probes_are_censored_at_the_time_waited() {
        let mut series = with(4);
        assert!(!series.has_replies());
        series.reply(0, sent_at(0) + MS(30));
        assert_eq!(series.oldest_outstanding(), Some(sent_at(1)));
        series.give_up(1, Time::from_nanos(90_000_000));
        series.reply(2, sent_at(2) + MS(7));
        assert_eq!(series.oldest_outstanding(), Some(sent_at(3)));
        series.not_sent(NotSent::NotRunInTime, 2);
        series.not_sent(NotSent::NotRunInTime, 1);
        let series = series.close(Time::from_nanos(1_150_000_000));
        assert_eq!(series.values, vec![0.030, 0.040, 0.007, 1.0]);
        assert_eq!(series.censored, vec![1, 3]);
        assert_eq!(series.not_sent[&NotSent::NotRunInTime], 3);
        assert!(series.at_ns.is_sorted());
    }

    #[test]
    fn a_reply_after_giving_up_is_not_a_second_outcome() {
        let mut series = with(1);
        series.give_up(0, Time::from_nanos(10));
        series.give_up(0, Time::from_nanos(20));
        assert_eq!(series.reply(0, sent_at(0) + MS(1)), None);
        assert_eq!(series.outstanding(), 0);
        let closed = series.close(Time::ZERO);
        assert_eq!((closed.values, closed.duplicates), (vec![10e-9], 1));
    }

    #[test]
    fn a_delay_counts_from_the_departure_and_its_observation_from_the_call() {
        let mut series = with(2);
        series.departed(1, sent_at(1) + MS(2));
        assert_eq!(series.departure_of(1), Some(sent_at(1) + MS(2)));
        let expected = Observation { at: sent_at(1), value: Value::Observed(0.010) };
        assert_eq!(series.reply(1, sent_at(1) + MS(12)), Some(expected));
        assert_eq!(series.departure_of(1), None);
    }
}
