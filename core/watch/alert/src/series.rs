//! State of one series: everything that its rules use.
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

/// SmokePing's default round length, for targets that have no rounds.
const DEFAULT_ROUND: Duration = Duration::from_secs(300);

/// Properties of a series that rules use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SeriesInfo {
    /// The target with its group.
    pub target: String,
    /// The group; empty if there is none.
    pub group: String,
    /// The series: `icmp`, `hop 3`.
    pub probe: String,
    /// Whether this is the main series of its target.
    pub is_main: bool,
    /// The name of the path probe, if this series is the first router of a path and represents the
    /// path.
    pub path: Option<String>,
    /// Round length, if the target sends several probes per round.
    pub round: Option<Duration>,
    /// Timeout of the probes.
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
    /// Received traffic.
    Received,
    /// Sent traffic.
    Sent,
}

#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) info: SeriesInfo,
    pub(crate) ring: Ring,
    /// Past delays by percentile.
    pub(crate) pasts: BTreeMap<u64, Past>,
    /// The hour of the last request, by percentile.
    pub(crate) requested: BTreeMap<u64, WallTime>,
    pub(crate) run: Run,
    /// The last path change, in words.
    pub(crate) path_change: Option<(WallTime, String)>,
    pub(crate) alerts: Vec<Alert>,
}

/// Consecutive probes without an answer.
#[derive(Clone, Default, Debug)]
pub(crate) struct Run {
    pub(crate) failing_since: Option<WallTime>,
    pub(crate) count: u64,
    pub(crate) answered: Option<WallTime>,
    pub(crate) has_failed: bool,
    pub(crate) reason: String,
}

/// The state of a rule for this series.
#[derive(Clone, Debug)]
pub(crate) struct Alert {
    /// Index of the rule.
    pub(crate) rule: usize,
    pub(crate) phase: Phase,
    pub(crate) rounds: Option<Rounds>,
    /// Next evaluation.
    pub(crate) next: WallTime,
    /// Whether receivers were notified that it is raised. If so, they are also notified when it is
    /// cleared.
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
    /// Replaces the rules. [`Watcher::restore`](crate::Watcher::restore) restores their state.
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
    /// Ignores a loss that is reported after a later probe was answered.
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
