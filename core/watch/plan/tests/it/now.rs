//! Statistics of the last minute of a series.
use fathom_units::{Duration, WallTime};
use fathom_watch_plan::{LastMinute, TargetNow};
use fathom_watch_samples::{Outcome, Sample, Tally};

const fn wall(s: u64) -> WallTime {
    WallTime((1_800_000_000 + s) * 1_000_000_000)
}
const fn sample(s: u64, outcome: Outcome) -> Sample {
    Sample { at: wall(s), outcome }
}
fn state(minute: &LastMinute, s: u64) -> TargetNow {
    let mut now = TargetNow {
        name: "a".into(),
        group: String::new(),
        host: "h".into(),
        address: None,
        probe: "icmp".into(),
        series: 0,
        last: None,
        last_at: None,
        tally: Tally::default(),
        median: None,
        p95: None,
        failing_since: None,
        alerts: Vec::new(),
    };
    minute.fill(&mut now, wall(s));
    now
}
fn near(got: Option<Duration>, ms: f64) -> bool {
    got.is_some_and(|d| (d.as_millis_f64() / ms - 1.0).abs() < 0.012)
}

#[test]
fn only_the_last_minute_counts() {
    let mut minute = LastMinute::default();
    for s in 0..100 {
        minute.add(sample(s, Outcome::Answered(Duration::from_millis(if s < 97 { 10 } else { 400 }))));
    }
    minute.count(wall(10), 5, 0);
    minute.count(wall(90), 1, 2);
    let now = state(&minute, 100);
    let want = Tally { sent: 60, answered: 60, duplicates: 1, reordered: 2, ..Tally::default() };
    assert_eq!(now.tally, want);
    assert!(near(now.median, 10.0) && near(now.p95, 400.0) || near(now.p95, 10.0), "{now:?}");
    assert_eq!(now.last, Some(Outcome::Answered(Duration::from_millis(400))));
    assert_eq!(now.failing_since, None);
    assert_eq!(state(&minute, 1_000).tally, Tally::default(), "nothing of the last minute is left");
}

#[test]
fn since_when_it_fails_and_why() {
    let mut minute = LastMinute::default();
    assert_eq!(state(&minute, 0).median, None);
    minute.add(sample(1, Outcome::Answered(Duration::from_millis(1))));
    minute.add(sample(2, Outcome::Lost));
    minute.add(sample(3, Outcome::Lost));
    assert_eq!(state(&minute, 3).failing_since, Some((wall(2), "no answer".into())));
    minute.reason("name does not resolve");
    minute.add(sample(4, Outcome::Failed));
    assert_eq!(state(&minute, 4).failing_since, Some((wall(2), "name does not resolve".into())));
    // A late answer to an earlier probe: the newest probe is still lost.
    minute.amend(sample(2, Outcome::Late(Duration::from_secs(6))));
    let now = state(&minute, 9);
    assert_eq!((now.tally.late, now.tally.lost, now.tally.failed), (1, 1, 1));
    assert_eq!(now.failing_since.map(|f| f.0), Some(wall(2)));
    minute.add(sample(10, Outcome::Answered(Duration::from_millis(1))));
    assert_eq!(state(&minute, 10).failing_since, None);
}
