//! An engine with the HTTP API of Prometheus.
use crate::source::{add_router, groups_of};
use crate::stream::{Limits, each_series};
use crate::{QueryError, ResultFile, SLOW_S, Sharing, Source, Span};
use fathom_fleet_view::{
    Aggregate, AnswerKind, Fleet, FleetBuilder, Labelled, Measure, Membership, Selector, SeriesLabels,
    SiteTests, Slowness, Track, Trend, known_query, shared_queries, slow_query, tests_query, trend_query,
    trend_step, trends_of,
};
use fathom_os::files::{read_at_most, read_text_at_most};
use fathom_units::{Duration, WallTime};
use fathom_watch_http::{AgentOptions, agent, beginning, host_authorities, reason};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;
use ureq::Agent;

/// Timeout of a query. An engine takes some seconds for 100,000 sites, so a minute or two for a
/// million.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(300);
const CONNECT_LIMIT: std::time::Duration = std::time::Duration::from_secs(10);
/// Limits of the answer with a value of each site and direction, up to four million sites. A series
/// has about 200 bytes. A million sites are held in 300 MB.
const MANY: Limits = Limits { series: 8_000_000, bytes: 4 << 30, gap_bytes: 16 << 20 };
/// Limits of an answer that is held in memory: a series has some hundred bytes there, and 16 for
/// each point.
const FEW: Limits = Limits { series: 100_000, bytes: 256 << 20, gap_bytes: 16 << 20 };
/// Limits of the hosts and routers of as many sites as [`FEW`] allows.
const SHARED: Limits = Limits { series: 1_000_000, bytes: 256 << 20, gap_bytes: 16 << 20 };
/// Maximum size of the file of a token, and of a file of certificates, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// How to reach an engine.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct EngineConfig {
    /// The URL before `/api/v1/query`: `http://127.0.0.1:9090`.
    pub url: String,
    /// File with a bearer token, read for each query.
    pub token_file: Option<PathBuf>,
    /// PEM file with the certificate authorities of the engine; `None` for the system's.
    pub ca_file: Option<PathBuf>,
    /// Additional headers, such as `X-Scope-OrgID`.
    pub headers: Vec<(String, String)>,
}

/// An engine.
#[derive(Clone, Debug)]
pub struct Engine {
    config: EngineConfig,
    agent: Agent,
}

impl Engine {
    /// Prepares queries. Nothing is sent.
    ///
    /// # Errors
    /// A file that cannot be read or has no certificates.
    pub fn new(config: EngineConfig) -> Result<Engine, QueryError> {
        let authorities = match &config.ca_file {
            None => host_authorities(&config.url),
            Some(path) => {
                let fault = |why: String| QueryError { object: path.display().to_string(), why };
                let bytes = read_at_most(path, MAX_FILE_BYTES).map_err(|e| fault(e.to_string()))?;
                let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
                all.ok()
                    .filter(|all| !all.is_empty())
                    .ok_or_else(|| fault("contains no certificate in PEM format".to_owned()))?
            }
        };
        let options =
            AgentOptions { limit: LIMIT, connect_limit: Some(CONNECT_LIMIT), uses_proxy: true, authorities };
        Ok(Engine { config, agent: agent(&options) })
    }
    /// The answer to an instant query.
    ///
    /// # Errors
    /// No answer, or one with an error.
    pub fn instant(&self, query: &str, at: WallTime) -> Result<Vec<Labelled>, QueryError> {
        let mut all = Vec::new();
        self.each_value(query, at, FEW, |labels, value| {
            all.push(Labelled { labels: labels.to_map(), value })
        })?;
        Ok(all)
    }
    /// The answer to a range query.
    ///
    /// # Errors
    /// No answer, or one with an error.
    pub fn range(
        &self,
        query: &str,
        (from, to): (WallTime, WallTime),
        step: Duration,
    ) -> Result<Vec<Track>, QueryError> {
        let step = step.as_secs_f64().to_string();
        let (from, to) = (seconds(from), seconds(to));
        self.tracks("query_range", &[("query", query), ("start", &from), ("end", &to), ("step", &step)])
    }
    /// Passes each series of the answer to an instant query to `take`.
    fn each_value(
        &self,
        query: &str,
        at: WallTime,
        limits: Limits,
        mut take: impl FnMut(&SeriesLabels, f64),
    ) -> Result<(), QueryError> {
        let body = self.ask("query", &[("query", query), ("time", &seconds(at))])?;
        let each = |labels: &SeriesLabels, points: &[(f64, f64)]| {
            points.iter().for_each(|(_, value)| take(labels, *value));
        };
        each_series(body, AnswerKind::Vector, limits, each).map_err(|why| self.error(why))
    }
    /// The answer to a query for points of time.
    fn tracks(&self, what: &str, parameters: &[(&str, &str)]) -> Result<Vec<Track>, QueryError> {
        let body = self.ask(what, parameters)?;
        let mut all = Vec::new();
        let each = |labels: &SeriesLabels, points: &[(f64, f64)]| {
            all.push(Track { labels: labels.to_map(), points: points.to_vec() });
        };
        each_series(body, AnswerKind::Matrix, FEW, each).map_err(|why| self.error(why))?;
        Ok(all)
    }
    /// Queries are sent as forms: with many matchers they are longer than URLs may be.
    fn ask(&self, what: &str, parameters: &[(&str, &str)]) -> Result<impl Read + use<>, QueryError> {
        let url = format!("{}/api/v1/{what}", self.config.url.trim_end_matches('/'));
        let mut request = self.agent.post(&url);
        for (name, value) in &self.config.headers {
            request = request.header(name, value);
        }
        if let Some(path) = &self.config.token_file {
            let token = read_text_at_most(path, MAX_FILE_BYTES)
                .map_err(|error| QueryError { object: path.display().to_string(), why: error.to_string() })?;
            request = request.header("Authorization", format!("Bearer {}", token.trim()));
        }
        let answer =
            request.send_form(parameters.iter().copied()).map_err(|error| self.error(reason(&error)))?;
        let (parts, body) = answer.into_parts();
        let is_json = parts
            .headers
            .get("content-type")
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        // An error of the API has a body in JSON; that of a proxy is a page.
        if !parts.status.is_success() && !is_json {
            let text =
                String::from_utf8_lossy(&beginning(body)).lines().next().unwrap_or_default().to_owned();
            return Err(self.error(format!("{} {text}", parts.status)));
        }
        Ok(body.into_reader())
    }
    fn error(&self, why: String) -> QueryError {
        QueryError { object: self.config.url.clone(), why }
    }
}

fn seconds(at: WallTime) -> String {
    format!("{}.{:03}", at.0 / 1_000_000_000, at.0 / 1_000_000 % 1_000)
}

/// Step in which slow sites are looked for.
const SLOW_STEP: Duration = Duration::from_secs(300);

impl Source for Engine {
    fn fleet(&self, of: &Selector, span: Span) -> Result<Fleet, QueryError> {
        let mut fleet = FleetBuilder::default();
        for measure in Measure::ALL {
            let query = measure.query(span.length(), of);
            self.each_value(&query, span.to, MANY, |labels, value| fleet.add(measure, labels, value))?;
        }
        Ok(fleet.finish())
    }
    fn trends(&self, of: &Selector, by: Option<&str>, span: Span) -> Result<Vec<Trend>, QueryError> {
        let step = trend_step(span.length());
        // Each point covers the step that ends there; the last one ends with the period.
        let steps = (span.length().as_nanos() / step.as_nanos()).max(1);
        let first = WallTime(span.to.0.saturating_sub((steps - 1) * step.as_nanos()));
        let ask = |what| {
            let query = trend_query(what, by, step, of).map_err(|error| self.error(error.to_string()))?;
            self.range(&query, (first, span.to), step)
        };
        let (p50, p90, sites) = (ask(Aggregate::P50)?, ask(Aggregate::P90)?, ask(Aggregate::Sites)?);
        Ok(trends_of(by, &p50, &p90, &sites))
    }
    fn sharing(&self, of: &Selector, span: Span) -> Result<Sharing, QueryError> {
        let mut known: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        self.each_value(&known_query(span.length(), of), span.to, FEW, |series, _| {
            let mut labels = series.to_map();
            if let Some(site) = labels.remove("site") {
                known.entry(site).or_default().append(&mut labels);
            }
        })?;
        let mut groups = groups_of(known.iter().map(|(site, labels)| (site.as_str(), labels)));
        for (label, query) in shared_queries(span.length(), of) {
            self.each_value(&query, span.to, SHARED, |series, _| {
                let value = |name| series.get(name).map(str::to_owned);
                match value("site").zip(value(label)) {
                    Some((site, address)) if label == "address" => add_router(&mut groups, site, address),
                    Some((site, value)) => {
                        let shared = Membership { kind: label.to_owned(), value };
                        groups.entry(shared).or_default().insert(site);
                    }
                    None => {}
                }
            })?;
        }
        // The last hop is the host itself.
        let hosts: Vec<String> =
            groups.keys().filter(|shared| shared.kind == "host").map(|shared| shared.value.clone()).collect();
        groups.retain(|shared, _| shared.kind != "hop" || !hosts.contains(&shared.value));
        let mut slowness = Slowness::new(SLOW_STEP, known.into_keys());
        let first = WallTime(span.from.0.saturating_add(SLOW_STEP.as_nanos()));
        slowness.add_tracks(&self.range(&slow_query(SLOW_STEP, SLOW_S, of), (first, span.to), SLOW_STEP)?);
        Ok(Sharing { slowness, groups })
    }
    fn tests(&self, site: &str, span: Span) -> Result<SiteTests, QueryError> {
        let of = Selector::all().with("site", site);
        let (query, at) = (tests_query(span.length(), &of), seconds(span.to));
        Ok(SiteTests::of_tracks(&self.tracks("query", &[("query", &query), ("time", &at)])?))
    }
    fn results(&self, _: &str, _: Span) -> Result<Vec<ResultFile>, QueryError> {
        Ok(Vec::new())
    }
}
