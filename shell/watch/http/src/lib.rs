//! Outgoing HTTP requests of a watch: notifications and exported metrics use the same agent.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

use fathom_os::error::without_code;
use rustls::pki_types::CertificateDer;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use ureq::{Agent, Body};

/// Maximum bytes of a response that are read: a proxy's error page may be long.
const MAX_ANSWER_BYTES: u64 = 4_096;
const USER_AGENT: &str = concat!("fathom/", env!("CARGO_PKG_VERSION"));

/// Settings of an agent.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// Timeout of a request including its response.
    pub limit: Duration,
    /// Timeout of connecting; `None` for that of the request.
    pub connect_limit: Option<Duration>,
    /// Whether to use the proxy from the environment.
    pub uses_proxy: bool,
    /// Certificate authorities; not needed for `http`.
    pub authorities: Vec<CertificateDer<'static>>,
}

/// The system's certificate authorities, if `url` uses TLS.
#[must_use]
pub fn host_authorities(url: &str) -> Vec<CertificateDer<'static>> {
    let is_tls = url.starts_with("https:");
    if is_tls { rustls_native_certs::load_native_certs().certs } else { Vec::new() }
}

/// An agent that follows no redirects, because a redirected POST would become a GET, and that
/// returns every status as a response.
#[must_use]
pub fn agent(options: &AgentOptions) -> Agent {
    let roots: Vec<Certificate<'static>> =
        options.authorities.iter().map(|one| Certificate::from_der(one).to_owned()).collect();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(provider)
        .build();
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(options.limit))
        .timeout_connect(options.connect_limit)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(USER_AGENT)
        .tls_config(tls);
    // Without a call to `proxy`, the one from the environment is used.
    let config = if options.uses_proxy { config } else { config.proxy(None) };
    config.build().into()
}

/// The beginning of a response; a read error only ends it.
#[must_use]
pub fn beginning(body: Body) -> Vec<u8> {
    let mut answer = Vec::new();
    let _ = body.into_reader().take(MAX_ANSWER_BYTES).read_to_end(&mut answer);
    answer
}

/// Why there was no response.
#[must_use]
pub fn reason(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(io) => without_code(io),
        ureq::Error::Timeout(_) => "timeout".to_owned(),
        other => other.to_string(),
    }
}
