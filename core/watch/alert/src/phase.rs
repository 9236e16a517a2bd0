//! The state machine of an alert: raised after a hold time, cleared after a hold time, silenced
//! while it flaps.
use crate::condition::{Evidence, Verdict};
use crate::rule::Rule;
use alloc::collections::VecDeque;
use alloc::string::String;
use fathom_units::{Duration, WallTime};

/// When an alert is flapping: too many changes within a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flapping {
    /// More changes than this within the window are flapping; 0 disables the check.
    pub changes: u64,
    /// The window, and the time without changes that ends flapping.
    pub window: Duration,
}

/// A state change of an alert that receivers are notified of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// The alert was raised.
    Raised,
    /// The alert was cleared.
    Cleared,
    /// The alert flaps: no notifications until it is stable.
    Flapping,
    /// The alert is still raised (a repeated notification).
    Still,
}

impl Change {
    /// The name of the change.
    pub const fn name(self) -> &'static str {
        match self {
            Change::Raised => "raised",
            Change::Cleared => "cleared",
            Change::Flapping => "flapping",
            Change::Still => "still raised",
        }
    }
}

/// State of the alert of one series.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Phase {
    pub(crate) is_raised: bool,
    /// Start of the current state.
    pub(crate) since: WallTime,
    pub(crate) is_flapping: bool,
    /// Time of the last notification.
    pub(crate) notified: WallTime,
    /// Times of recent changes.
    pub(crate) changes: VecDeque<WallTime>,
    /// Since when the condition differs from the state.
    pub(crate) changing_since: Option<WallTime>,
    /// When the alert was raised, for the message that it was cleared.
    pub(crate) raised_at: WallTime,
    /// Evidence of the last notification.
    pub(crate) why: String,
}

impl Phase {
    /// Whether the alert is shown as raised.
    pub(crate) const fn is_active(&self) -> bool {
        self.is_raised || self.is_flapping
    }
    /// Applies a verdict. Returns the change that receivers are notified of.
    pub(crate) fn step(&mut self, verdict: &Verdict, now: WallTime, rule: &Rule) -> Option<Change> {
        self.mind_the_clock(now);
        let turns = match verdict {
            Verdict::Bad(_) => Some(!self.is_raised),
            Verdict::Good(_) => Some(self.is_raised),
            Verdict::Between(_) => Some(false),
            Verdict::Unknown => None,
        };
        match turns {
            Some(true) => {
                let since = *self.changing_since.get_or_insert(now);
                let hold = if self.is_raised { rule.clear_after } else { rule.hold };
                if between(since, now) >= hold {
                    return self.turn(now, rule.flapping);
                }
            }
            Some(false) => self.changing_since = None,
            None => {}
        }
        self.settle(now, rule.flapping).or_else(|| self.again(now, rule.repeat))
    }
    /// Limits times to `now`: later ones are from before the clock was set back.
    fn mind_the_clock(&mut self, now: WallTime) {
        for time in [&mut self.since, &mut self.notified, &mut self.raised_at] {
            *time = (*time).min(now);
        }
        self.changing_since = self.changing_since.map(|time| time.min(now));
        self.changes.iter_mut().for_each(|time| *time = (*time).min(now));
    }
    fn turn(&mut self, now: WallTime, flapping: Flapping) -> Option<Change> {
        self.is_raised = !self.is_raised;
        (self.since, self.changing_since) = (now, None);
        if self.is_raised && !self.is_flapping {
            self.raised_at = now;
        }
        self.changes.push_back(now);
        self.prune(now, flapping.window);
        if self.is_flapping {
            return None;
        }
        let is_too_much = flapping.changes > 0 && self.changes.len() as u64 > flapping.changes;
        self.notified = now;
        self.is_flapping = is_too_much;
        Some(match (is_too_much, self.is_raised) {
            (true, _) => Change::Flapping,
            (false, true) => Change::Raised,
            (false, false) => Change::Cleared,
        })
    }
    fn prune(&mut self, now: WallTime, window: Duration) {
        while self.changes.front().is_some_and(|at| between(*at, now) >= window) {
            self.changes.pop_front();
        }
    }
    /// Ends flapping after a window without changes.
    fn settle(&mut self, now: WallTime, flapping: Flapping) -> Option<Change> {
        if !self.is_flapping || between(self.since, now) < flapping.window {
            return None;
        }
        self.changes.clear();
        (self.is_flapping, self.notified) = (false, now);
        Some(if self.is_raised { Change::Raised } else { Change::Cleared })
    }
    fn again(&mut self, now: WallTime, repeat: Option<Duration>) -> Option<Change> {
        let every = repeat.filter(|_| self.is_raised && !self.is_flapping)?;
        if between(self.notified, now) < every {
            return None;
        }
        self.notified = now;
        Some(Change::Still)
    }
}

pub(crate) const fn between(from: WallTime, to: WallTime) -> Duration {
    Duration::from_nanos(to.0.saturating_sub(from.0))
}

impl Verdict {
    /// The evidence, if any.
    pub(crate) fn evidence(self) -> Option<Evidence> {
        match self {
            Verdict::Bad(evidence) | Verdict::Good(evidence) | Verdict::Between(evidence) => Some(evidence),
            Verdict::Unknown => None,
        }
    }
}
