//! Evaluates all rules over all series.
use crate::condition::{Condition, Evidence, Verdict};
use crate::link::Throughput;
use crate::past::Past;
use crate::phase::{Change, between};
use crate::rule::Rule;
use crate::series::{Alert, Link, Series, SeriesInfo};
use crate::state::AlertState;
use crate::{judge, words};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::{Duration, WallTime};
use fathom_watch_samples::Sample;

/// Number of evaluations per window.
const LOOKS: u64 = 30;
const MIN_LOOK_INTERVAL: Duration = Duration::from_secs(1);
const MAX_LOOK_INTERVAL: Duration = Duration::from_secs(60);

/// A state change of an alert, for receivers, the page and the history.
#[derive(Clone, PartialEq, Debug)]
pub struct Transition {
    /// Time of the change.
    pub at: WallTime,
    /// The change.
    pub change: Change,
    /// Name of the rule.
    pub alert: String,
    /// Type of the condition: `loss`, `latency`.
    pub condition: &'static str,
    /// The target with its group.
    pub target: String,
    /// The group; empty if there is none.
    pub group: String,
    /// The series.
    pub probe: String,
    /// Number of the series; `None` if it is no longer watched.
    pub series: Option<u32>,
    /// When the alert was raised.
    pub raised_at: WallTime,
    /// The evidence.
    pub evidence: Evidence,
    /// Receivers to notify; empty if an alert of higher priority is raised.
    pub to: Vec<String>,
    /// The note of the rule.
    pub note: String,
}

/// A request for past delays from the history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HistoryRequest {
    /// The series.
    pub series: u32,
    /// The requested percentile.
    pub percentile: u64,
    /// The hour that the past is needed for; [`Past::weeks_before`] gives the same hour of previous
    /// weeks.
    pub hour: WallTime,
}

/// The rules and their state for each series.
#[derive(Clone, Default, Debug)]
pub struct Watcher {
    rules: Vec<Rule>,
    series: BTreeMap<u32, Series>,
    link: Throughput,
    /// States of alerts whose series is not open.
    waiting: Vec<AlertState>,
}

impl Watcher {
    /// A watcher with these rules.
    pub fn new(rules: &[Rule]) -> Self {
        Watcher { rules: rules.to_vec(), ..Watcher::default() }
    }
    /// Whether there are no rules and no alerts of earlier rules left to clear.
    pub fn is_idle(&self) -> bool {
        self.rules.is_empty() && self.waiting.is_empty()
    }
    /// Replaces the rules. Alerts with the same name keep their state until the new rules are
    /// evaluated.
    pub fn replan(&mut self, rules: &[Rule]) {
        self.waiting = self.remembered();
        self.rules = rules.to_vec();
        for series in self.series.values_mut() {
            series.take_rules(&self.rules);
            resume(series, &self.rules, &mut self.waiting);
        }
    }
    /// Restores the states of alerts. Those of series that are not open yet are applied when they
    /// open.
    pub fn restore(&mut self, remembered: Vec<AlertState>) {
        self.waiting.extend(remembered);
        self.series.values_mut().for_each(|series| resume(series, &self.rules, &mut self.waiting));
    }
    /// Adds a series.
    pub fn open(&mut self, number: u32, info: SeriesInfo) {
        let mut series = Series::new(info, &self.rules);
        resume(&mut series, &self.rules, &mut self.waiting);
        self.series.insert(number, series);
    }
    /// Removes a series. Its alerts are kept until it is opened again or until [`Watcher::settle`].
    pub fn close(&mut self, number: u32) {
        if let Some(series) = self.series.remove(&number) {
            self.waiting.extend(remembered_of(&series, &self.rules));
        }
    }
    /// Clears alerts that are no longer evaluated because their rule or target was removed.
    pub fn settle(&mut self, now: WallTime) -> Vec<Transition> {
        let gone = core::mem::take(&mut self.waiting);
        gone.into_iter().filter(|g| g.is_raised || g.is_flapping).map(|g| ended(g, now)).collect()
    }
    /// Adds the outcome of a probe.
    pub fn sample(&mut self, number: u32, sample: Sample) {
        self.series.get_mut(&number).into_iter().for_each(|series| series.sample(sample));
    }
    /// Replaces a loss with a late answer. Closed rounds do not change.
    pub fn amend(&mut self, number: u32, sample: Sample) {
        self.series.get_mut(&number).into_iter().for_each(|series| series.ring.amend(sample));
    }
    /// Sets the reason for failed probes.
    pub fn reason(&mut self, number: u32, reason: &str) {
        self.series.get_mut(&number).into_iter().for_each(|series| series.run.reason = reason.into());
    }
    /// Adds a path change; `number` is the series of the first router.
    pub fn path_changed(&mut self, number: u32, at: WallTime, text: &str) {
        let changed = Some((at, text.into()));
        self.series.get_mut(&number).into_iter().for_each(|series| series.path_change.clone_from(&changed));
    }
    /// Adds the throughput of this host's own link.
    pub fn throughput(&mut self, at: WallTime, link: Link, bits_per_second: f64) {
        self.link.add(at, link, bits_per_second);
    }
    /// Requests for the past delays that are needed for this hour. Each is returned once.
    pub fn history_requests(&mut self, now: WallTime) -> Vec<HistoryRequest> {
        let mut history_requests = Vec::new();
        if self.rules.is_empty() {
            return history_requests;
        }
        for (number, series) in &mut self.series {
            let rules = series.alerts.iter().filter_map(|alert| self.rules.get(alert.rule));
            let requested = |rule: &Rule| match rule.condition {
                Condition::Unusual { percentile, .. } => Some(percentile),
                _ => None,
            };
            let percentiles: Vec<u64> = rules.filter_map(requested).collect();
            let of = |(percentile, hour)| HistoryRequest { series: *number, percentile, hour };
            history_requests.extend(series.history_requests(&percentiles, now).into_iter().map(of));
        }
        history_requests
    }
    /// Schedules a request again because it could not be answered yet.
    pub fn request_again(&mut self, request: HistoryRequest) {
        if let Some(series) = self.series.get_mut(&request.series) {
            series.requested.remove(&request.percentile);
        }
    }
    /// Adds the answer to a request.
    pub fn learn(&mut self, request: HistoryRequest, past: Past) {
        if let Some(series) = self.series.get_mut(&request.series) {
            series.pasts.insert(request.percentile, past);
        }
    }
    /// Evaluates the rules that are due. Call it about once a second.
    pub fn tick(&mut self, now: WallTime) -> Vec<Transition> {
        let mut transitions = Vec::new();
        if self.rules.is_empty() {
            return transitions;
        }
        for (number, series) in &mut self.series {
            let mut alerts = core::mem::take(&mut series.alerts);
            for index in 0..alerts.len() {
                let higher = highest(&alerts, &self.rules, index);
                let Some((alert, rule)) =
                    alerts.get_mut(index).and_then(|a| self.rules.get(a.rule).map(|r| (a, r)))
                else {
                    continue;
                };
                let Some((change, evidence)) = look(series, alert, rule, &self.link, now) else { continue };
                let to = receivers_of(alert, rule, higher, change);
                transitions.push(transition(series, *number, (alert, rule), (now, change, evidence), to));
            }
            series.alerts = alerts;
        }
        transitions
    }
    /// Names of the raised alerts by series; only series that have any.
    pub fn active(&self) -> Vec<(u32, Vec<String>)> {
        let raised = |series: &Series| {
            let active = series.alerts.iter().filter(|alert| alert.phase.is_active());
            active.filter_map(|a| self.rules.get(a.rule)).map(|r| r.name.clone()).collect::<Vec<String>>()
        };
        let all = self.series.iter().map(|(number, series)| (*number, raised(series)));
        all.filter(|(_, names)| !names.is_empty()).collect()
    }
    /// The raised alerts that were sent, as new transitions, to remind receivers after a restart.
    pub fn standing(&self, now: WallTime) -> Vec<Transition> {
        let mut all = Vec::new();
        for (number, series) in &self.series {
            for alert in series.alerts.iter().filter(|alert| alert.phase.is_active() && alert.is_sent) {
                let Some(rule) = self.rules.get(alert.rule) else { continue };
                let evidence = Evidence { text: alert.phase.why.clone(), ..Evidence::default() };
                let what = (now, Change::Still, evidence);
                all.push(transition(series, *number, (alert, rule), what, rule.to.clone()));
            }
        }
        all
    }
    /// The states of all alerts that differ from the initial state.
    pub fn remembered(&self) -> Vec<AlertState> {
        let open = self.series.values().flat_map(|series| remembered_of(series, &self.rules));
        open.chain(self.waiting.iter().cloned()).collect()
    }
}

/// Evaluates one alert if it is due.
fn look(
    series: &Series,
    alert: &mut Alert,
    rule: &Rule,
    link: &Throughput,
    now: WallTime,
) -> Option<(Change, Evidence)> {
    let step = Duration::from_nanos(rule.condition.window().as_nanos() / LOOKS)
        .clamp(MIN_LOOK_INTERVAL, MAX_LOOK_INTERVAL);
    // A next time far ahead is from before the clock was set back.
    if alert.next > now && between(now, alert.next) <= step {
        return None;
    }
    alert.next = WallTime(now.0 / step.as_nanos() * step.as_nanos() + step.as_nanos());
    let verdict = match alert.rounds.as_mut() {
        None => series.judge(&rule.condition, link, now),
        Some(rounds) => {
            if rounds.close_one(now) {
                // After a pause several rounds may be due: evaluate each.
                alert.next = now;
                judge::of_rounds(&rule.condition, rounds, alert.phase.is_raised)
            } else if alert.phase.is_flapping {
                Verdict::Unknown
            } else {
                return None;
            }
        }
    };
    let change = alert.phase.step(&verdict, now, rule)?;
    let evidence = verdict.evidence().unwrap_or_default();
    if change != Change::Cleared {
        alert.phase.why.clone_from(&evidence.text);
    }
    Some((change, evidence))
}

/// The highest priority (lowest number) of the other raised alerts.
fn highest(alerts: &[Alert], rules: &[Rule], but: usize) -> Option<u64> {
    let others = alerts.iter().enumerate().filter(|(index, a)| *index != but && a.phase.is_active());
    others.filter_map(|(_, a)| rules.get(a.rule).and_then(|rule| rule.priority)).min()
}

/// Receivers to notify. Those notified of a raised alert are also notified when it is cleared.
fn receivers_of(alert: &mut Alert, rule: &Rule, higher: Option<u64>, change: Change) -> Vec<String> {
    let is_outdone = rule.priority.is_some_and(|own| higher.is_some_and(|h| h < own));
    let is_sent_now = match change {
        Change::Cleared => core::mem::take(&mut alert.is_sent),
        _ => !is_outdone,
    };
    alert.is_sent |= is_sent_now && change != Change::Cleared;
    if is_sent_now { rule.to.clone() } else { Vec::new() }
}

fn transition(
    series: &Series,
    number: u32,
    (alert, rule): (&Alert, &Rule),
    (at, change, mut evidence): (WallTime, Change, Evidence),
    to: Vec<String>,
) -> Transition {
    let info = &series.info;
    let raised_at = alert.phase.raised_at;
    match change {
        Change::Cleared => {
            evidence.text = format!("after {}: {}", words::length(between(raised_at, at)), evidence.text);
        }
        Change::Flapping => {
            let changes = alert.phase.changes.len();
            let window = words::length(rule.flapping.window);
            evidence.text = format!(
                "{changes} changes in {window}, no notifications until it is stable; {}",
                evidence.text
            );
        }
        Change::Raised | Change::Still => {}
    }
    Transition {
        at,
        change,
        alert: rule.name.clone(),
        condition: rule.condition.name(),
        target: info.target.clone(),
        group: info.group.clone(),
        probe: info.path.as_ref().filter(|_| rule.condition.name() == "path").unwrap_or(&info.probe).clone(),
        series: Some(number),
        raised_at,
        evidence,
        to,
        note: rule.note.clone(),
    }
}

/// The transition that clears an alert that is no longer evaluated.
fn ended(gone: AlertState, at: WallTime) -> Transition {
    let text = format!("no longer watched, after {}", words::length(between(gone.raised_at, at)));
    Transition {
        at,
        change: Change::Cleared,
        alert: gone.alert,
        condition: "",
        target: gone.target,
        group: String::new(),
        probe: gone.probe,
        series: None,
        raised_at: gone.raised_at,
        evidence: Evidence { text, ..Evidence::default() },
        to: gone.to,
        note: String::new(),
    }
}

fn resume(series: &mut Series, rules: &[Rule], waiting: &mut Vec<AlertState>) {
    let info = series.info.clone();
    for alert in &mut series.alerts {
        let Some(rule) = rules.get(alert.rule) else { continue };
        let found = waiting.iter().position(|w| w.is_of(&rule.name, &info.target, &info.probe));
        if let Some(index) = found {
            waiting.swap_remove(index).give_back(alert);
        }
    }
}

fn remembered_of(series: &Series, rules: &[Rule]) -> Vec<AlertState> {
    let info = &series.info;
    let of = |alert: &Alert| {
        let rule = rules.get(alert.rule)?;
        AlertState::of(alert, rule, (&info.target, &info.probe))
    };
    series.alerts.iter().filter_map(of).collect()
}
