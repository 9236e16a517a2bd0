//! Requests and replies of protocols other than TCP, as marks among the round trips.
use crate::row::saturate;
use crate::write::Writer;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_capture::Address;
use fathom_flow::{Probe, ProbeKind, RttValidity};

/// Answers of one kind that a page shows: about one for each pixel of a wide screen at its closest.
/// Above, of each two in a row the longer stays.
const MAX_ROWS: usize = 50_000;
/// Pairs of hosts that are named; answers of others are not shown.
const ROUTES: usize = 4096;

/// An answer.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Nanoseconds since the page's begin.
    at: u64,
    took_ns: u64,
    frame: u32,
    asked_frame: u32,
    route: u32,
}

/// Answers of one kind, in order of time.
#[derive(Clone, Debug)]
struct Answers {
    name: &'static str,
    rows: Vec<Row>,
    stride: u64,
    /// How many came since the last row that represents its whole stride.
    since: u64,
    unanswered: u64,
}

/// Requests and replies of protocols other than TCP.
#[derive(Debug)]
pub(crate) struct Probes {
    kinds: [Answers; 3],
    routes: BTreeMap<[Address; 2], u32>,
    names: Vec<String>,
}

impl Default for Probes {
    fn default() -> Self {
        let new = |name| Answers { name, rows: Vec::new(), stride: 1, since: 0, unanswered: 0 };
        let kinds = ["ICMP echo", "DNS", "QUIC handshake"].map(new);
        Probes { kinds, routes: BTreeMap::new(), names: Vec::new() }
    }
}

impl Answers {
    fn push(&mut self, row: Row) {
        self.since += 1;
        match self.rows.last_mut().filter(|_| self.since < self.stride) {
            Some(last) => longer(last, &row),
            None => {
                self.since = 0;
                self.rows.push(row);
            }
        }
        if self.rows.len() > MAX_ROWS {
            self.halve();
        }
    }
    fn halve(&mut self) {
        let pairs = self.rows.chunks(2).filter_map(|pair| {
            let mut kept = *pair.first()?;
            pair.get(1).into_iter().for_each(|second| longer(&mut kept, second));
            Some(kept)
        });
        self.rows = pairs.collect();
        self.stride *= 2;
    }
    fn write(&self, to: &mut Writer) {
        let rows = &self.rows;
        to.text(self.name);
        to.number(self.unanswered);
        to.number(self.stride);
        to.number(rows.len() as u64);
        to.differences(rows.iter().map(|row| row.at));
        to.numbers(rows.iter().map(|row| row.took_ns));
        to.differences(rows.iter().map(|row| u64::from(row.frame)));
        to.differences(rows.iter().map(|row| u64::from(row.asked_frame)));
        to.numbers(rows.iter().map(|row| u64::from(row.route)));
    }
}

/// The one that took longer stays: a delay is not to be missed.
const fn longer(kept: &mut Row, other: &Row) {
    if other.took_ns > kept.took_ns {
        *kept = *other;
    }
}

impl Probes {
    /// Times are counted from `origin`. Where it is not known which question was answered there is
    /// no mark, and none for the spin bit, which is a hint alone.
    pub(crate) fn add(&mut self, probe: &Probe, origin: i64) {
        let [echo, dns, quic] = &mut self.kinds;
        let kind = match probe.kind {
            ProbeKind::Echo => echo,
            ProbeKind::Dns => dns,
            ProbeKind::QuicHandshake => quic,
            ProbeKind::QuicSpin => return,
        };
        let Some(answered) = probe.answered else {
            kind.unanswered += 1;
            return;
        };
        if probe.validity == RttValidity::Ambiguous {
            return;
        }
        let ends = probe.ends.map(|end| end.0);
        let next = self.routes.len();
        if next >= ROUTES && !self.routes.contains_key(&ends) {
            return;
        }
        let route = *self.routes.entry(ends).or_insert(next as u32);
        if route as usize == next {
            self.names.push(format!("{} → {}", ends[0], ends[1]));
        }
        let since = |at: i64| u64::try_from(at.saturating_sub(origin)).unwrap_or(0);
        // Where the clock stepped back, it is shown where it was before.
        let latest = kind.rows.last().map_or(0, |row| row.at);
        kind.push(Row {
            at: since(answered.at).max(latest),
            took_ns: u64::try_from(answered.at.saturating_sub(probe.asked.at)).unwrap_or(0),
            frame: saturate(answered.frame),
            asked_frame: saturate(probe.asked.frame),
            route,
        });
    }
    pub(crate) fn write(&self, to: &mut Writer) {
        to.number(self.names.len() as u64);
        self.names.iter().for_each(|name| to.text(name));
        let shown = || self.kinds.iter().filter(|kind| kind.rows.len() as u64 + kind.unanswered > 0);
        to.number(shown().count() as u64);
        shown().for_each(|kind| kind.write(to));
    }
}
