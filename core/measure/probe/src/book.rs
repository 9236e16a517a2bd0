//! The book of one kind of probe: what was sent, what came back, when.
use alloc::string::ToString;
use alloc::vec::Vec;
use fathom_run::{Observation, Series, SeriesKey, Value};
use fathom_units::{Duration, Time};

/// What an answer turned out to be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Answer {
    /// The first answer to its probe.
    First(Observation),
    /// A further answer to a probe that was answered, or given up, before.
    Duplicate,
    /// Nobody asked.
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Outcome {
    Outstanding,
    Answered(f64),
    /// Its connection broke after this many seconds; the answer can come no more.
    GivenUp(f64),
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    sent: Time,
    outcome: Outcome,
}

/// Probes by sequence number. The loop is open: sending never waits for answers, and an answer counts however late.
#[derive(Clone, Debug)]
pub struct Book {
    entries: Vec<Entry>,
    /// Every probe below this number has its outcome.
    settled_below: usize,
    outstanding: usize,
    /// One more than the highest sequence answered: RFC 4737's NextExp.
    next_expected: u64,
    largest_s: f64,
    series: Series,
}

impl Book {
    /// An empty book whose series will be of `key`.
    pub const fn new(key: SeriesKey) -> Self {
        Book {
            entries: Vec::new(),
            settled_below: 0,
            outstanding: 0,
            next_expected: 0,
            largest_s: 0.0,
            series: Series::new(key),
        }
    }
    /// What the series is of.
    pub const fn key(&self) -> &SeriesKey {
        &self.series.key
    }
    /// The sequence number of the next probe.
    pub const fn next_sequence(&self) -> u64 {
        self.entries.len() as u64
    }
    /// Notes a probe that left at `at`, and returns its sequence number. Times must not decrease.
    pub fn sent(&mut self, at: Time) -> u64 {
        self.entries.push(Entry { sent: at, outcome: Outcome::Outstanding });
        self.outstanding += 1;
        self.next_sequence() - 1
    }
    /// Notes a probe that was due but could not be sent.
    pub fn not_sent(&mut self, reason: &str, count: u32) {
        if count > 0 {
            *self.series.not_sent.entry(reason.to_string()).or_insert(0) += count;
        }
    }
    /// Notes the answer to probe `sequence`; `delay` is from its sending.
    pub fn answered(&mut self, sequence: u64, delay: Duration) -> Answer {
        let Some(entry) = usize::try_from(sequence).ok().and_then(|i| self.entries.get_mut(i)) else {
            return Answer::Unknown;
        };
        if entry.outcome != Outcome::Outstanding {
            self.series.duplicates += 1;
            return Answer::Duplicate;
        }
        let seconds = delay.as_secs_f64();
        entry.outcome = Outcome::Answered(seconds);
        let first = Answer::First(Observation { at: entry.sent, value: Value::Observed(seconds) });
        self.largest_s = self.largest_s.max(seconds);
        self.note_order(sequence);
        self.settle();
        first
    }
    /// RFC 4737 section 3.3: an arrival is reordered if its sequence is below the next expected one.
    fn note_order(&mut self, sequence: u64) {
        if sequence < self.next_expected {
            self.series.reordered += 1;
        } else {
            self.next_expected = sequence + 1;
        }
    }
    /// Notes that probe `sequence` can no longer be answered: its connection broke at `at`.
    pub fn give_up(&mut self, sequence: u64, at: Time) {
        let entry = usize::try_from(sequence).ok().and_then(|i| self.entries.get_mut(i));
        if let Some(entry) = entry.filter(|e| e.outcome == Outcome::Outstanding) {
            entry.outcome = Outcome::GivenUp(at.saturating_since(entry.sent).as_secs_f64());
            self.settle();
        }
    }
    fn settle(&mut self) {
        self.outstanding -= 1;
        let pending = |e: &Entry| e.outcome == Outcome::Outstanding;
        let more = self.entries[self.settled_below..].iter().position(pending);
        self.settled_below = more.map_or(self.entries.len(), |n| self.settled_below + n);
    }
    /// When probe `sequence` was sent.
    pub fn sent_at(&self, sequence: u64) -> Option<Time> {
        self.entries.get(usize::try_from(sequence).ok()?).map(|e| e.sent)
    }
    /// Number of probes sent that have no outcome yet.
    pub const fn outstanding(&self) -> usize {
        self.outstanding
    }
    /// When the oldest probe without outcome was sent.
    pub fn oldest_outstanding(&self) -> Option<Time> {
        self.entries.get(self.settled_below).map(|e| e.sent)
    }
    /// The largest delay seen.
    pub fn largest_delay(&self) -> Duration {
        Duration::from_secs_f64(self.largest_s)
    }
    /// Whether a probe was ever answered.
    pub const fn has_answers(&self) -> bool {
        self.next_expected > 0
    }
    /// The series, in order of sending. Probes unanswered at `at` are censored with the time waited for them.
    pub fn close(self, at: Time) -> Series {
        let mut series = self.series;
        for entry in self.entries {
            let value = match entry.outcome {
                Outcome::Answered(seconds) => Value::Observed(seconds),
                Outcome::GivenUp(seconds) => Value::Censored { at_least: seconds },
                Outcome::Outstanding => {
                    Value::Censored { at_least: at.saturating_since(entry.sent).as_secs_f64() }
                }
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

    fn book_with(probes: u64) -> Book {
        let mut book = Book::new(SeriesKey::of(Metric::UdpRtt));
        for n in 0..probes {
            assert_eq!(book.sent(Time::from_nanos(n * 50_000_000)), n);
        }
        book
    }

    #[test]
    fn an_answer_counts_however_late() {
        let mut book = book_with(20_000);
        // 716 s, once seen on an LTE line.
        let late = Duration::from_secs(716);
        let expected = Observation { at: Time::ZERO, value: Value::Observed(716.0) };
        assert_eq!(book.answered(0, late), Answer::First(expected));
        assert_eq!(book.largest_delay(), late);
        assert_eq!(book.outstanding(), 19_999);
        assert_eq!(book.close(Time::from_nanos(1)).values[0], 716.0);
    }

    #[test]
    fn duplicates_reordering_and_strangers_are_told_apart() {
        let mut book = book_with(5);
        let order = [0, 2, 2, 1, 4, 3, 9];
        let kinds: Vec<_> = order
            .iter()
            .map(|n| match book.answered(*n, MS(1)) {
                Answer::First(_) => 'f',
                Answer::Duplicate => 'd',
                Answer::Unknown => 'u',
            })
            .collect();
        assert_eq!(kinds, vec!['f', 'f', 'd', 'f', 'f', 'f', 'u']);
        let series = book.close(Time::ZERO);
        assert_eq!((series.duplicates, series.reordered), (1, 2));
    }

    #[test]
    fn the_unanswered_are_censored_with_the_time_waited() {
        let mut book = book_with(4);
        assert!(!book.has_answers());
        book.answered(0, MS(30));
        assert_eq!(book.oldest_outstanding(), Some(Time::from_nanos(50_000_000)));
        book.give_up(1, Time::from_nanos(90_000_000));
        book.answered(2, MS(7));
        assert_eq!(book.oldest_outstanding(), Some(Time::from_nanos(150_000_000)));
        book.not_sent("missed", 2);
        book.not_sent("missed", 1);
        let series = book.close(Time::from_nanos(1_150_000_000));
        assert_eq!(series.values, vec![0.030, 0.040, 0.007, 1.0]);
        assert_eq!(series.censored, vec![1, 3]);
        assert_eq!(series.not_sent["missed"], 3);
        assert!(series.at_ns.is_sorted());
    }

    #[test]
    fn an_answer_after_giving_up_is_not_a_second_outcome() {
        let mut book = book_with(1);
        book.give_up(0, Time::from_nanos(10));
        book.give_up(0, Time::from_nanos(20));
        assert_eq!(book.answered(0, MS(1)), Answer::Duplicate);
        assert_eq!(book.outstanding(), 0);
    }
}
