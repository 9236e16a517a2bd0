//! Requests to the engine. Only the body comes from an agent, after its check; each header is ours.
use crate::config::{Engine, GatewayError};
use fathom_fleet_admission::Version;
use fathom_os::error::without_code;
use fathom_os::files::{read_at_most, read_text_at_most};
use fathom_watch_http::{beginning, host_authorities, reason};
use fathom_web::Refusal;
use hyper::StatusCode;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use ureq::{Agent, Body, http};

/// Requests at the same time, and connections that are kept.
pub(crate) const MAX_REQUESTS: usize = 64;
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// When agents try again while the engine is unreachable.
const RETRY_S: u64 = 10;
const MAX_TOKEN_BYTES: u64 = 64 << 10;
const MAX_AUTHORITIES_BYTES: u64 = 4 << 20;
/// What is shown of the engine's answer.
const MAX_SHOWN: usize = 200;
/// Headers with which an engine says what it wrote (remote-write 2.0).
pub(crate) const WRITTEN: [&str; 3] = [
    "x-prometheus-remote-write-samples-written",
    "x-prometheus-remote-write-histograms-written",
    "x-prometheus-remote-write-exemplars-written",
];

/// The connections to the engine.
pub(crate) struct Forwarder {
    engine: Engine,
    agent: Agent,
}

/// What the engine answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) retry_after: Option<String>,
    /// Headers of [`WRITTEN`] with their values.
    pub(crate) written: Vec<(&'static str, String)>,
    /// The first line.
    pub(crate) text: String,
}

impl Forwarder {
    pub(crate) fn new(engine: &Engine) -> Result<Forwarder, GatewayError> {
        let roots = match &engine.ca_file {
            Some(path) => authorities(path)?,
            None => host_authorities(&engine.url),
        };
        let forwarder = Forwarder { engine: engine.clone(), agent: agent(engine, &roots) };
        forwarder.token()?;
        Ok(forwarder)
    }
    /// Sends a request of this version, still packed. Blocks.
    pub(crate) fn send(&self, version: Version, packed: &[u8]) -> Result<Answer, String> {
        let (content, number) = match version {
            Version::V1 => ("application/x-protobuf", "0.1.0"),
            Version::V2 => ("application/x-protobuf;proto=io.prometheus.write.v2.Request", "2.0.0"),
        };
        let mut request = self
            .agent
            .post(&self.engine.url)
            .header("Content-Encoding", "snappy")
            .header("Content-Type", content)
            .header("X-Prometheus-Remote-Write-Version", number);
        for (name, value) in &self.engine.headers {
            request = request.header(name, value);
        }
        if let Some(token) = self.token().map_err(|error| error.to_string())? {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        request.send(packed).map(answer).map_err(|error| reason(&error))
    }
    fn token(&self) -> Result<Option<String>, GatewayError> {
        let Some(path) = &self.engine.token_file else { return Ok(None) };
        let fault = |why: String| GatewayError::File { path: path.clone(), why };
        let text = read_text_at_most(path, MAX_TOKEN_BYTES).map_err(|error| fault(without_code(&error)))?;
        let token = text.trim();
        let is_word = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
        if is_word { Ok(Some(token.to_owned())) } else { Err(fault("contains no token".into())) }
    }
}

/// Unlike the agent of a watch, one that keeps as many connections as it uses.
fn agent(engine: &Engine, authorities: &[CertificateDer<'static>]) -> Agent {
    let roots: Vec<Certificate<'static>> =
        authorities.iter().map(|one| Certificate::from_der(one).to_owned()).collect();
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(engine.timeout))
        .timeout_connect(Some(CONNECT_LIMIT.min(engine.timeout)))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(MAX_REQUESTS)
        .max_idle_connections_per_host(MAX_REQUESTS)
        .user_agent(concat!("fathom-gateway/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls)
        .build()
        .into()
}

fn authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>, GatewayError> {
    let fault = |why: String| GatewayError::File { path: path.to_owned(), why };
    let bytes = read_at_most(path, MAX_AUTHORITIES_BYTES).map_err(|error| fault(without_code(&error)))?;
    let all: Result<Vec<CertificateDer<'static>>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    all.ok()
        .filter(|all| !all.is_empty())
        .ok_or_else(|| fault("contains no certificate in PEM format".into()))
}

fn answer(response: http::Response<Body>) -> Answer {
    let (parts, body) = response.into_parts();
    let value = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let text = String::from_utf8_lossy(&beginning(body)).into_owned();
    let line: String = text.lines().next().unwrap_or_default().chars().filter(|c| !c.is_control()).collect();
    Answer {
        status: parts.status,
        retry_after: value("retry-after"),
        written: WRITTEN.iter().filter_map(|name| Some((*name, value(name)?))).collect(),
        text: line.chars().take(MAX_SHOWN).collect(),
    }
}

impl Answer {
    /// Whether the engine decided about the data. Agents discard what is refused so. A status that
    /// means the gateway's own request, such as 401, is an outage for agents.
    pub(crate) fn is_verdict(&self) -> bool {
        self.status.is_success() || matches!(self.status.as_u16(), 400 | 409 | 413 | 415 | 422)
    }
    /// Whether the engine is overloaded, which it says itself.
    pub(crate) fn is_busy(&self) -> bool {
        self.status == StatusCode::TOO_MANY_REQUESTS
    }
}

/// The engine cannot be reached.
pub(crate) fn unreachable() -> Refusal {
    Refusal::later("the engine is not accepting data", RETRY_S)
}
