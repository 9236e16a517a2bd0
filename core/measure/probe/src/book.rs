//! Bookkeeping of one series of probes: outstanding and lost ones, and the kinds of replies.
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_units::{Duration, Time};

/// How long a lost probe is remembered: replies were seen 716 s late on a mobile line.
pub const RETENTION: Duration = Duration::from_secs(1_200);

/// When a probe counts as lost, and how long a lost probe is remembered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LossPolicy {
    /// A probe without a reply counts as lost this long after sending. A later reply is late.
    pub timeout: Duration,
    /// Replies to probes that were sent longer ago are no longer recognized.
    pub retention: Duration,
}

impl LossPolicy {
    /// Probes are never lost, and every reply counts.
    pub const NEVER: LossPolicy = LossPolicy { timeout: Duration::MAX, retention: Duration::MAX };

    /// Lost after `timeout`, remembered for [`RETENTION`].
    pub const fn after(timeout: Duration) -> Self {
        LossPolicy { timeout, retention: RETENTION }
    }
}

/// A probe. `A` is the type of its sample's timestamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe<A = ()> {
    /// Sequence number within the series.
    pub sequence: u32,
    /// Timestamp of the sample.
    pub at: A,
    /// Send time on the local monotonic clock.
    pub sent: Time,
}

/// Classification of a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplyKind {
    /// The first reply, within the timeout.
    InTime,
    /// The first reply, after the timeout but before the probe was reported as lost.
    Late,
    /// The first reply to a probe that was reported as lost.
    AfterLoss,
    /// A further reply to an answered probe.
    Duplicate,
    /// A reply to no known probe, or to one older than the retention.
    Unknown,
}

/// A received reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reply<A = ()> {
    /// Classification.
    pub kind: ReplyKind,
    /// Timestamp of the probe's sample.
    pub at: A,
    /// Time from sending to arrival.
    pub delay: Duration,
    /// A reply to a later probe arrived earlier (RFC 4737 section 3.3).
    pub is_reordered: bool,
}

impl<A> Reply<A> {
    /// Whether this is the first reply to its probe.
    pub const fn is_first(&self) -> bool {
        matches!(self.kind, ReplyKind::InTime | ReplyKind::Late | ReplyKind::AfterLoss)
    }
}

#[derive(Clone, Copy, Debug)]
struct LostRun {
    first: u32,
    last: u32,
    /// Send time of the last one.
    sent: Time,
}

/// The probes of one series. The loop is open: sending never waits for replies.
///
/// Answered probes are not stored, and a run of lost probes is stored as a range. A target that is
/// down for 20 minutes therefore takes no more memory than one that is up.
#[derive(Clone, Debug)]
pub struct Book<A = ()> {
    policy: LossPolicy,
    next: u32,
    /// NextExp of RFC 4737: the highest answered sequence number plus one.
    next_expected: u32,
    /// Ordered by sequence number.
    outstanding: VecDeque<Probe<A>>,
    lost: Vec<LostRun>,
}

impl<A: Copy> Book<A> {
    /// Creates an empty book.
    pub const fn new(policy: LossPolicy) -> Self {
        Book { policy, next: 0, next_expected: 0, outstanding: VecDeque::new(), lost: Vec::new() }
    }
    /// Records a probe that is about to be sent and returns its contents. Times must not decrease.
    pub fn send(&mut self, at: A, now: Time) -> Probe<A> {
        // Sequence numbers wrap after 13 years at ten probes per second.
        let probe = Probe { sequence: self.next, at, sent: now };
        self.outstanding.push_back(probe);
        self.next = self.next.wrapping_add(1);
        probe
    }
    /// Removes a probe that could not be sent. Its number is reused if it was the last.
    pub fn cancel(&mut self, sequence: u32) {
        if self.give_up(sequence) && sequence.wrapping_add(1) == self.next {
            self.next = sequence;
        }
    }
    /// Removes a probe that can no longer be answered. Returns whether it was outstanding.
    pub fn give_up(&mut self, sequence: u32) -> bool {
        self.position(sequence).is_some_and(|place| self.outstanding.remove(place).is_some())
    }
    /// Corrects the send time with the kernel's timestamp.
    pub fn departed(&mut self, sequence: u32, at: Time) {
        let place = self.position(sequence);
        if let Some(probe) = place.and_then(|place| self.outstanding.get_mut(place)) {
            probe.sent = at;
        }
    }
    /// Send time of an outstanding probe.
    pub fn sent_at(&self, sequence: u32) -> Option<Time> {
        self.outstanding.get(self.position(sequence)?).map(|probe| probe.sent)
    }
    /// Records the reply to `probe`, received at `received`. Uses the book's timestamps for an
    /// outstanding probe, and those carried in the reply for a lost one.
    pub fn reply(&mut self, probe: &Probe<A>, received: Time) -> Reply<A> {
        let mut reply = self.classify(probe, received);
        if reply.is_first() {
            reply.is_reordered = probe.sequence < self.next_expected;
            self.next_expected = self.next_expected.max(probe.sequence.wrapping_add(1));
        }
        reply
    }
    fn classify(&mut self, probe: &Probe<A>, received: Time) -> Reply<A> {
        let LossPolicy { timeout, retention } = self.policy;
        let outstanding = self.position(probe.sequence).and_then(|place| self.outstanding.remove(place));
        let own = outstanding.as_ref().unwrap_or(probe);
        let delay = received.saturating_since(own.sent);
        let kind = if outstanding.is_some() {
            if delay > timeout { ReplyKind::Late } else { ReplyKind::InTime }
        } else if delay > retention || probe.sequence >= self.next {
            ReplyKind::Unknown
        } else if self.take_lost(probe.sequence) {
            ReplyKind::AfterLoss
        } else {
            ReplyKind::Duplicate
        };
        Reply { kind, at: own.at, delay, is_reordered: false }
    }
    /// Removes `sequence` from the lost probes. Returns whether it was one.
    fn take_lost(&mut self, sequence: u32) -> bool {
        let Some(place) = self.lost.iter().position(|r| (r.first..=r.last).contains(&sequence)) else {
            return false;
        };
        let run = self.lost.remove(place);
        let before = (run.first < sequence).then(|| LostRun { last: sequence - 1, ..run });
        let after = (sequence < run.last).then(|| LostRun { first: sequence + 1, ..run });
        self.lost.splice(place..place, before.into_iter().chain(after));
        true
    }
    /// Removes and returns the oldest probe that has exceeded the timeout; it counts as lost.
    pub fn expire(&mut self, now: Time) -> Option<Probe<A>> {
        let is_lost = |probe: &Probe<A>| now.saturating_since(probe.sent) > self.policy.timeout;
        let probe = self.outstanding.front().copied().filter(is_lost)?;
        self.outstanding.pop_front();
        self.lose(&probe, now);
        Some(probe)
    }
    fn lose(&mut self, probe: &Probe<A>, now: Time) {
        match self.lost.last_mut() {
            Some(run) if run.last.checked_add(1) == Some(probe.sequence) => {
                (run.last, run.sent) = (probe.sequence, probe.sent);
            }
            _ => self.lost.push(LostRun { first: probe.sequence, last: probe.sequence, sent: probe.sent }),
        }
        let retention = self.policy.retention;
        self.lost.retain(|run| now.saturating_since(run.sent) <= retention);
    }
    /// Sequence number of the next probe.
    pub const fn next_sequence(&self) -> u32 {
        self.next
    }
    /// Number of outstanding probes.
    pub fn outstanding(&self) -> usize {
        self.outstanding.len()
    }
    /// Send time of the oldest outstanding probe.
    pub fn oldest_outstanding(&self) -> Option<Time> {
        self.outstanding.front().map(|probe| probe.sent)
    }
    /// Whether any probe was answered.
    pub const fn has_replies(&self) -> bool {
        self.next_expected > 0
    }
    fn position(&self, sequence: u32) -> Option<usize> {
        self.outstanding.binary_search_by_key(&sequence, |probe| probe.sequence).ok()
    }
}
