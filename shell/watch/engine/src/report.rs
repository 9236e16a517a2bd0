//! Reports from the probing threads to the history writer.
use crate::history::Event;
use fathom_probe::{Reply, ReplyKind};
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_samples::{Level, Outcome, Sample};
use std::net::IpAddr;
use std::sync::mpsc::Sender;

/// Number of a series in this process, from 0 in the order in which targets were added.
pub(crate) type SeriesSlot = u32;

/// A report.
#[derive(Clone, Debug)]
pub(crate) enum Report {
    /// The outcome of a probe.
    Sample(SeriesSlot, Sample),
    /// The late answer to a probe that was reported lost.
    Amend(SeriesSlot, Sample),
    /// Duplicate and reordered replies.
    Count { slot: SeriesSlot, at: WallTime, duplicates: u64, reordered: u64 },
    /// A level.
    Level(SeriesSlot, Level),
    /// Why probes of this series fail.
    Reason(SeriesSlot, String),
    /// Address of a router.
    Address(SeriesSlot, IpAddr),
    /// An event to record.
    Event(Event, Option<SeriesSlot>),
    /// Request to confirm that all earlier reports were processed.
    Sync(Sender<()>),
    /// The last report.
    End(Sender<()>),
}

/// Interval of handovers, because each wakes a thread.
const HAND_OVER_EVERY: Duration = Duration::from_millis(500);

/// Collects the reports of one thread and hands them over.
#[derive(Debug)]
pub(crate) struct Reporter {
    to: Sender<Vec<Report>>,
    waiting: Vec<Report>,
    handed_over: Time,
}

impl Reporter {
    pub(crate) const fn new(to: Sender<Vec<Report>>) -> Self {
        Reporter { to, waiting: Vec::new(), handed_over: Time::ZERO }
    }
    pub(crate) fn report(&mut self, report: Report) {
        self.waiting.push(report);
    }
    pub(crate) fn sample(&mut self, slot: SeriesSlot, at: WallTime, outcome: Outcome) {
        self.report(Report::Sample(slot, Sample { at, outcome }));
    }
    /// Reports a reply. Returns the sample if it is the first reply and the probe was not reported
    /// lost.
    pub(crate) fn reply(&mut self, slot: SeriesSlot, reply: &Reply<WallTime>) -> Option<Sample> {
        let Reply { kind, at, delay, is_reordered } = *reply;
        let late = Sample { at, outcome: Outcome::Late(delay) };
        let first = match kind {
            ReplyKind::InTime => Some(Sample { at, outcome: Outcome::Answered(delay) }),
            ReplyKind::Late => Some(late),
            ReplyKind::AfterLoss | ReplyKind::Duplicate | ReplyKind::Unknown => None,
        };
        first.into_iter().for_each(|sample| self.report(Report::Sample(slot, sample)));
        if kind == ReplyKind::AfterLoss {
            self.report(Report::Amend(slot, late));
        }
        let is_duplicate = kind == ReplyKind::Duplicate;
        if is_duplicate || is_reordered {
            let (duplicates, reordered) = (u64::from(is_duplicate), u64::from(is_reordered));
            self.report(Report::Count { slot, at, duplicates, reordered });
        }
        first
    }
    /// Reports a probe that was not sent, and why.
    pub(crate) fn failed(&mut self, slot: SeriesSlot, at: WallTime, reason: &str) {
        self.report(Report::Reason(slot, reason.to_owned()));
        self.sample(slot, at, Outcome::Failed);
    }
    /// Hands over waiting reports if the interval has passed. If nobody listens any more, they are
    /// not needed.
    pub(crate) fn hand_over(&mut self, now: Time) {
        if !self.waiting.is_empty() && now.saturating_since(self.handed_over) >= HAND_OVER_EVERY {
            self.handed_over = now;
            self.hand_over_all();
        }
    }
    pub(crate) fn hand_over_all(&mut self) {
        let capacity = self.waiting.len();
        let _ = self.to.send(std::mem::replace(&mut self.waiting, Vec::with_capacity(capacity)));
    }
}
