//! A made-up fleet with a known truth.
use fathom_fleet_query::{QueryError, ResultFile, Sharing, Source, Span, groups_of};
use fathom_fleet_view::{
    Fleet, LineSummary, Selector, Site, SiteLabels, SiteTests, Slowness, TestSeries, Trend, trends,
};
use fathom_units::{Duration, PerDirection, Rng};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Sites, of which each fourth is bloated, and each fifth has a name that is HTML.
pub(crate) struct Made {
    pub(crate) sites: u64,
    /// A result file of the first site.
    pub(crate) result: Option<PathBuf>,
}

pub(crate) const HOSTILE: &str = "<img src=x onerror=alert(1)>";
const STEPS: u64 = 7;

impl Made {
    pub(crate) fn name(number: u64) -> String {
        if number % 5 == 4 { format!("{HOSTILE}{number}") } else { format!("home-{number}") }
    }
    fn labels(number: u64) -> BTreeMap<String, String> {
        let provider = ["Alpha & Sons", "Beta", "Gamma"][(number % 3) as usize];
        [("provider".to_owned(), provider.to_owned())].into()
    }
    fn number(&self, name: &str) -> Option<u64> {
        (0..self.sites).find(|number| Made::name(*number) == name)
    }
    /// Two tests a day in a span; lines are better after half of a day from its start.
    fn of(number: u64, span: Span) -> SiteTests {
        let mut tests = SiteTests::default();
        let lag = if number.is_multiple_of(4) { 0.5 } else { 0.03 } + number as f64 * 1e-6;
        let day_ms = 86_400_000;
        let start_ms = span.from.0 / 1_000_000;
        let count = span.length().as_nanos() / 1_000_000 / day_ms * 2;
        for test in 0..count {
            let at_ms = start_ms + test * day_ms / 2 + 1_000;
            for (probe, value) in [
                ("lag up", lag),
                ("lag down", lag / 10.0),
                ("idle", 0.015),
                ("rate up", 1e6 * (1 + number % 50) as f64),
                ("rate down", 1e7 * (1 + number % 50) as f64),
                ("buffer up", 1e6 * (1 + number % 50) as f64 * lag / 8.0),
            ] {
                if let Some(series) = TestSeries::of_probe(probe) {
                    tests.add(at_ms, series, value);
                }
            }
        }
        tests
    }
}

impl Source for Made {
    fn fleet(&self, of: &Selector, span: Span) -> Result<Fleet, QueryError> {
        let mut fleet = Fleet::default();
        for number in 0..self.sites {
            let (name, labels) = (Made::name(number), Made::labels(number));
            if of.matches(&name, &labels) {
                fleet.add_site(Made::of(number, span).site(&name, labels));
            }
        }
        Ok(fleet)
    }
    fn trends(&self, of: &Selector, by: Option<&str>, span: Span) -> Result<Vec<Trend>, QueryError> {
        let step_ns = span.length().as_nanos() / STEPS;
        let step = |number: u64| {
            let end = fathom_units::WallTime(span.from.0 + (number + 1) * step_ns);
            Ok((end.0 as f64 / 1e9, self.fleet(of, Span { from: span.from, to: span.to })?))
        };
        let steps: Result<Vec<_>, QueryError> = (0..STEPS).map(step).collect();
        Ok(trends(by, &steps?))
    }
    fn sharing(&self, _: &Selector, span: Span) -> Result<Sharing, QueryError> {
        let known: Vec<(String, _)> =
            (0..self.sites).map(|number| (Made::name(number), Made::labels(number))).collect();
        let groups = groups_of(known.iter().map(|(site, labels)| (site.as_str(), labels)));
        let mut slowness =
            Slowness::new(Duration::from_secs(300), known.iter().map(|(site, _)| site.clone()));
        let end_s = span.to.0 as f64 / 1e9;
        for (site, labels) in &known {
            if labels["provider"] == "Beta" {
                (1..=6).for_each(|step| slowness.add(site, end_s - f64::from(step) * 300.0));
            }
        }
        Ok(Sharing { slowness, groups })
    }
    fn tests(&self, site: &str, span: Span) -> Result<SiteTests, QueryError> {
        match self.number(site) {
            Some(number) => Ok(Made::of(number, span)),
            None if site == "broken" => {
                Err(QueryError { object: "http://127.0.0.1:9".to_owned(), why: "refused".to_owned() })
            }
            None => Ok(SiteTests::default()),
        }
    }
    fn results(&self, site: &str, _: Span) -> Result<Vec<ResultFile>, QueryError> {
        let own = self.result.iter().filter(|_| site == "home-0");
        Ok(own.map(|path| ResultFile { name: "test.json.gz".to_owned(), path: path.clone() }).collect())
    }
}

/// Any number of sites, of which each fourth is bloated, with rates and buffers of all sizes.
pub(crate) struct Many(pub(crate) u64);

impl Many {
    /// Capacity in bit/s and buffer in bytes of the line up. Those that are not bloated have nearly
    /// the limit of 200 ms.
    pub(crate) fn line(number: u64) -> (f64, f64) {
        let mut rng = Rng::new(number);
        let rate = 1e6 * 10f64.powf(3.0 * rng.next_f64());
        let delay =
            if number.is_multiple_of(4) { 0.2 * 10f64.powf(rng.next_f64()) } else { 0.199 * rng.next_f64() };
        (rate, (rate * delay / 8.0).max(1.0))
    }
}

impl Source for Many {
    fn fleet(&self, _: &Selector, span: Span) -> Result<Fleet, QueryError> {
        let plans = ["50/10", "100/20", "250/40"]
            .map(|plan| SiteLabels::from(BTreeMap::from([("plan".to_owned(), plan.to_owned())])));
        let mut fleet = Fleet::default();
        for number in 0..self.0 {
            let (rate, buffer) = Many::line(number);
            // Better in the period that ends last.
            let lag = if span.to.0 < 1_795_500_000_000_000_000 { 1.0 } else { 8.0 * buffer / rate };
            let up = LineSummary {
                lag_s: Some(lag),
                rate_bits_per_second: Some(rate),
                buffer_bytes: Some(buffer),
            };
            let lines = PerDirection { up, down: LineSummary::default() };
            let labels = Arc::clone(&plans[(number % 3) as usize]);
            fleet.add_site(Site {
                name: format!("site-{number:07}").into(),
                labels,
                lines,
                idle_s: None,
                tests: 14,
            });
        }
        Ok(fleet)
    }
    fn trends(&self, _: &Selector, _: Option<&str>, _: Span) -> Result<Vec<Trend>, QueryError> {
        Ok(Vec::new())
    }
    fn sharing(&self, _: &Selector, _: Span) -> Result<Sharing, QueryError> {
        Err(QueryError { object: "http://127.0.0.1:9".to_owned(), why: "too many".to_owned() })
    }
    fn tests(&self, _: &str, _: Span) -> Result<SiteTests, QueryError> {
        Ok(SiteTests::default())
    }
    fn results(&self, _: &str, _: Span) -> Result<Vec<ResultFile>, QueryError> {
        Ok(Vec::new())
    }
}
