//! Trends, from an engine and from fleets.
use crate::{fleet, labels};
use fathom_fleet_view::{Track, Trend, TrendPoint, trend_step, trends, trends_of};
use fathom_units::Duration;

fn track(plan: &str, points: &[(f64, f64)]) -> Track {
    Track { labels: labels(&[("plan", plan)]), points: points.to_vec() }
}

fn point(at_s: f64, sites: u64, lag_p50_s: f64, lag_p90_s: f64) -> TrendPoint {
    TrendPoint { at_s, sites, lag_p50_s, lag_p90_s }
}

#[test]
fn steps_are_hours_days_and_weeks() {
    let step = |days: u64| trend_step(Duration::from_secs(days * 86_400)).as_nanos() / 1_000_000_000;
    assert_eq!(
        [step(1), step(2), step(3), step(60), step(61), step(3_650)],
        [3_600, 3_600, 86_400, 86_400, 604_800, 604_800]
    );
}

#[test]
fn answers_become_trends_with_the_largest_first() {
    let p50 = [track("x", &[(0.0, 0.1), (60.0, 0.2)]), track("y", &[(60.0, 0.3)])];
    let p90 = [track("x", &[(0.0, 0.4), (60.0, 0.5)]), track("y", &[(60.0, 0.6)])];
    let sites = [track("x", &[(0.0, 2.0), (60.0, 3.0)]), track("y", &[(60.0, 9.0)])];
    let expected = [
        Trend { value: "y".into(), points: vec![point(60.0, 9, 0.3, 0.6)] },
        Trend { value: "x".into(), points: vec![point(0.0, 2, 0.1, 0.4), point(60.0, 3, 0.2, 0.5)] },
    ];
    assert_eq!(trends_of(Some("plan"), &p50, &p90, &sites), expected);
    // An engine that answers only some of the queries.
    assert_eq!(trends_of(Some("plan"), &p50, &p90, &[]), []);
}

/// The data begin and end within a step; a fleet that grows loses its first step at most.
#[test]
fn parts_of_steps_at_the_ends_are_left_out() {
    let kept = |sites: &[u64]| {
        let track = |value: f64| {
            let points: Vec<(f64, f64)> = (0..sites.len()).map(|n| (n as f64 * 60.0, value)).collect();
            [track("x", &points)]
        };
        let counts: Vec<(f64, f64)> =
            sites.iter().zip(0..).map(|(n, at)| (f64::from(at) * 60.0, *n as f64)).collect();
        let found = trends_of(None, &track(0.1), &track(0.2), &[super::trends::track("x", &counts)]);
        found.first().map_or_else(Vec::new, |one| one.points.iter().map(|point| point.sites).collect())
    };
    assert_eq!(kept(&[20, 120, 119, 30]), [120, 119]);
    assert_eq!(kept(&[60, 120, 60]), [60, 120, 60]);
    assert_eq!(kept(&[10, 20, 40, 80]), [10, 20, 40, 80]);
    assert_eq!(kept(&[1, 10]), [10]);
    assert_eq!(kept(&[7]), [7]);
    assert_eq!(kept(&[]), [] as [u64; 0]);
}

#[test]
fn fleets_become_the_same_trends() {
    let steps = [
        (0.0, fleet(&[("a", "x", 0.1), ("b", "x", 0.3), ("c", "x", 0.2)])),
        (60.0, fleet(&[("a", "x", 0.5), ("b", "x", 0.6), ("d", "y", 0.7)])),
    ];
    let by_plan = [
        Trend { value: "x".into(), points: vec![point(0.0, 3, 0.2, 0.3), point(60.0, 2, 0.5, 0.6)] },
        Trend { value: "y".into(), points: vec![point(60.0, 1, 0.7, 0.7)] },
    ];
    assert_eq!(trends(Some("plan"), &steps), by_plan);
    let all =
        [Trend { value: String::new(), points: vec![point(0.0, 3, 0.2, 0.3), point(60.0, 3, 0.6, 0.7)] }];
    assert_eq!(trends(None, &steps), all);
    assert_eq!(trends(None, &[]), []);
}
