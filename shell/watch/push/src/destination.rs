//! A place to send to, with all that its files say.
use fathom_watch_plan::{Push, PushKind};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};

/// A connection that takes longer comes to nothing.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// What a request may take in all: a receiver that hangs is asked again after it.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);
const USER_AGENT: &str = concat!("fathom/", env!("CARGO_PKG_VERSION"));

/// A place to send to.
#[derive(Clone, Debug)]
pub struct Destination {
    pub(crate) push: Push,
    pub(crate) agent: Agent,
    /// The label `instance` of all that is sent.
    pub(crate) instance: String,
}

/// Why a destination will not do. `Display` gives one line that names the file and what to try.
#[derive(Debug)]
pub enum DestinationError {
    /// A file cannot be read.
    File {
        /// The destination.
        name: String,
        /// The key that names it.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file has no such thing.
    Content {
        /// The destination.
        name: String,
        /// The key that names it.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

impl fmt::Display for DestinationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DestinationError::File { name, key, path, source } => {
                write!(f, "push {name}: {key}: cannot read {}: {source}", path.display())
            }
            DestinationError::Content { name, key, path, why } => {
                write!(f, "push {name}: {key}: {} {why}", path.display())
            }
        }
    }
}

impl std::error::Error for DestinationError {}

impl Destination {
    /// One that the configuration says, if its files are as they should be.
    ///
    /// # Errors
    /// A file that cannot be read, or is of another kind.
    pub fn of(push: &Push) -> Result<Destination, DestinationError> {
        token(push)?;
        let roots = match &push.ca_file {
            Some(path) => authorities(push, Path::new(path))?,
            None if push.url.starts_with("https:") => host_authorities(),
            None => Vec::new(),
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .root_certs(RootCerts::new_with_certs(&roots))
            .unversioned_rustls_crypto_provider(provider)
            .build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_LIMIT))
            .timeout_global(Some(REQUEST_LIMIT))
            // A POST that is redirected would become a GET.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(USER_AGENT)
            .tls_config(tls)
            .build();
        let instance = push.instance.clone().unwrap_or_else(host_name);
        Ok(Destination { push: push.clone(), agent: config.into(), instance })
    }
    /// What tells two apart: if nothing of it is different, what runs may go on.
    pub(crate) fn is_same(&self, other: &Destination) -> bool {
        self.push == other.push && self.instance == other.instance
    }
    /// The bearer token, read each time: it may be a short-lived one.
    pub(crate) fn token(&self) -> Result<Option<String>, DestinationError> {
        token(&self.push)
    }
    /// Labels of all series; of OTLP, `job` and `instance` are attributes of the resource.
    pub(crate) fn labels(&self) -> Vec<(String, String)> {
        let mut labels = self.push.labels.clone();
        if self.push.kind != PushKind::Otlp {
            labels.push(("job".into(), "fathom".into()));
            labels.push(("instance".into(), self.instance.clone()));
        }
        labels
    }
}

fn token(push: &Push) -> Result<Option<String>, DestinationError> {
    let Some(path) = push.token_file.as_deref().map(Path::new) else { return Ok(None) };
    let (name, key) = (push.name.clone(), "token_file");
    let text = fs::read_to_string(path).map_err(|source| DestinationError::File {
        name: name.clone(),
        key,
        path: path.into(),
        source,
    })?;
    let token = text.trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let why = "holds no token (expected one word of visible ASCII)".into();
        return Err(DestinationError::Content { name, key, path: path.into(), why });
    }
    Ok(Some(token.to_owned()))
}

fn authorities(push: &Push, path: &Path) -> Result<Vec<Certificate<'static>>, DestinationError> {
    let (name, key) = (push.name.clone(), "ca_file");
    let bytes = fs::read(path).map_err(|source| DestinationError::File {
        name: name.clone(),
        key,
        path: path.into(),
        source,
    })?;
    let parsed: Result<Vec<CertificateDer<'static>>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match parsed {
        Ok(all) if !all.is_empty() => {
            Ok(all.iter().map(|one| Certificate::from_der(one).to_owned()).collect())
        }
        _ => {
            let why = "holds no certificate in PEM".into();
            Err(DestinationError::Content { name, key, path: path.into(), why })
        }
    }
}

fn host_authorities() -> Vec<Certificate<'static>> {
    let known = rustls_native_certs::load_native_certs().certs;
    known.iter().map(|one| Certificate::from_der(one).to_owned()).collect()
}

fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}
