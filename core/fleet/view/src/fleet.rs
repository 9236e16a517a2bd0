//! The sites of a fleet in one period.
use crate::answer::Labelled;
use crate::promql::{Measure, SITE};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::PerDirection;

/// Medians of the tests of one direction of a site.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct LineSummary {
    /// Lag when busy, in seconds.
    pub lag_s: Option<f64>,
    /// Goodput in bit/s.
    pub rate_bits_per_second: Option<f64>,
    /// Size of the buffer in bytes.
    pub buffer_bytes: Option<f64>,
}

/// A site in one period.
#[derive(Clone, PartialEq, Debug)]
pub struct Site {
    /// The name.
    pub name: String,
    /// Its labels, such as provider, plan and region.
    pub labels: BTreeMap<String, String>,
    /// Each direction.
    pub lines: PerDirection<LineSummary>,
    /// Median of the idle latency, in seconds.
    pub idle_s: Option<f64>,
    /// Number of tests.
    pub tests: u64,
}

impl Site {
    /// The larger lag of both directions, in seconds.
    #[must_use]
    pub fn lag_s(&self) -> Option<f64> {
        let lags = [self.lines.up.lag_s, self.lines.down.lag_s];
        lags.into_iter().flatten().reduce(f64::max)
    }
}

/// The sites of a period, by name.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Fleet {
    sites: BTreeMap<String, Site>,
}

impl Fleet {
    /// Adds the answer to the query of a measure. Series without a site are left out.
    pub fn add(&mut self, measure: Measure, values: Vec<Labelled>) {
        for Labelled { mut labels, value } in values {
            let Some(name) = labels.remove(SITE).filter(|name| !name.is_empty()) else { continue };
            let direction = labels.remove("direction");
            labels.remove("__name__");
            let site = self.sites.entry(name.clone()).or_insert_with(|| Site {
                name,
                labels: BTreeMap::new(),
                lines: PerDirection::default(),
                idle_s: None,
                tests: 0,
            });
            site.labels.append(&mut labels);
            let line = match direction.as_deref() {
                Some("up") => Some(&mut site.lines.up),
                Some("down") => Some(&mut site.lines.down),
                _ => None,
            };
            match (measure, line) {
                (Measure::Lag, Some(line)) => line.lag_s = larger(line.lag_s, value),
                (Measure::Rate, Some(line)) => {
                    line.rate_bits_per_second = larger(line.rate_bits_per_second, value);
                }
                (Measure::Buffer, Some(line)) => line.buffer_bytes = larger(line.buffer_bytes, value),
                (Measure::Idle, _) => site.idle_s = larger(site.idle_s, value),
                (Measure::Tests, _) => site.tests += value as u64,
                _ => {}
            }
        }
    }
    /// All sites, by name.
    pub fn sites(&self) -> impl Iterator<Item = &Site> {
        self.sites.values()
    }
    /// The site with this name.
    #[must_use]
    pub fn site(&self, name: &str) -> Option<&Site> {
        self.sites.get(name)
    }
    /// The sites with a lag, the largest first, then by name.
    #[must_use]
    pub fn by_lag(&self) -> Vec<&Site> {
        let mut all: Vec<(f64, &Site)> =
            self.sites().filter_map(|site| Some((site.lag_s()?, site))).collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
        all.into_iter().map(|(_, site)| site).collect()
    }
}

fn larger(known: Option<f64>, value: f64) -> Option<f64> {
    Some(known.map_or(value, |known| known.max(value)))
}
