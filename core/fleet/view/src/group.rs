//! Sites with the same value of a label.
use crate::fleet::{Fleet, Site};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_stats::percentile_of_sorted;

/// Least number of sites from which one can differ.
const MIN_SITES: usize = 8;
/// Distance from the quartile, in interquartile ranges, of values that are "far out" (Tukey,
/// Exploratory data analysis, 1977, section 2D).
const FAR_OUT: f64 = 3.0;

/// Sites with the same value of a label.
#[derive(Clone, PartialEq, Debug)]
pub struct Group {
    /// The value; empty for the sites without this label.
    pub value: String,
    /// Number of sites with a lag.
    pub sites: usize,
    /// Median of their lags, in seconds.
    pub lag_p50_s: f64,
    /// 90th percentile of their lags, in seconds.
    pub lag_p90_s: f64,
    /// Share of the sites whose lag is at least the limit of [`groups`], from 0 to 1.
    pub bloated_ratio: f64,
}

/// The sites by the value of a label, the largest median lag first. `limit_s` is the lag from which
/// a line counts as bloated.
#[must_use]
pub fn groups(fleet: &Fleet, label: &str, limit_s: f64) -> Vec<Group> {
    let mut groups: Vec<Group> = by_label(fleet, label)
        .into_iter()
        .filter_map(|(value, sites)| {
            let lags: Vec<f64> = sites.iter().map(|(lag, _)| *lag).collect();
            Some(Group {
                value,
                sites: lags.len(),
                lag_p50_s: percentile_of_sorted(&lags, 0.5)?,
                lag_p90_s: percentile_of_sorted(&lags, 0.9)?,
                bloated_ratio: lags.iter().filter(|lag| **lag >= limit_s).count() as f64 / lags.len() as f64,
            })
        })
        .collect();
    groups.sort_by(|a, b| b.lag_p50_s.total_cmp(&a.lag_p50_s).then_with(|| a.value.cmp(&b.value)));
    groups
}

/// Sites whose lag is far above that of the others with the same value of a label: the problem of
/// one line, not of a plan or a provider. The largest lag first.
#[must_use]
pub fn outliers<'f>(fleet: &'f Fleet, label: &str) -> Vec<&'f Site> {
    let mut found: Vec<(f64, &Site)> = Vec::new();
    for sites in by_label(fleet, label).into_values().filter(|sites| sites.len() >= MIN_SITES) {
        let lags: Vec<f64> = sites.iter().map(|(lag, _)| *lag).collect();
        let quartiles = percentile_of_sorted(&lags, 0.25).zip(percentile_of_sorted(&lags, 0.75));
        let Some((lower, upper)) = quartiles else { continue };
        let limit = upper + FAR_OUT * (upper - lower).max(MIN_SPREAD_S);
        found.extend(sites.into_iter().filter(|(lag, _)| *lag > limit));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
    found.into_iter().map(|(_, site)| site).collect()
}

/// Least spread of lags, in seconds: on lines without queues, a few milliseconds are none.
const MIN_SPREAD_S: f64 = 0.005;

/// Each value of a label with its sites and their lags, in ascending order.
fn by_label<'f>(fleet: &'f Fleet, label: &str) -> BTreeMap<String, Vec<(f64, &'f Site)>> {
    let mut all: BTreeMap<String, Vec<(f64, &Site)>> = BTreeMap::new();
    for site in fleet.sites() {
        if let Some(lag) = site.lag_s() {
            let value = site.labels.get(label).map_or("", String::as_str).to_string();
            all.entry(value).or_default().push((lag, site));
        }
    }
    all.values_mut().for_each(|sites| sites.sort_by(|a, b| a.0.total_cmp(&b.0)));
    all
}
