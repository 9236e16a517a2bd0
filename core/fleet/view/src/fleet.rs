//! The sites of a fleet in one period.
use crate::answer::Labelled;
use crate::labels::{LabelSets, SeriesLabels, SiteLabels};
use crate::promql::{Measure, SITE};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
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
    pub name: Arc<str>,
    /// Its labels, such as provider, plan and region.
    pub labels: SiteLabels,
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
    sites: BTreeMap<Arc<str>, Site>,
}

/// Collects the sites of a period from series.
#[derive(Default, Debug)]
pub struct FleetBuilder {
    fleet: Fleet,
    sets: LabelSets,
}

impl FleetBuilder {
    /// Adds a series of the answer to the query of a measure. Without a site it is left out.
    pub fn add(&mut self, measure: Measure, series: &SeriesLabels, value: f64) {
        let Some(name) = series.get(SITE).filter(|name| !name.is_empty()) else { return };
        let own = series.iter().filter(|(label, _)| !matches!(*label, SITE | "direction" | "__name__"));
        let sites = &mut self.fleet.sites;
        if let Some(site) = sites.get_mut(name) {
            site.labels = self.sets.union(&site.labels, own);
            site.set(measure, series.get("direction"), value);
        } else {
            let name: Arc<str> = name.into();
            let mut site = Site::new(Arc::clone(&name), self.sets.union(&SiteLabels::default(), own));
            site.set(measure, series.get("direction"), value);
            sites.insert(name, site);
        }
    }
    /// The sites.
    #[must_use]
    pub fn finish(self) -> Fleet {
        self.fleet
    }
}

impl Site {
    fn new(name: Arc<str>, labels: SiteLabels) -> Site {
        Site { name, labels, lines: PerDirection::default(), idle_s: None, tests: 0 }
    }
    fn set(&mut self, measure: Measure, direction: Option<&str>, value: f64) {
        let line = match direction {
            Some("up") => Some(&mut self.lines.up),
            Some("down") => Some(&mut self.lines.down),
            _ => None,
        };
        match (measure, line) {
            (Measure::Lag, Some(line)) => line.lag_s = larger(line.lag_s, value),
            (Measure::Rate, Some(line)) => {
                line.rate_bits_per_second = larger(line.rate_bits_per_second, value);
            }
            (Measure::Buffer, Some(line)) => line.buffer_bytes = larger(line.buffer_bytes, value),
            (Measure::Idle, _) => self.idle_s = larger(self.idle_s, value),
            (Measure::Tests, _) => self.tests += value as u64,
            _ => {}
        }
    }
}

impl Fleet {
    /// Adds the answer to the query of a measure. Series without a site are left out.
    pub fn add(&mut self, measure: Measure, values: Vec<Labelled>) {
        let mut builder = FleetBuilder { fleet: core::mem::take(self), sets: LabelSets::default() };
        let mut series = SeriesLabels::default();
        for Labelled { labels, value } in values {
            series.clear();
            labels.iter().for_each(|(name, text)| series.push(name, text));
            builder.add(measure, &series, value);
        }
        *self = builder.finish();
    }
    /// Adds a site, or replaces that with the same name.
    pub fn add_site(&mut self, site: Site) {
        self.sites.insert(Arc::clone(&site.name), site);
    }
    /// Number of sites.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sites.len()
    }
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
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

pub(crate) fn larger(known: Option<f64>, value: f64) -> Option<f64> {
    Some(known.map_or(value, |known| known.max(value)))
}
