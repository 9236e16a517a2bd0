//! The answers that are formed from windows, the same for all files.
use crate::window::{KnownSite, WINDOW_MS, Window, Windows};
use fathom_fleet_query::{QueryError, ResultFile, SLOW_S, Sharing, Source, Span, add_router, groups_of};
use fathom_fleet_view::{Fleet, Selector, SiteTests, Slowness, TestSeries, Trend, trend_step, trends};
use fathom_units::{Duration, WallTime};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How far back the lowest latency of a series is looked for, in milliseconds.
const LOW_MS: u64 = 86_400_000;
const NANOS_PER_MILLI: u64 = 1_000_000;

/// Answers from the windows of files.
pub struct Answers<W>(pub W);

impl<W: Windows> Answers<W> {
    fn sites(&self, of: &Selector) -> Result<Vec<KnownSite>, QueryError> {
        let mut all = self.0.sites()?;
        all.retain(|site| of.matches(&site.name, &site.labels));
        Ok(all)
    }
    fn tests_of(&self, site: &str, span: Span) -> Result<SiteTests, QueryError> {
        let mut tests = SiteTests::default();
        self.0.each(site, span, &mut |window| {
            if let Some((series, value)) = TestSeries::of_probe(window.probe).zip(window.mean) {
                tests.add(window.from_ms, series, value);
            }
        })?;
        Ok(tests)
    }
}

impl<W: Windows> Source for Answers<W> {
    fn fleet(&self, of: &Selector, span: Span) -> Result<Fleet, QueryError> {
        let mut fleet = Fleet::default();
        let sites = self.sites(of)?;
        for (site, tests) in in_parallel(&sites, |site| self.tests_of(&site.name, span))? {
            if !tests.is_empty() {
                fleet.add_site(tests.site(&site.name, site.labels.clone()));
            }
        }
        Ok(fleet)
    }
    fn trends(&self, of: &Selector, by: Option<&str>, span: Span) -> Result<Vec<Trend>, QueryError> {
        let step = trend_step(span.length());
        let sites = self.sites(of)?;
        let all = in_parallel(&sites, |site| self.tests_of(&site.name, span))?;
        let mut steps: BTreeMap<u64, Fleet> = BTreeMap::new();
        for (site, tests) in all {
            let mut by_step: BTreeMap<u64, SiteTests> = BTreeMap::new();
            for (at_ms, values) in tests.iter() {
                // Steps end with the period, as those of an engine do.
                let before_end = (span.to.0 / NANOS_PER_MILLI).saturating_sub(at_ms);
                let back = before_end / (step.as_nanos() / NANOS_PER_MILLI);
                by_step.entry(back).or_default().add_values(at_ms, *values);
            }
            for (back, some) in by_step {
                steps.entry(back).or_default().add_site(some.site(&site.name, site.labels.clone()));
            }
        }
        let end_s = |back: u64| span.to.0.saturating_sub(back * step.as_nanos()) as f64 / 1e9;
        let steps: Vec<(f64, Fleet)> =
            steps.into_iter().rev().map(|(back, fleet)| (end_s(back), fleet)).collect();
        Ok(trends(by, &steps))
    }
    fn sharing(&self, of: &Selector, span: Span) -> Result<Sharing, QueryError> {
        let sites = self.sites(of)?;
        let mut groups = groups_of(sites.iter().map(|site| (site.name.as_str(), &site.labels)));
        for site in &sites {
            for address in &site.hops {
                add_router(&mut groups, site.name.clone(), address.clone());
            }
        }
        let day_before = WallTime(span.from.0.saturating_sub(LOW_MS * NANOS_PER_MILLI));
        let longer = Span { from: day_before, to: span.to };
        let from_ms = span.from.0 / NANOS_PER_MILLI;
        let all = in_parallel(&sites, |site| {
            let mut series: BTreeMap<(String, String), Vec<(u64, f64)>> = BTreeMap::new();
            self.0.each(&site.name, longer, &mut |window| add_delay(&mut series, window))?;
            // The day before only shows what is usual.
            let is_known = series.values().flatten().any(|(at_ms, _)| *at_ms >= from_ms);
            Ok((series.values().flat_map(|all| slow_windows(all)).collect::<Vec<u64>>(), is_known))
        })?;
        let present = all.iter().filter(|(_, (_, is_known))| *is_known).map(|(site, _)| site.name.clone());
        let mut slowness =
            Slowness::new(Duration::from_nanos(WINDOW_MS * NANOS_PER_MILLI), present.collect::<Vec<_>>());
        for (site, (windows, _)) in &all {
            for at_ms in windows.iter().filter(|at_ms| **at_ms >= from_ms) {
                slowness.add(&site.name, (at_ms + WINDOW_MS) as f64 / 1e3);
            }
        }
        Ok(Sharing { slowness, groups })
    }
    fn tests(&self, site: &str, span: Span) -> Result<SiteTests, QueryError> {
        self.tests_of(site, span)
    }
    fn results(&self, site: &str, span: Span) -> Result<Vec<ResultFile>, QueryError> {
        self.0.results(site, span)
    }
}

fn add_delay(series: &mut BTreeMap<(String, String), Vec<(u64, f64)>>, window: &Window<'_>) {
    if let Some(rtt) = window.rtt_p50_s
        && window.is_of_target()
        && TestSeries::of_probe(window.probe).is_none()
    {
        let key = (window.target.to_owned(), window.probe.to_owned());
        series.entry(key).or_default().push((window.from_ms, rtt));
    }
}

/// The starts of the windows whose median is far above the lowest of the day before. The windows
/// are in order of time.
fn slow_windows(all: &[(u64, f64)]) -> Vec<u64> {
    let is_slow = |(index, (at_ms, rtt)): (usize, &(u64, f64))| {
        let day = all.get(..=index)?.iter().rev().take_while(|(before, _)| before + LOW_MS >= *at_ms);
        let low = day.map(|(_, earlier)| *earlier).fold(f64::INFINITY, f64::min);
        (rtt - low >= SLOW_S).then_some(*at_ms)
    };
    all.iter().enumerate().filter_map(is_slow).collect()
}

/// Asks about each site, on all processors. The first error ends it.
fn in_parallel<T: Send>(
    sites: &[KnownSite],
    ask: impl Fn(&KnownSite) -> Result<T, QueryError> + Sync,
) -> Result<Vec<(&KnownSite, T)>, QueryError> {
    let (next, answers) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(sites.len().max(1));
    let work = || -> Result<(), QueryError> {
        while let Some((number, site)) = {
            let number = next.fetch_add(1, Ordering::Relaxed);
            sites.get(number).map(|site| (number, site))
        } {
            match ask(site) {
                Ok(answer) => lock(&answers).push((number, answer)),
                Err(error) => {
                    next.store(sites.len(), Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        all.into_iter().try_for_each(|one| match one.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    let mut all = answers.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    all.sort_by_key(|(number, _)| *number);
    Ok(all.into_iter().filter_map(|(number, answer)| Some((sites.get(number)?, answer))).collect())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
