//! Asks an engine about the sites of a fleet: Prometheus, VictoriaMetrics, Thanos, Cortex, Mimir,
//! or any other with the HTTP API of Prometheus.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

use fathom_fleet_view::{Fleet, Labelled, Measure, Selector, Track, read_range, read_vector};
use fathom_os::files::{read_at_most, read_text_at_most};
use fathom_units::{Duration, WallTime};
use fathom_watch_http::{AgentOptions, agent, beginning, host_authorities, reason};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::fmt;
use std::io::Read;
use std::path::PathBuf;
use ureq::Agent;

/// Timeout of a query: a fleet of 100,000 sites takes an engine some seconds.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(120);
const CONNECT_LIMIT: std::time::Duration = std::time::Duration::from_secs(10);
/// Maximum size of an answer, in bytes: 250 for each of a million series.
const MAX_ANSWER_BYTES: u64 = 256 << 20;
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

/// Why a query has no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueryError {
    /// The URL of the engine, or a file.
    pub object: String,
    /// The reason.
    pub why: String,
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.object, self.why)
    }
}

impl std::error::Error for QueryError {}

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
    /// The sites in the `period` before `at`: one query for each measure.
    ///
    /// # Errors
    /// The first query without an answer.
    pub fn fleet(&self, of: &Selector, period: Duration, at: WallTime) -> Result<Fleet, QueryError> {
        let mut fleet = Fleet::default();
        for measure in Measure::ALL {
            fleet.add(measure, self.instant(&measure.query(period, of), at)?);
        }
        Ok(fleet)
    }
    /// The answer to an instant query.
    ///
    /// # Errors
    /// No answer, or one with an error.
    pub fn instant(&self, query: &str, at: WallTime) -> Result<Vec<Labelled>, QueryError> {
        let body = self.ask("query", &[("query", query), ("time", &seconds(at))])?;
        read_vector(&body).map_err(|error| self.error(error.to_string()))
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
        let parameters = [("query", query), ("start", &from), ("end", &to), ("step", &step)];
        let body = self.ask("query_range", &parameters)?;
        read_range(&body).map_err(|error| self.error(error.to_string()))
    }
    /// Queries are sent as forms: with many matchers they are longer than URLs may be.
    fn ask(&self, what: &str, parameters: &[(&str, &str)]) -> Result<Vec<u8>, QueryError> {
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
        let mut bytes = Vec::new();
        let read = body.into_reader().take(MAX_ANSWER_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| self.error(error.to_string()))?;
        if bytes.len() as u64 > MAX_ANSWER_BYTES {
            return Err(self.error(format!("larger than the limit of {MAX_ANSWER_BYTES} bytes")));
        }
        Ok(bytes)
    }
    fn error(&self, why: String) -> QueryError {
        QueryError { object: self.config.url.clone(), why }
    }
}

fn seconds(at: WallTime) -> String {
    format!("{}.{:03}", at.0 / 1_000_000_000, at.0 / 1_000_000 % 1_000)
}
