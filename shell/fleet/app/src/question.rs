//! Questions about the sites of a fleet.
use fathom_app::AppError;
use fathom_app::history::{HistorySource, Period};
use fathom_diagnose::Diagnosis;
use fathom_fleet_files::{Answers, Archive, OwnHistory};
use fathom_fleet_query::answer::{self, Buffers, SiteHistory, Sites, Trends};
use fathom_fleet_query::{Engine, QueryError, Source};
use fathom_fleet_view::{
    Change, Fleet as View, SlowTimes, Trend, changes_document, scatter, together_document,
};
use fathom_os::clock::wall_now;
use fathom_os::names::own_name;
use fathom_prose::{Verdict, fleet_verdict, site_verdict, together_verdict};
use fathom_report::{CommandDocument, changes_summary, judged_document, trend_summary};
use fathom_units::{Direction, Duration, WallTime};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use fathom_fleet_query::answer::BLOATED_S;
pub use fathom_fleet_query::{EngineConfig, Span};
pub use fathom_fleet_view::Selector;

/// What knows the sites. Without an engine and an archive, the history of this machine.
#[derive(Clone, Default, Debug)]
pub struct Place {
    /// An engine with the HTTP API of Prometheus.
    pub engine: Option<EngineConfig>,
    /// The folder of an archive. With an engine, only its results are read.
    pub archive: Option<PathBuf>,
    /// The history of a watch.
    pub own: HistorySource,
}

/// Answers questions.
#[derive(Clone)]
pub struct Fleet {
    source: Arc<dyn Source>,
    archive: Option<Arc<Answers<Archive>>>,
}

/// The sites and the period of a question.
#[derive(Clone, PartialEq, Debug)]
pub struct Scope {
    /// The sites.
    pub of: Selector,
    /// The period.
    pub span: Span,
}

impl Scope {
    /// The sites whose labels have these values, since a time.
    #[must_use]
    pub fn new(only: &[(String, String)], since: WallTime) -> Scope {
        Scope { of: Selector::of(only), span: Span { from: since, to: wall_now() } }
    }
}

fn failed(error: QueryError) -> AppError {
    AppError::Fleet(error.to_string())
}

impl Fleet {
    /// Opens a place. An engine is first asked by the first question.
    ///
    /// # Errors
    /// A folder that is no archive, or a configuration that cannot be read.
    pub fn open(place: &Place) -> Result<Fleet, AppError> {
        let archive = place.archive.as_deref().map(|path| Archive::open(path).map_err(failed)).transpose()?;
        let archive = archive.map(|archive| Arc::new(Answers(archive)));
        let source: Arc<dyn Source> = match (&place.engine, &archive) {
            (Some(engine), _) => Arc::new(Engine::new(engine.clone()).map_err(failed)?),
            (None, Some(archive)) => Arc::<Answers<Archive>>::clone(archive),
            (None, None) => Arc::new(own(&place.own)?),
        };
        Ok(Fleet { source, archive })
    }
    /// What knows the sites, and what knows their results.
    pub(crate) fn sources(&self) -> (Arc<dyn Source>, Arc<dyn Source>) {
        let source = Arc::clone(&self.source);
        let results = match &self.archive {
            Some(archive) => Arc::<Answers<Archive>>::clone(archive),
            None => Arc::clone(&self.source),
        };
        (source, results)
    }
    /// What knows the results: the archive, if there is one.
    fn results(&self) -> &dyn Source {
        self.archive.as_ref().map_or(self.source.as_ref(), |archive| archive.as_ref())
    }
    /// Files that were left out so far because they are damaged.
    #[must_use]
    pub fn damaged(&self) -> Vec<String> {
        self.archive.as_ref().map_or_else(Vec::new, |archive| archive.0.damaged())
    }
    /// The sites, grouped by a label.
    ///
    /// # Errors
    /// A place that cannot be read.
    pub fn sites(&self, scope: &Scope, by: Option<&str>) -> Result<Sites, AppError> {
        let sites = answer::sites(self.source.as_ref(), &scope.of, scope.span, by).map_err(failed)?;
        known_label(&sites.fleet, by)?;
        Ok(sites)
    }
    /// The tests and the results of a site.
    ///
    /// # Errors
    /// A place that cannot be read, or a site without a test.
    pub fn site(&self, name: &str, span: Span) -> Result<SiteHistory, AppError> {
        answer::site(self.source.as_ref(), self.results(), name, span).map_err(failed)
    }
    /// Capacities and buffers of all lines.
    ///
    /// # Errors
    /// A place that cannot be read.
    pub fn buffers(
        &self,
        scope: &Scope,
        direction: Direction,
        by: Option<&str>,
    ) -> Result<Buffers, AppError> {
        let fleet = self.source.fleet(&scope.of, scope.span).map_err(failed)?;
        known_label(&fleet, by)?;
        Ok(Buffers { direction, plot: scatter(&fleet, direction, by, usize::MAX) })
    }
    /// What changed at a moment: between the period of this length before it, and the one after it,
    /// which may not be over.
    ///
    /// # Errors
    /// A place that cannot be read, or a moment in the future.
    pub fn changes(&self, of: &Selector, at: WallTime, length: Duration) -> Result<Vec<Change>, AppError> {
        let before = Span { from: WallTime(at.0.saturating_sub(length.as_nanos())), to: at };
        Period { from: before.from, to: before.to }.check()?;
        let end = WallTime(at.0.saturating_add(length.as_nanos())).min(wall_now());
        if at >= end {
            return Err(AppError::Fleet(format!("{at} is not before {}", "now")));
        }
        answer::changed(self.source.as_ref(), of, (before, Span { from: at, to: end })).map_err(failed)
    }
    /// How the lags develop.
    ///
    /// # Errors
    /// A place that cannot be read, or an invalid label.
    pub fn trends(&self, scope: &Scope, by: Option<&str>) -> Result<Trends, AppError> {
        let found = answer::trends(self.source.as_ref(), &scope.of, scope.span, by).map_err(failed)?;
        let has_value =
            |(_, trends): &(String, Vec<Trend>)| trends.iter().any(|trend| !trend.value.is_empty());
        if by.is_some() && !found.by.as_ref().is_some_and(has_value) {
            known_label(&self.source.fleet(&scope.of, scope.span).map_err(failed)?, by)?;
        }
        Ok(found)
    }
    /// Sites that slowed down together.
    ///
    /// # Errors
    /// A place that cannot be read.
    pub fn together(&self, scope: &Scope) -> Result<SlowTimes, AppError> {
        answer::slow_together(self.source.as_ref(), &scope.of, scope.span).map_err(failed)
    }
}

/// A label that no site has is a misspelt one.
fn known_label(fleet: &View, by: Option<&str>) -> Result<(), AppError> {
    let Some(label) = by else { return Ok(()) };
    let known: BTreeSet<&str> =
        fleet.sites().flat_map(|site| site.labels.keys()).map(String::as_str).collect();
    if known.contains(label) || fleet.sites().next().is_none() {
        return Ok(());
    }
    let known: Vec<&str> = known.into_iter().collect();
    Err(AppError::Fleet(format!("--by: unknown label {label} (known: {})", known.join(", "))))
}

/// The history of this machine. Its site has the name of the configuration, or of the machine.
fn own(history: &HistorySource) -> Result<Answers<OwnHistory>, AppError> {
    let plan = history.plan()?;
    let store = history.directory()?;
    history.open().map_err(|error| {
        AppError::Fleet(format!("{error}\n  try: --engine URL, --archive FOLDER or --config FILE"))
    })?;
    let site = plan.and_then(|plan| plan.site);
    let (name, labels) = site.map_or_else(|| (own_name(), Vec::new()), |site| (site.name, site.labels));
    Ok(Answers(OwnHistory::new(Path::new(&store), name, labels.into_iter().collect())))
}

/// The JSON document of a command of a fleet.
fn document(command: &str, verdict: &Verdict, data: Value) -> CommandDocument {
    judged_document(command, verdict, &Diagnosis::default(), ("fleet", data))
}

/// Sites of a document, which is held in memory: each has some kilobytes.
const MAX_SITES: usize = 100_000;

/// Whether a document may have this many sites.
fn fits(sites: usize) -> Result<(), AppError> {
    let refused =
        || AppError::Fleet(format!("--json: larger than the limit of {MAX_SITES}; select fewer sites"));
    if sites > MAX_SITES { Err(refused()) } else { Ok(()) }
}

/// The document of `fathom fleet sites`.
///
/// # Errors
/// More than 100,000 sites.
pub fn sites_json(sites: &Sites) -> Result<CommandDocument, AppError> {
    fits(sites.fleet.len())?;
    let (count, bloated) = answer::counts(&sites.fleet);
    Ok(document("fleet sites", &fleet_verdict(count, bloated), sites.document()))
}

/// The document of `fathom fleet site`.
#[must_use]
pub fn site_json(history: &SiteHistory) -> CommandDocument {
    let verdict = site_verdict(&history.site.name, history.site.lag_s(), BLOATED_S);
    document("fleet site", &verdict, history.document())
}

/// The document of `fathom fleet buffers`: each line, or the density of more than 100,000.
#[must_use]
pub fn buffers_json(verdict: &Verdict, buffers: &Buffers) -> CommandDocument {
    document("fleet buffers", verdict, buffers.document(MAX_SITES))
}

/// The document of `fathom fleet changes`.
///
/// # Errors
/// More than 100,000 sites.
pub fn changes_json(all: &[Change]) -> Result<CommandDocument, AppError> {
    fits(all.len())?;
    Ok(document("fleet changes", &changes_summary(all), changes_document(all)))
}

/// The document of `fathom fleet trend`.
#[must_use]
pub fn trends_json(trends: &Trends) -> CommandDocument {
    document("fleet trend", &trend_summary(&trends.all, BLOATED_S), trends.document())
}

/// The document of `fathom fleet together`.
#[must_use]
pub fn together_json(of: &SlowTimes) -> CommandDocument {
    document("fleet together", &together_verdict(of.known, of.slow()), together_document(of))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_fleet_view::{Scatter, SiteLabels, SiteTests, TestSeries};

    /// Plots have a density, and lists a limit.
    #[test]
    fn a_document_has_its_limit_of_sites() {
        let mut tests = SiteTests::default();
        for (probe, value) in [("lag up", 0.5), ("rate up", 1e6), ("buffer up", 62_500.0)] {
            TestSeries::of_probe(probe).into_iter().for_each(|series| tests.add(0, series, value));
        }
        let mut fleet = View::default();
        let labels = SiteLabels::default();
        for site in 0..=MAX_SITES {
            fleet.add_site(tests.site(&site.to_string(), Arc::clone(&labels)));
        }
        let plot =
            |most| Buffers { direction: Direction::Up, plot: scatter(&fleet, Direction::Up, None, most) };
        let Scatter::Points(points) = plot(usize::MAX).plot else { unreachable!("points") };
        assert_eq!(points.len(), MAX_SITES + 1);
        let text = plot(usize::MAX).document(MAX_SITES).to_string();
        assert!(text.contains("\"lines\":100001") && text.len() < 1_000, "{text:.1000}");
        let refused =
            sites_json(&Sites { fleet, groups: None }).map(|_| ()).map_err(|error| error.to_string());
        let expected = "--json: larger than the limit of 100000; select fewer sites";
        assert!(refused.is_err_and(|why| why.contains(expected)));
    }
}
