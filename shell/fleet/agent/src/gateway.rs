//! Requests to the gateway.
use crate::AgentError;
use fathom_os::error::without_code;
use fathom_os::files::read_at_most;
use fathom_watch_http::{AgentOptions, agent, beginning, host_authorities, reason};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use ureq::Agent;
use ureq::http::Uri;

/// Time limit of a request.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);
const MAX_AUTHORITIES_BYTES: u64 = 4 << 20;

/// Host and port of a gateway's URL. A key is sent over TLS, or on loopback.
pub(crate) fn host_of(url: &str) -> Result<(String, u16), AgentError> {
    let fault = || AgentError::Url(url.to_owned());
    let uri: Uri = url.parse().map_err(|_| fault())?;
    let host = uri.host().ok_or_else(fault)?.trim_matches(['[', ']']).to_owned();
    let is_loopback = matches!(host.as_str(), "127.0.0.1" | "::1" | "localhost");
    let default = match uri.scheme_str() {
        Some("https") => 443,
        Some("http") if is_loopback => 80,
        _ => return Err(fault()),
    };
    if !uri.path().trim_end_matches('/').is_empty() || uri.query().is_some() {
        return Err(fault());
    }
    Ok((host, uri.port_u16().unwrap_or(default)))
}

/// The agent for a gateway.
pub(crate) fn agent_of(url: &str, ca_file: Option<&Path>) -> Result<Agent, AgentError> {
    let authorities = match ca_file {
        Some(path) => read_authorities(path)?,
        None => host_authorities(url),
    };
    Ok(agent(&AgentOptions { limit: LIMIT, connect_limit: None, uses_proxy: true, authorities }))
}

fn read_authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>, AgentError> {
    let fault = |why: String| AgentError::File { path: path.to_owned(), why };
    let bytes = read_at_most(path, MAX_AUTHORITIES_BYTES).map_err(|error| fault(without_code(&error)))?;
    let all: Result<Vec<CertificateDer<'static>>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    all.ok()
        .filter(|all| !all.is_empty())
        .ok_or_else(|| fault("contains no certificate in PEM format".into()))
}

/// Posts JSON to a path of the gateway and reads its JSON.
pub(crate) fn post(
    agent: &Agent,
    (url, path): (&str, &str),
    key: Option<&str>,
    body: &Value,
) -> Result<Value, AgentError> {
    let full = format!("{}{path}", url.trim_end_matches('/'));
    let mut request = agent.post(&full).header("Content-Type", "application/json");
    if let Some(key) = key {
        request = request.header("Authorization", format!("Bearer {key}"));
    }
    let unavailable = |why: String| AgentError::Unavailable { url: url.to_owned(), why };
    let response = request.send(body.to_string()).map_err(|error| unavailable(reason(&error)))?;
    let (parts, content) = response.into_parts();
    let answer = beginning(content);
    let text = String::from_utf8_lossy(&answer);
    let line = || text.lines().next().unwrap_or_default().chars().filter(|c| !c.is_control()).collect();
    match parts.status.as_u16() {
        200 => serde_json::from_slice(&answer).map_err(|_| unavailable("not a gateway".into())),
        status @ 400..=499 if status != 429 => Err(AgentError::Refused { status, why: line() }),
        _ => Err(unavailable(line())),
    }
}

/// The key of an answer.
pub(crate) fn key_of(url: &str, answer: &Value) -> Result<String, AgentError> {
    let is_key = |key: &&str| !key.is_empty() && key.bytes().all(|b| b.is_ascii_graphic());
    let key = answer["key"].as_str().filter(is_key).map(str::to_owned);
    key.ok_or_else(|| AgentError::Unavailable { url: url.to_owned(), why: "not a gateway".into() })
}
