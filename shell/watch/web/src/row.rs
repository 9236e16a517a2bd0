//! A target as shown on the page and in the API.
use fathom_units::Duration;
use fathom_watch_plan::{TargetNow, is_of_test};
use fathom_watch_samples::Outcome;
use serde_json::{Value, json};

/// Minimum number of losses in the last minute before the loss ratio counts: a single lost probe is
/// no problem.
const TROUBLE_LOST: u64 = 2;
const TROUBLE_RATIO: f64 = 0.02;
/// Time without replies before a target counts as down: with ten probes per second, a few
/// consecutive losses do not mean that the path is down.
const FAILING_AFTER: Duration = Duration::from_secs(5);

/// Identifies a target.
pub(crate) fn key(target: &TargetNow) -> String {
    format!("{}\n{}", target.name, target.probe)
}

/// The state in one word.
pub(crate) fn state(target: &TargetNow) -> &'static str {
    let lost = target.tally.lost >= TROUBLE_LOST
        && target.tally.loss_ratio().is_some_and(|ratio| ratio >= TROUBLE_RATIO);
    if is_failing(target) {
        "failing"
    } else if lost || !target.alerts.is_empty() {
        "trouble"
    } else if target.tally.answered + target.tally.late > 0 || was_answered(target) {
        "fine"
    } else {
        "unknown"
    }
}

/// Whether replies have stopped, not only the latest one.
fn is_failing(target: &TargetNow) -> bool {
    let Some((since, _)) = &target.failing_since else { return false };
    let lasted_ns = target.last_at.map_or(0, |last| last.0.saturating_sub(since.0));
    lasted_ns >= FAILING_AFTER.as_nanos() || target.tally.answered + target.tally.late == 0
}

/// For a target that is probed once an hour, the last minute says nothing.
fn was_answered(target: &TargetNow) -> bool {
    matches!(target.last, Some(Outcome::Answered(_) | Outcome::Late(_)))
}

/// Three digits: finer ones change with every probe and mean nothing.
fn rounded(delay: Option<Duration>) -> Option<f64> {
    let value = delay?.as_secs_f64();
    format!("{value:.2e}").parse().ok()
}

/// The last result of a test, which has one in hours.
fn last_of_test(target: &TargetNow) -> Option<Duration> {
    match target.last {
        Some(Outcome::Answered(delay)) if is_of_test(&target.probe) => Some(delay),
        _ => None,
    }
}

pub(crate) fn row(target: &TargetNow) -> Value {
    let failing = target.failing_since.as_ref().filter(|_| is_failing(target));
    json!({
        "series": target.series,
        "name": target.name,
        "group": target.group,
        "host": target.host,
        "address": target.address.map_or(String::new(), |address| address.to_string()),
        "probe": target.probe,
        "state": state(target),
        "sent": target.tally.sent,
        "lost": target.tally.lost,
        "late": target.tally.late,
        "failed": target.tally.failed,
        "median_s": rounded(target.median.or(last_of_test(target))),
        "p95_s": rounded(target.p95),
        "failing_since_s": failing.map(|(since, _)| since.0 as f64 / 1e9),
        "reason": failing.map_or("", |(_, reason)| reason.as_str()),
        "alerts": target.alerts,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fathom_units::WallTime;
    use fathom_watch_samples::Tally;

    pub(crate) fn target(name: &str) -> TargetNow {
        TargetNow {
            name: name.into(),
            group: "home".into(),
            host: "192.0.2.1".into(),
            address: "192.0.2.1".parse().ok(),
            probe: "icmp".into(),
            series: 1,
            last: Some(Outcome::Answered(Duration::from_millis(12))),
            last_at: Some(WallTime(1_795_183_808_000_000_000)),
            tally: Tally { sent: 60, answered: 60, ..Tally::default() },
            median: Some(Duration::from_micros(12_345)),
            p95: None,
            failing_since: None,
            alerts: Vec::new(),
        }
    }

    #[test]
    fn a_test_shows_its_last_result() {
        let old = TargetNow { median: None, tally: Tally::default(), ..target("line") };
        assert_eq!(row(&old)["median_s"], Value::Null, "a probe of last minute only");
        let test = TargetNow { probe: "lag up".into(), ..old };
        assert_eq!(row(&test)["median_s"], 0.012);
        let failed = TargetNow { last: Some(Outcome::Failed), ..test };
        assert_eq!(row(&failed)["median_s"], Value::Null);
    }

    #[test]
    fn a_state_is_the_worst_that_applies() {
        let lost = |lost| Tally { sent: 60, answered: 60 - lost, lost, ..Tally::default() };
        type Case = (&'static str, fn(&mut TargetNow), u64);
        let cases: [Case; 7] = [
            ("fine", |_| (), 0),
            ("fine", |_| (), 1),
            ("trouble", |_| (), 2),
            ("trouble", |t| t.alerts.push("slow".into()), 0),
            ("failing", |t| t.failing_since = Some((WallTime(1), "no answer".into())), 60),
            ("unknown", |t| (t.last, t.tally) = (None, Tally::default()), 0),
            ("fine", |t| t.last = Some(Outcome::Lost), 1),
        ];
        for (expected, change, count) in cases {
            let mut one = target("a");
            one.tally = lost(count);
            change(&mut one);
            assert_eq!(state(&one), expected, "{one:?}");
        }
        assert_eq!(row(&target("a"))["median_s"], 0.0123);
    }
}
