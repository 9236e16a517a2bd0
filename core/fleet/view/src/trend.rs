//! How the lag of a fleet develops.
use crate::answer::Track;
use crate::fleet::Fleet;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_stats::percentile_of_sorted;
use fathom_units::Duration;

/// Steps of a trend: hours, days and weeks.
const STEPS_S: [u64; 3] = [3_600, 86_400, 7 * 86_400];
/// Most steps of a trend, which is one column of a terminal for each.
const MAX_STEPS: u64 = 60;

/// The lags of the sites in one step.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TrendPoint {
    /// End of the step, in seconds since 1970.
    pub at_s: f64,
    /// Number of sites with a test in this step.
    pub sites: u64,
    /// Median of their lags, in seconds.
    pub lag_p50_s: f64,
    /// 90th percentile of their lags, in seconds.
    pub lag_p90_s: f64,
}

/// The steps of the sites with the same value of a label.
#[derive(Clone, PartialEq, Debug)]
pub struct Trend {
    /// The value; empty for sites without the label, and for all sites.
    pub value: String,
    /// The steps with tests, in order of time.
    pub points: Vec<TrendPoint>,
}

/// The length of a step for a period: hours up to two and a half days, then days, then weeks.
#[must_use]
pub fn trend_step(period: Duration) -> Duration {
    let seconds = period.as_nanos() / 1_000_000_000;
    let fits = STEPS_S.into_iter().find(|step| seconds / step <= MAX_STEPS);
    Duration::from_secs(fits.unwrap_or(STEPS_S[2]))
}

/// The trends in the answers of an engine: medians, 90th percentiles and numbers of sites. Those
/// with the most sites come first.
#[must_use]
pub fn trends_of(by: Option<&str>, p50: &[Track], p90: &[Track], sites: &[Track]) -> Vec<Trend> {
    let mut found: BTreeMap<String, BTreeMap<u64, TrendPoint>> = BTreeMap::new();
    let mut each = |tracks: &[Track], set: fn(&mut TrendPoint, f64)| {
        for track in tracks {
            let value = by.and_then(|by| track.labels.get(by)).cloned().unwrap_or_default();
            let points = found.entry(value).or_default();
            for (at_s, number) in &track.points {
                let new = TrendPoint { at_s: *at_s, sites: 0, lag_p50_s: 0.0, lag_p90_s: 0.0 };
                set(points.entry(*at_s as u64).or_insert(new), *number);
            }
        }
    };
    each(p50, |point, number| point.lag_p50_s = number);
    each(p90, |point, number| point.lag_p90_s = number);
    each(sites, |point, number| point.sites = number as u64);
    let trend = |(value, points): (String, BTreeMap<u64, TrendPoint>)| Trend {
        value,
        points: whole_steps(points.into_values().filter(|point| point.sites > 0).collect()),
    };
    largest_first(found.into_iter().map(trend).collect())
}

/// The trends of fleets of successive steps, each with the end of its step in seconds since 1970.
#[must_use]
pub fn trends(by: Option<&str>, steps: &[(f64, Fleet)]) -> Vec<Trend> {
    let mut found: BTreeMap<String, Vec<TrendPoint>> = BTreeMap::new();
    for (at_s, fleet) in steps {
        let mut lags: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for site in fleet.sites() {
            if let Some(lag) = site.lag_s() {
                let value = by.and_then(|by| site.labels.get(by)).cloned().unwrap_or_default();
                lags.entry(value).or_default().push(lag);
            }
        }
        for (value, mut some) in lags {
            some.sort_by(f64::total_cmp);
            let percentiles = percentile_of_sorted(&some, 0.5).zip(percentile_of_sorted(&some, 0.9));
            let Some((lag_p50_s, lag_p90_s)) = percentiles else { continue };
            let point = TrendPoint { at_s: *at_s, sites: some.len() as u64, lag_p50_s, lag_p90_s };
            found.entry(value).or_default().push(point);
        }
    }
    let trend = |(value, points)| Trend { value, points: whole_steps(points) };
    largest_first(found.into_iter().map(trend).collect())
}

/// Without the first or last step, if it has less than half of the sites of the next one: the data
/// begin or end within it, so that only some of the sites were tested.
fn whole_steps(mut points: Vec<TrendPoint>) -> Vec<TrendPoint> {
    let is_part = |end: &TrendPoint, next: &TrendPoint| 2 * end.sites < next.sites;
    if let [first, second, ..] = points.as_slice()
        && is_part(first, second)
    {
        points.remove(0);
    }
    if let [.., before, last] = points.as_slice()
        && is_part(last, before)
    {
        points.pop();
    }
    points
}

fn largest_first(mut all: Vec<Trend>) -> Vec<Trend> {
    let most = |trend: &Trend| trend.points.iter().map(|point| point.sites).max().unwrap_or_default();
    all.retain(|trend| !trend.points.is_empty());
    all.sort_by(|a, b| most(b).cmp(&most(a)).then_with(|| a.value.cmp(&b.value)));
    all
}
