//! A request by POST, and what was answered.
use serde_json::Value;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

/// So much of an answer is looked at: a proxy's error page may be long.
const MOST_ANSWER: u64 = 4_096;
/// So many characters of its first line are told.
const MOST_TOLD: usize = 200;
const USER_AGENT: &str = concat!("fathom/", env!("CARGO_PKG_VERSION"));

/// With the host's own authorities, and a limit for all of a request.
pub(crate) fn agent(limit: Duration, is_tls: bool) -> Agent {
    let known = if is_tls { rustls_native_certs::load_native_certs().certs } else { Vec::new() };
    let roots: Vec<Certificate<'static>> =
        known.iter().map(|one| Certificate::from_der(one).to_owned()).collect();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(provider)
        .build();
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(limit))
        // A POST that is redirected would become a GET.
        .max_redirects(0)
        .max_redirects_will_error(false)
        // The environment's proxy is not meant for what the configuration names.
        .proxy(None)
        .user_agent(USER_AGENT)
        .tls_config(tls)
        .build();
    config.into()
}

/// Posts JSON. `Ok` and `Err` have what was answered, in one line.
pub(crate) fn post(
    agent: &Agent,
    url: &str,
    headers: &[(String, String)],
    body: &Value,
) -> Result<String, String> {
    let mut request = agent.post(url).header("Content-Type", "application/json");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let response = request.send(body.to_string().as_bytes()).map_err(|error| said(&error))?;
    let status = response.status().as_u16();
    let mut answer = Vec::new();
    // What could be read of it is told; that it broke off changes nothing.
    let _ = response.into_body().into_reader().take(MOST_ANSWER).read_to_end(&mut answer);
    let line = first_line(&answer);
    let told = if line.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {line}") };
    if (200..300).contains(&status) { Ok(told) } else { Err(told) }
}

fn said(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(io) => io.to_string(),
        ureq::Error::Timeout(_) => "it did not answer in time".to_owned(),
        other => other.to_string(),
    }
}

/// What of an answer may go to a terminal.
pub(crate) fn first_line(answer: &[u8]) -> String {
    let text = String::from_utf8_lossy(answer);
    let line = text.trim_start().lines().next().unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(MOST_TOLD).collect::<String>().trim_end().to_owned()
}
