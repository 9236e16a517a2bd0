//! How alerts stand, for whoever goes on after a restart or with another plan.
use crate::Value;
use crate::phase::Phase;
use crate::rule::Rule;
use crate::series::Alert;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::WallTime;

/// How one alert of one series stands.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct AlertState {
    /// The rule.
    pub alert: String,
    /// The target, with its group before it.
    pub target: String,
    /// The series.
    pub probe: String,
    /// It is raised.
    pub is_raised: bool,
    /// It comes and goes.
    pub is_flapping: bool,
    /// That it is raised was sent.
    pub is_sent: bool,
    /// To whom.
    pub to: Vec<String>,
    /// Since when it is as it is.
    pub since: WallTime,
    /// When it was raised last.
    pub raised_at: WallTime,
    /// When receivers were last notified.
    pub notified: WallTime,
    /// The evidence of the last notification that it is raised.
    pub why: String,
    /// When it changed lately.
    pub changes: Vec<WallTime>,
    /// Loss of the last rounds, for patterns.
    pub loss: Vec<Value>,
    /// Median of the last rounds, for patterns.
    pub rtt: Vec<Value>,
}

impl AlertState {
    /// Whether there is anything to remember.
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
