//! A destination, with the content of its files.
use fathom_os::error::without_code;
use fathom_os::files::{read_at_most, read_text_at_most};
use fathom_os::names::own_name;
use fathom_watch_http::{AgentOptions, agent, host_authorities};
use fathom_watch_plan::{Push, PushKind};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;

/// Timeout of connecting.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Timeout of a whole request.
const REQUEST_LIMIT: Duration = Duration::from_secs(30);

/// Maximum size of the file of a token, which is one word, in bytes.
const MAX_TOKEN_BYTES: u64 = 64 << 10;
/// Maximum size of a file of certificates, in bytes. Mozilla's whole list takes 200 kB.
const MAX_AUTHORITIES_BYTES: u64 = 4 << 20;

/// Gives the bearer key for a request, or says why it cannot.
pub type KeySource = Arc<dyn Fn() -> Result<String, String> + Send + Sync>;

/// The gateway at which a site is enrolled.
#[derive(Clone)]
pub struct Gateway {
    /// `https://HOST:PORT`.
    pub url: String,
    /// Its certificate authorities in PEM; `None` for the system's.
    pub ca_file: Option<PathBuf>,
    /// The name and the labels of the site.
    pub labels: Vec<(String, String)>,
    /// The key, which is replaced from time to time.
    pub key: KeySource,
}

/// A destination for metrics.
#[derive(Clone)]
pub struct Destination {
    pub(crate) push: Push,
    /// The key of the gateway.
    key: Option<KeySource>,
    pub(crate) agent: Agent,
    /// The label `instance` of all series.
    pub(crate) instance: String,
}

/// Without the key.
impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Destination").field("push", &self.push).field("instance", &self.instance).finish()
    }
}

/// Why a destination is invalid. `Display` gives one line with the file and what to try.
#[derive(Debug)]
pub enum DestinationError {
    /// The key of the gateway cannot be read, with the reason.
    Key(String),
    /// A file cannot be read.
    File {
        /// The destination.
        name: String,
        /// The key that names the file.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The content of a file is invalid.
    Content {
        /// The destination.
        name: String,
        /// The key that names the file.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

impl fmt::Display for DestinationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DestinationError::Key(why) => f.write_str(why),
            DestinationError::File { name, key, path, source } => {
                write!(f, "push {name}: {key}: cannot read {}: {}", path.display(), without_code(source))
            }
            DestinationError::Content { name, key, path, why } => {
                write!(f, "push {name}: {key}: {} {why}", path.display())
            }
        }
    }
}

impl std::error::Error for DestinationError {}

impl Destination {
    /// Creates a destination from the configuration and checks its files.
    ///
    /// # Errors
    /// A file that cannot be read or has the wrong content.
    pub fn of(push: &Push) -> Result<Destination, DestinationError> {
        token(push)?;
        let roots = match &push.ca_file {
            Some(path) => authorities(push, Path::new(path))?,
            None => host_authorities(&push.url),
        };
        let agent = agent(&AgentOptions {
            limit: REQUEST_LIMIT,
            connect_limit: Some(CONNECT_LIMIT),
            uses_proxy: true,
            authorities: roots,
        });
        let instance = push.instance.clone().unwrap_or_else(own_name);
        Ok(Destination { push: push.clone(), key: None, agent, instance })
    }
    /// Creates the destination of a push to the gateway.
    ///
    /// # Errors
    /// As [`Destination::of`].
    pub fn at(push: &Push, gateway: &Gateway) -> Result<Destination, DestinationError> {
        let complete = Push {
            url: format!("{}/api/v1/write", gateway.url),
            ca_file: gateway.ca_file.as_ref().map(|path| path.to_string_lossy().into_owned()),
            labels: gateway.labels.clone(),
            ..push.clone()
        };
        Ok(Destination { key: Some(Arc::clone(&gateway.key)), ..Destination::of(&complete)? })
    }
    /// Whether two destinations are equal, so that a running sender can continue.
    pub(crate) fn is_same(&self, other: &Destination) -> bool {
        self.push == other.push && self.instance == other.instance
    }
    /// The bearer token, read each time because it may be short-lived.
    pub(crate) fn token(&self) -> Result<Option<String>, DestinationError> {
        match &self.key {
            Some(key) => key().map(Some).map_err(DestinationError::Key),
            None => token(&self.push),
        }
    }
    /// Labels of all series; in OTLP, `job` and `instance` are resource attributes.
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
    let text = read_text_at_most(path, MAX_TOKEN_BYTES).map_err(|source| DestinationError::File {
        name: name.clone(),
        key,
        path: path.into(),
        source,
    })?;
    let token = text.trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        let why = "contains no token (expected one word of visible ASCII)".into();
        return Err(DestinationError::Content { name, key, path: path.into(), why });
    }
    Ok(Some(token.to_owned()))
}

fn authorities(push: &Push, path: &Path) -> Result<Vec<CertificateDer<'static>>, DestinationError> {
    let (name, key) = (push.name.clone(), "ca_file");
    let bytes = read_at_most(path, MAX_AUTHORITIES_BYTES).map_err(|source| DestinationError::File {
        name: name.clone(),
        key,
        path: path.into(),
        source,
    })?;
    let parsed: Result<Vec<CertificateDer<'static>>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match parsed {
        Ok(all) if !all.is_empty() => Ok(all),
        _ => {
            let why = "contains no certificate in PEM format".into();
            Err(DestinationError::Content { name, key, path: path.into(), why })
        }
    }
}
