//! What the threads that probe tell the one that keeps.
use crate::keep::Event;
use fathom_probe::{Reply, ReplyKind};
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_samples::{Level, Outcome, Sample};
use std::net::IpAddr;
use std::sync::mpsc::Sender;

/// Number of a series within this process, from 0 in the order in which targets came.
pub(crate) type Place = u32;

/// A report.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    /// A probe has its outcome.
    Sample(Place, Sample),
    /// A probe that was reported lost was answered after all.
    Amend(Place, Sample),
    /// Answers that came twice, or were overtaken.
    Count { place: Place, at: WallTime, duplicates: u64, reordered: u64 },
    /// A level was read.
    Level(Place, Level),
    /// Why probes of this series fail, in words.
    Reason(Place, String),
    /// Where a router was found.
    Address(Place, IpAddr),
    /// Something to remember.
    Event(Event, Option<Place>),
    /// All before this is to be seen by whoever looks.
    Sync(Sender<()>),
    /// There will be no more.
    End(Sender<()>),
}

/// Reports are handed over together: each hand-over wakes a thread.
const HAND_OVER_EVERY: Duration = Duration::from_millis(500);

/// One thread's way to tell.
#[derive(Debug)]
pub(crate) struct Teller {
    to: Sender<Vec<Told>>,
    waiting: Vec<Told>,
    handed_over: Time,
}

impl Teller {
    pub(crate) const fn new(to: Sender<Vec<Told>>) -> Self {
        Teller { to, waiting: Vec::new(), handed_over: Time::ZERO }
    }
    pub(crate) fn tell(&mut self, told: Told) {
        self.waiting.push(told);
    }
    pub(crate) fn sample(&mut self, place: Place, at: WallTime, outcome: Outcome) {
        self.tell(Told::Sample(place, Sample { at, outcome }));
    }
    /// What a reply says of its probe. Returns the sample if it is the first reply, and the probe was not lost before.
    pub(crate) fn reply(&mut self, place: Place, reply: &Reply<WallTime>) -> Option<Sample> {
        let Reply { kind, at, delay, is_reordered } = *reply;
        let late = Sample { at, outcome: Outcome::Late(delay) };
        let first = match kind {
            ReplyKind::InTime => Some(Sample { at, outcome: Outcome::Answered(delay) }),
            ReplyKind::Late => Some(late),
            ReplyKind::AfterLoss | ReplyKind::Duplicate | ReplyKind::Unknown => None,
        };
        first.into_iter().for_each(|sample| self.tell(Told::Sample(place, sample)));
        if kind == ReplyKind::AfterLoss {
            self.tell(Told::Amend(place, late));
        }
        let is_duplicate = kind == ReplyKind::Duplicate;
        if is_duplicate || is_reordered {
            let (duplicates, reordered) = (u64::from(is_duplicate), u64::from(is_reordered));
            self.tell(Told::Count { place, at, duplicates, reordered });
        }
        first
    }
    /// A probe that was not sent, and why.
    pub(crate) fn failed(&mut self, place: Place, at: WallTime, reason: &str) {
        self.tell(Told::Reason(place, reason.to_owned()));
        self.sample(place, at, Outcome::Failed);
    }
    /// Hands over what waits, if it has waited long enough. Nothing is lost if nobody listens any more: then all is over.
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
