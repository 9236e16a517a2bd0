//! What is known of one series, by all that its rules look at.
use crate::past::Past;
use crate::phase::Phase;
use crate::ring::Ring;
use crate::rounds::Rounds;
use crate::rule::Rule;
use crate::{Condition, link};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::{Duration, WallTime};
use fathom_watch_samples::{Outcome, Sample};

/// Length of a round of SmokePing, where a target has no rounds of its own.
const DEFAULT_ROUND: Duration = Duration::from_secs(300);

/// What a rule needs to know of a series.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeriesInfo {
    /// The target, with its group before it.
    pub target: String,
    /// Its group; empty for none.
    pub group: String,
    /// The series: `icmp`, `hop 3`.
    pub probe: String,
    /// It is that of the question itself.
    pub is_main: bool,
    /// It is the first router of a path, which stands for the path, whose probe has this name.
    pub path: Option<String>,
    /// From one round to the next, if it has rounds of several probes.
    pub round: Option<Duration>,
    /// How long an answer is waited for.
    pub timeout: Duration,
}

impl SeriesInfo {
    pub(crate) fn matches(&self, rule: &Rule) -> bool {
        match rule.condition {
            Condition::Path { .. } => {
                self.path.as_ref().is_some_and(|p| rule.scope.has(&self.target, &self.group, p, true))
            }
            _ => rule.scope.has(&self.target, &self.group, &self.probe, self.is_main),
        }
    }
}

/// A direction of this host's own link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    /// What it receives.
    Received,
    /// What it sends.
    Sent,
}

#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) info: SeriesInfo,
    pub(crate) ring: Ring,
    /// By percentile.
    pub(crate) pasts: BTreeMap<u64, Past>,
    /// The hours whose past was asked for.
    pub(crate) requested: BTreeMap<u64, WallTime>,
    pub(crate) run: Run,
    /// The last change of its path, in words.
    pub(crate) path_change: Option<(WallTime, String)>,
    pub(crate) alerts: Vec<Alert>,
}

/// Probes in turn that brought no answer.
#[derive(Clone, Default, Debug)]
pub(crate) struct Run {
    pub(crate) failing_since: Option<WallTime>,
    pub(crate) count: u64,
    pub(crate) answered: Option<WallTime>,
    pub(crate) has_failed: bool,
    pub(crate) reason: String,
}

/// A rule for this series, and how it stands.
#[derive(Clone, Debug)]
pub(crate) struct Alert {
    /// Its place among the rules.
    pub(crate) rule: usize,
    pub(crate) phase: Phase,
    pub(crate) rounds: Option<Rounds>,
    /// When it is judged next.
    pub(crate) next: WallTime,
    /// That it is raised was sent: then so will be that it is over.
    pub(crate) is_sent: bool,
}

impl Series {
    pub(crate) fn new(info: SeriesInfo, rules: &[Rule]) -> Self {
        let mut series = Series {
            info,
            ring: Ring::default(),
            pasts: BTreeMap::new(),
            requested: BTreeMap::new(),
            run: Run::default(),
            path_change: None,
            alerts: Vec::new(),
        };
        series.take_rules(rules);
        series
    }
    /// Takes other rules; how they stand is given back by [`Watcher::restore`](crate::Watcher::restore)'s way.
    pub(crate) fn take_rules(&mut self, rules: &[Rule]) {
        let meant = rules.iter().enumerate().filter(|(_, rule)| self.info.matches(rule));
        self.alerts = meant.map(|(index, rule)| Alert::new(index, rule, &self.info)).collect();
        let reach = |alert: &Alert| match rules.get(alert.rule).map(|rule| &rule.condition) {
            Some(Condition::Bufferbloat { window, .. }) => link::reach(*window),
            Some(condition) => condition.window(),
            None => Duration::ZERO,
        };
        let furthest = self.alerts.iter().map(reach).max().unwrap_or_default();
        self.ring.reach(furthest);
    }
    pub(crate) fn sample(&mut self, sample: Sample) {
        self.ring.add(sample);
        self.run.add(sample);
        for rounds in self.alerts.iter_mut().filter_map(|alert| alert.rounds.as_mut()) {
            rounds.add(sample);
        }
    }
}

impl Alert {
    fn new(index: usize, rule: &Rule, info: &SeriesInfo) -> Self {
        let rounds = |round: &Option<Duration>, most| {
            let length = round.or(info.round).unwrap_or(DEFAULT_ROUND);
            Rounds::new(length, info.timeout, most)
        };
        let rounds = match &rule.condition {
            Condition::Pattern { pattern, round, .. } => Some(rounds(round, pattern.longest())),
            Condition::Matcher { matcher, round } => Some(rounds(round, matcher.longest())),
            _ => None,
        };
        Alert { rule: index, phase: Phase::default(), rounds, next: WallTime(0), is_sent: false }
    }
}

impl Run {
    /// A loss of which is heard after a later probe was answered breaks no row.
    fn add(&mut self, sample: Sample) {
        let is_answered = matches!(sample.outcome, Outcome::Answered(_) | Outcome::Late(_));
        if is_answered {
            let latest = self.answered.map_or(sample.at, |at| at.max(sample.at));
            *self = Run { answered: Some(latest), ..Run::default() };
        } else if self.answered.is_none_or(|at| at < sample.at) {
            self.count += 1;
            self.has_failed = sample.outcome == Outcome::Failed;
            self.failing_since.get_or_insert(sample.at);
        }
    }
}
