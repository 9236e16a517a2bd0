//! State of alerts, to be continued after a restart or a change of configuration.
use crate::Value;
use crate::phase::Phase;
use crate::rule::Rule;
use crate::series::Alert;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::WallTime;

/// State of one alert of one series.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct AlertState {
    /// Name of the rule.
    pub alert: String,
    /// The target with its group.
    pub target: String,
    /// The series.
    pub probe: String,
    /// Whether it is raised.
    pub is_raised: bool,
    /// Whether it is flapping.
    pub is_flapping: bool,
    /// Whether receivers were notified that it is raised.
    pub is_sent: bool,
    /// The receivers that were notified.
    pub to: Vec<String>,
    /// Start of the current state.
    pub since: WallTime,
    /// When it was last raised.
    pub raised_at: WallTime,
    /// Time of the last notification.
    pub notified: WallTime,
    /// Evidence of the last notification.
    pub why: String,
    /// Times of recent changes.
    pub changes: Vec<WallTime>,
    /// Loss of the last rounds, for patterns.
    pub loss: Vec<Value>,
    /// Median of the last rounds, for patterns.
    pub rtt: Vec<Value>,
}

impl AlertState {
    /// The state, or `None` if there is nothing to remember.
    pub(crate) fn of(alert: &Alert, rule: &Rule, (target, probe): (&str, &str)) -> Option<AlertState> {
        let phase = &alert.phase;
        let rounds = alert.rounds.as_ref();
        let kept = AlertState {
            alert: rule.name.clone(),
            target: target.into(),
            probe: probe.into(),
            is_raised: phase.is_raised,
            is_flapping: phase.is_flapping,
            is_sent: alert.is_sent,
            to: if alert.is_sent { rule.to.clone() } else { Vec::new() },
            since: phase.since,
            raised_at: phase.raised_at,
            notified: phase.notified,
            why: phase.why.clone(),
            changes: phase.changes.iter().copied().collect(),
            loss: rounds.map(|r| r.loss.iter().copied().collect()).unwrap_or_default(),
            rtt: rounds.map(|r| r.rtt.iter().copied().collect()).unwrap_or_default(),
        };
        let is_news = phase.is_active() || !phase.changes.is_empty() || kept.loss.len() > 1;
        is_news.then_some(kept)
    }
    pub(crate) fn give_back(self, alert: &mut Alert) {
        if let Some(rounds) = alert.rounds.as_mut() {
            rounds.resume(&self.loss, &self.rtt);
        }
        alert.is_sent = self.is_sent;
        alert.phase = Phase {
            is_raised: self.is_raised,
            since: self.since,
            is_flapping: self.is_flapping,
            notified: self.notified,
            changes: self.changes.into_iter().collect(),
            raised_at: self.raised_at,
            why: self.why,
            ..Phase::default()
        };
    }
    pub(crate) fn is_of(&self, alert: &str, target: &str, probe: &str) -> bool {
        (self.alert.as_str(), self.target.as_str(), self.probe.as_str()) == (alert, target, probe)
    }
}
