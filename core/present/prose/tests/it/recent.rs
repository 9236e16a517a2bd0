//! The last minute of a watch and patterns of its history, as the tests of `fathom-report` also
//! show them.
use crate::samples::histories;
use fathom_diagnose::{RecentSeries, diagnose_recent};
use fathom_prose::{
    HistoryOrigin, compare_recent, pattern_actions, pattern_numbers, pattern_reasons, pattern_verdict,
    recent_actions, recent_reasons, recent_verdict,
};
use fathom_run::{Certainty, Finding, FindingKind};
use fathom_units::{Direction, Duration};
use fathom_watch_samples::{Code, Column, Outcome, Sketch};

pub(crate) const ORIGIN: HistoryOrigin<'static> = HistoryOrigin { config: Some("watch.toml"), store: None };

/// A minute with `answered` responses after `latency_ms`, and a day after `base_ms`.
fn series(target: &str, answered: u64, latency_ms: f64, [lost, failed]: [u64; 2]) -> RecentSeries {
    let code = |ms: f64| Code::of(Outcome::Answered(Duration::from_secs_f64(ms / 1e3)));
    let (mut minute, mut day) = (Column::default(), Sketch::default());
    let codes = [(answered, code(latency_ms)), (lost, Code::LOST), (failed, Code::FAILED)];
    for (count, result) in codes {
        for _ in 0..count {
            minute.tally.add(result);
            minute.sketch.add(result);
        }
    }
    day.add(code(12.0));
    diagnose_recent(target, "icmp", &minute, &day)
}

/// The last minute of several watches.
pub(crate) fn recents() -> Vec<(&'static str, Vec<RecentSeries>)> {
    let good = |name: &str| series(name, 60, 12.5, [0, 0]);
    let slow = |name: &str| series(name, 60, 230.0, [0, 0]);
    let lossy = |name: &str| series(name, 54, 12.5, [6, 0]);
    let silent = |name: &str| series(name, 0, 0.0, [60, 0]);
    let failing = |name: &str| series(name, 0, 0.0, [0, 60]);
    let hop = RecentSeries { probe: "hop 2".into(), ..silent("shop") };
    let part = RecentSeries { probe: "https connect".into(), ..slow("shop") };
    let late = RecentSeries { probe: "lateness of icmp".into(), ..good("this host") };
    let many = (1..=40).map(|n| good(&format!("site {n:02}"))).chain([silent("nas")]);
    let mut all = vec![
        ("one target", vec![good("router")]),
        ("several targets", vec![good("router"), good("shop"), good("office/berlin"), hop, part, late]),
        ("one of several is silent", vec![good("router"), silent("nas")]),
        ("a silent one, a slow one, a lossy one, a failing one", {
            vec![good("router"), slow("shop"), lossy("office/berlin"), silent("nas"), failing("typo")]
        }),
        ("four are silent", ["a", "b", "c", "d"].map(silent).into()),
        ("a lossy one", vec![good("router"), lossy("shop")]),
        ("a slow one", vec![good("router"), slow("shop")]),
        ("a slow one and a lossy one", vec![slow("shop"), lossy("office/berlin")]),
        ("the only probe is lost", vec![series("night", 0, 0.0, [1, 0])]),
        ("nothing can be probed", vec![failing("typo")]),
        ("one cannot be probed", vec![good("router"), failing("typo")]),
        ("forty-one targets", many.collect()),
        ("no target", Vec::new()),
    ];
    all.iter_mut().for_each(|(_, series)| series.sort_by(compare_recent));
    all
}

/// Findings of several histories, and the days of each.
pub(crate) fn patterns() -> Vec<(&'static str, Vec<Finding>, u64)> {
    let certainties = [Certainty::Certain, Certainty::Likely].into_iter().cycle();
    let found: Vec<Finding> = histories()
        .into_iter()
        .filter(|one| one.kind() != FindingKind::LatencyVariation)
        .zip(certainties)
        .map(|(one, certainty)| {
            let direction = (one.kind() == FindingKind::OwnLoad).then_some(Direction::Up);
            Finding::new(one, direction, certainty)
        })
        .collect();
    let of = |kind| found.iter().filter(|one| one.kind() == kind).take(1).cloned().collect();
    vec![
        ("own load", of(FindingKind::OwnLoad), 90),
        ("recurring delay", of(FindingKind::RecurringDelay), 90),
        ("recurring loss", of(FindingKind::RecurringLoss), 28),
        ("base change", of(FindingKind::BaseChange), 90),
        ("all kinds", found, 365),
        ("no pattern", Vec::new(), 90),
        ("one day", Vec::new(), 1),
        ("three days", Vec::new(), 3),
        ("no day", Vec::new(), 0),
    ]
}

/// Every sentence about them.
pub(crate) fn sentences() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut add = |name: &str, text: String| all.push((name.to_string(), text));
    for (_, series) in recents() {
        for end in [None, Some("2026-11-24T12:00:00Z")] {
            let verdict = recent_verdict(&series, end);
            add(verdict.level.word(), verdict.headline);
            verdict.consequence.into_iter().for_each(|text| add("  then", text));
        }
        recent_reasons(&series).into_iter().for_each(|reason| add("  why", reason.text));
        recent_actions(&series, ORIGIN)
            .into_iter()
            .for_each(|action| add("  do", action.text + "  " + &action.command.unwrap_or_default()));
    }
    for (_, found, days) in patterns() {
        let verdict = pattern_verdict(&found, days);
        add(verdict.level.word(), verdict.headline);
        verdict.consequence.into_iter().for_each(|text| add("  then", text));
        for number in pattern_numbers(&found, days) {
            let values = number.values.iter().map(|value| format!("{} {}", value.text, value.of));
            add(&format!("  {}", number.label), values.collect::<Vec<_>>().join(", "));
        }
        pattern_reasons(&found).into_iter().for_each(|reason| add("  why", reason.text));
        pattern_actions(&found, ORIGIN)
            .into_iter()
            .for_each(|action| add("  do", action.text + "  " + &action.command.unwrap_or_default()));
    }
    all
}
