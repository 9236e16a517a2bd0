//! The questions that the command and the page ask, and their answers.
use crate::{QueryError, Source, Span, evidence};
use fathom_fleet_view::{
    Change, Fleet, Group, Point, Scatter, Selector, Site, SiteLabels, SiteTests, SlowTimes, Trend, changes,
    density, groups, outliers, scatter_document, site_document, sites_document, together, trends_document,
};
use fathom_run::threshold::BLOATED_P90_S;
use fathom_units::Direction;
use serde_json::Value;

/// Lag from which a site is bloated, in seconds: lag is a 90th percentile.
pub const BLOATED_S: f64 = BLOATED_P90_S;
/// Results of a site that are read, the newest ones: each takes some milliseconds.
const MAX_RESULTS: usize = 40;

/// The sites of a fleet.
#[derive(Clone, PartialEq, Debug)]
pub struct Sites {
    /// The sites and their values.
    pub fleet: Fleet,
    /// The label by which they are grouped, and its groups.
    pub groups: Option<(String, Vec<Group>)>,
}

/// Asks for the sites, grouped by a label.
///
/// # Errors
/// A source that cannot be read.
pub fn sites(source: &dyn Source, of: &Selector, span: Span, by: Option<&str>) -> Result<Sites, QueryError> {
    let fleet = source.fleet(of, span)?;
    let grouped = by.map(|label| (label.to_owned(), groups(&fleet, label, BLOATED_S)));
    Ok(Sites { fleet, groups: grouped })
}

/// Number of sites with a lag, and of those that are bloated.
#[must_use]
pub fn counts(fleet: &Fleet) -> (usize, usize) {
    let lags: Vec<f64> = fleet.sites().filter_map(Site::lag_s).collect();
    (lags.len(), lags.iter().filter(|lag| **lag >= BLOATED_S).count())
}

impl Sites {
    /// Sites that differ from those with the same label, the largest lag first.
    #[must_use]
    pub fn outliers(&self) -> Vec<&Site> {
        self.groups.as_ref().map_or_else(Vec::new, |(label, _)| outliers(&self.fleet, label))
    }
    /// The groups and their label.
    #[must_use]
    pub fn grouped(&self) -> Option<(&str, &[Group])> {
        self.groups.as_ref().map(|(label, groups)| (label.as_str(), groups.as_slice()))
    }
    /// As JSON.
    #[must_use]
    pub fn document(&self) -> Value {
        sites_document(&self.fleet.by_lag(), self.grouped(), &self.outliers())
    }
}

/// One site.
#[derive(Clone, PartialEq, Debug)]
pub struct SiteHistory {
    /// The site with its medians.
    pub site: Site,
    /// Its tests.
    pub tests: SiteTests,
    /// The name and the verdict of each result, in order of time.
    pub results: Vec<(String, String)>,
}

/// Asks for the tests of a site, and for its results, which another source may have.
///
/// # Errors
/// A source that cannot be read, or one that does not know the site.
pub fn site(
    source: &dyn Source,
    results: &dyn Source,
    name: &str,
    span: Span,
) -> Result<SiteHistory, QueryError> {
    let fleet = source.fleet(&Selector::all().with("site", name), span)?;
    let tests = source.tests(name, span)?;
    let known = fleet
        .site(name)
        .cloned()
        .or_else(|| (!tests.is_empty()).then(|| tests.site(name, SiteLabels::default())));
    let missing = || QueryError::without(format_args!("site {name}"), "test in this period");
    let files = results.results(name, span)?;
    let newest = files.iter().skip(files.len().saturating_sub(MAX_RESULTS));
    let verdicts = newest.map(|file| (file.name.clone(), evidence::verdict(file))).collect();
    Ok(SiteHistory { site: known.ok_or_else(missing)?, tests, results: verdicts })
}

impl SiteHistory {
    /// As JSON.
    #[must_use]
    pub fn document(&self) -> Value {
        site_document(&self.site, &self.tests, &self.results)
    }
}

/// The buffers of the lines.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffers {
    /// The direction.
    pub direction: Direction,
    /// Each line, or their density.
    pub plot: Scatter,
}

impl Buffers {
    /// The lines; none of a density.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        match &self.plot {
            Scatter::Points(points) => points,
            Scatter::Density(_) => &[],
        }
    }
    /// As JSON, with the density of more lines than `max_points`.
    #[must_use]
    pub fn document(&self, max_points: usize) -> Value {
        match &self.plot {
            Scatter::Points(points) if points.len() > max_points => {
                scatter_document(self.direction.name(), &Scatter::Density(density(points)))
            }
            plot => scatter_document(self.direction.name(), plot),
        }
    }
}

/// Asks what changed between two periods.
///
/// # Errors
/// A source that cannot be read.
pub fn changed(
    source: &dyn Source,
    of: &Selector,
    (before, after): (Span, Span),
) -> Result<Vec<Change>, QueryError> {
    Ok(changes(&source.fleet(of, before)?, &source.fleet(of, after)?))
}

/// How the lags develop.
#[derive(Clone, PartialEq, Debug)]
pub struct Trends {
    /// Of all sites; at most one.
    pub all: Vec<Trend>,
    /// The label, and the trend of each of its values.
    pub by: Option<(String, Vec<Trend>)>,
}

/// Asks how the lags develop, of all sites and by the value of a label.
///
/// # Errors
/// A source that cannot be read, or an invalid label.
pub fn trends(
    source: &dyn Source,
    of: &Selector,
    span: Span,
    by: Option<&str>,
) -> Result<Trends, QueryError> {
    let all = source.trends(of, None, span)?;
    let by = by.map(|label| Ok((label.to_owned(), source.trends(of, Some(label), span)?))).transpose()?;
    Ok(Trends { all, by })
}

impl Trends {
    /// As JSON.
    #[must_use]
    pub fn document(&self) -> Value {
        let by = self.by.as_ref();
        let of_values = by.into_iter().flat_map(|(_, trends)| trends);
        trends_document(&self.all, by.map(|(label, _)| label.as_str()), of_values)
    }
}

/// Asks for sites that slowed down together.
///
/// # Errors
/// A source that cannot be read.
pub fn slow_together(source: &dyn Source, of: &Selector, span: Span) -> Result<SlowTimes, QueryError> {
    let sharing = source.sharing(of, span)?;
    Ok(together(&sharing.slowness, &sharing.groups))
}
