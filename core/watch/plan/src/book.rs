//! The book of one target: what is outstanding, what was lost, what an answer is.
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_samples::{Outcome, Sample};

/// How long after its sending an answer is still told from a stranger's: 716 s was seen on a mobile line.
pub const KEPT: Duration = Duration::from_secs(1_200);

/// What a probe carries there and back, so that a late answer needs no memory of its probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Echo {
    /// The probe's number within its target.
    pub sequence: u32,
    /// When it was sent, by the wall clock: the time of its sample.
    pub at: WallTime,
    /// When it was sent, by the program's own clock.
    pub sent: Time,
}

/// What an answer turned out to be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Answer {
    /// The first answer to its probe.
    First(Sample),
    /// The first answer to a probe that is in the history as lost: its sample is to be replaced by this one.
    Amends(Sample),
    /// A further answer.
    Duplicate,
    /// Nobody asked, or it is older than [`KEPT`].
    Unknown,
}

/// An answer, and whether one to a later probe came before it (RFC 4737 section 3.3).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Answered {
    /// What it is.
    pub answer: Answer,
    /// It was overtaken.
    pub reordered: bool,
}

/// Numbers from `first` to `last` that were lost; the last at `sent`.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u32,
    last: u32,
    sent: Time,
}

/// Probes of one target. Those that were answered in time leave no trace, those that were lost only the limits of their run:
/// a target that is down for 20 minutes takes no more memory than one that is up.
#[derive(Clone, Default, Debug)]
pub struct Book {
    next: u32,
    outstanding: VecDeque<Echo>,
    lost: Vec<Run>,
    next_expected: u32,
}

impl Book {
    /// Notes a probe that is about to leave, and returns what it carries.
    pub fn send(&mut self, at: WallTime, now: Time) -> Echo {
        let echo = Echo { sequence: self.next, at, sent: now };
        self.outstanding.push_back(echo);
        self.next = self.next.wrapping_add(1);
        echo
    }
    /// Takes back the probe that [`send`](Book::send) gave last: it could not be sent.
    pub fn take_back(&mut self, echo: Echo) {
        if self.outstanding.back() == Some(&echo) {
            self.outstanding.pop_back();
            self.next = echo.sequence;
        } else {
            self.outstanding.retain(|o| o.sequence != echo.sequence);
        }
    }
    /// Corrects the time of leaving by the kernel's stamp.
    pub fn left(&mut self, sequence: u32, at: Time) {
        if let Some(echo) = self.outstanding.iter_mut().find(|o| o.sequence == sequence) {
            echo.sent = at;
        }
    }
    /// When a probe that is outstanding left.
    pub fn sent_at(&self, sequence: u32) -> Option<Time> {
        self.outstanding.iter().find(|o| o.sequence == sequence).map(|o| o.sent)
    }
    /// Notes an answer that carries `echo` and came at `received`.
    pub fn answered(&mut self, echo: &Echo, received: Time, timeout: Duration) -> Answered {
        let answer = self.classify(echo, received, timeout);
        let is_first = matches!(answer, Answer::First(_) | Answer::Amends(_));
        // Numbers wrap after 13 years at ten probes a second.
        let reordered = is_first && echo.sequence < self.next_expected;
        if is_first && !reordered {
            self.next_expected = echo.sequence.wrapping_add(1);
        }
        Answered { answer, reordered }
    }
    fn classify(&mut self, echo: &Echo, received: Time, timeout: Duration) -> Answer {
        if let Some(place) = self.outstanding.iter().position(|o| o.sequence == echo.sequence) {
            let Some(ours) = self.outstanding.remove(place) else { return Answer::Unknown };
            let delay = received.saturating_since(ours.sent);
            let outcome = if delay > timeout { Outcome::Late(delay) } else { Outcome::Answered(delay) };
            return Answer::First(Sample { at: ours.at, outcome });
        }
        let delay = received.saturating_since(echo.sent);
        if delay > KEPT || echo.sequence >= self.next {
            return Answer::Unknown;
        }
        if self.find_lost(echo.sequence) {
            return Answer::Amends(Sample { at: echo.at, outcome: Outcome::Late(delay) });
        }
        Answer::Duplicate
    }
    /// Takes `sequence` out of the lost ones.
    fn find_lost(&mut self, sequence: u32) -> bool {
        let Some(place) = self.lost.iter().position(|r| (r.first..=r.last).contains(&sequence)) else {
            return false;
        };
        let run = self.lost.remove(place);
        let before = (run.first < sequence).then(|| Run { last: sequence - 1, ..run });
        let after = (sequence < run.last).then(|| Run { first: sequence + 1, ..run });
        self.lost.splice(place..place, before.into_iter().chain(after));
        true
    }
    /// Takes out the oldest probe that has waited longer than `timeout`: its sample is a loss.
    pub fn expire(&mut self, now: Time, timeout: Duration) -> Option<Sample> {
        let echo = *self.outstanding.front()?;
        if now.saturating_since(echo.sent) <= timeout {
            return None;
        }
        self.outstanding.pop_front();
        self.lose(&echo, now);
        Some(Sample { at: echo.at, outcome: Outcome::Lost })
    }
    fn lose(&mut self, echo: &Echo, now: Time) {
        match self.lost.last_mut() {
            Some(run) if run.last.checked_add(1) == Some(echo.sequence) => {
                (run.last, run.sent) = (echo.sequence, echo.sent);
            }
            _ => self.lost.push(Run { first: echo.sequence, last: echo.sequence, sent: echo.sent }),
        }
        self.lost.retain(|run| now.saturating_since(run.sent) <= KEPT);
    }
    /// Probes without an outcome.
    pub fn outstanding(&self) -> usize {
        self.outstanding.len()
    }
}
