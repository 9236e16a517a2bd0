//! Probes as a test sends them: UDP and ICMP, from the user to the server and back.
use crate::packet::{Body, END, Label, Packet, Part};
use alloc::vec::Vec;
use fathom_run::{Metric, Observation, Series, SeriesKey, Value};
use fathom_units::{Direction, Duration, Time};

/// IP length: a test's UDP probe of 32 bytes, and an ICMP echo request of 56.
const UDP_LEN: u16 = 60;
const ICMP_LEN: u16 = 84;
/// Probes are no flows of a workload: their numbers are the last.
const FIRST_FLOW: u32 = u32::MAX - 1;

/// One probe.
#[derive(Clone, Copy)]
struct Entry {
    sent: Time,
    up: Option<Duration>,
    down: Option<Duration>,
    round: Option<Duration>,
}

/// Probes of one kind.
#[derive(Default)]
struct Book {
    entries: Vec<Entry>,
    duplicates: u32,
    reordered: u32,
    /// One more than the highest that was answered: RFC 4737's NextExp.
    next_expected: u32,
}

/// Probes of both kinds; 0 is UDP, 1 ICMP.
#[derive(Default)]
pub(crate) struct Probes {
    books: [Book; 2],
    outstanding: usize,
}

impl Probes {
    /// The next probe of a kind.
    pub(crate) fn send(&mut self, kind: u32, now: Time) -> Packet {
        let is_icmp = kind == 1;
        let book = &mut self.books[usize::from(is_icmp)];
        let number = book.entries.len() as u32;
        book.entries.push(Entry { sent: now, up: None, down: None, round: None });
        self.outstanding += 1;
        let body = Body::Probe { number, is_icmp, sent_at: now, reached_at: None };
        label(is_icmp, Direction::Up).probe(body, len(is_icmp))
    }
    /// A probe is at the server, which answers at once, or its answer at the user.
    pub(crate) fn arrived(&mut self, packet: &Packet, now: Time) -> Option<Packet> {
        let Body::Probe { number, is_icmp, sent_at, reached_at } = packet.body() else { return None };
        let book = &mut self.books[usize::from(is_icmp)];
        let entry = book.entries.get_mut(number as usize)?;
        let Some(reached) = reached_at else {
            entry.up.get_or_insert(now - sent_at);
            let body = Body::Probe { number, is_icmp, sent_at, reached_at: Some(now) };
            return Some(label(is_icmp, Direction::Down).probe(body, len(is_icmp)));
        };
        if entry.round.is_some() {
            book.duplicates += 1;
            return None;
        }
        (entry.round, entry.down) = (Some(now - sent_at), Some(now - reached));
        self.outstanding -= 1;
        book.reordered += u32::from(number < book.next_expected);
        book.next_expected = book.next_expected.max(number + 1);
        None
    }
    /// Probes without an answer.
    pub(crate) fn outstanding(&self) -> usize {
        self.outstanding
    }
    /// Round trips of both kinds, and one-way delays of the UDP probes; who has no answer at `end` is censored.
    pub(crate) fn series(&self, end: Time) -> Vec<Series> {
        let [udp, icmp] = &self.books;
        let (up, down) = (Direction::Up, Direction::Down);
        Vec::from([
            udp.series(SeriesKey::of(Metric::UdpRtt), end, |e| Some(e.round)),
            icmp.series(SeriesKey::of(Metric::IcmpRtt), end, |e| Some(e.round)),
            udp.series(SeriesKey::directed(Metric::OneWayDelay, up), end, |e| Some(e.up)),
            // Of a probe that did not reach the server nothing is known of the way back.
            udp.series(SeriesKey::directed(Metric::OneWayDelay, down), end, |e| e.up.map(|_| e.down)),
        ])
    }
}

impl Book {
    fn series(
        &self,
        key: SeriesKey,
        end: Time,
        delay: impl Fn(&Entry) -> Option<Option<Duration>>,
    ) -> Series {
        let mut series = Series::new(key);
        if series.key.direction.is_none() {
            (series.duplicates, series.reordered) = (self.duplicates, self.reordered);
        }
        for entry in &self.entries {
            let Some(delay) = delay(entry) else { continue };
            let value = match delay {
                Some(delay) => Value::Observed(delay.as_secs_f64()),
                None => Value::Censored { at_least: end.saturating_since(entry.sent).as_secs_f64() },
            };
            series.push(Observation { at: entry.sent, value });
        }
        series
    }
}

const fn len(is_icmp: bool) -> u16 {
    if is_icmp { ICMP_LEN } else { UDP_LEN }
}

const fn label(is_icmp: bool, travel: Direction) -> Label {
    let part = Part { near: END, far: END };
    Label { flow: FIRST_FLOW + is_icmp as u32, dscp: 0, host: 0, travel, part }
}
