//! The identity of a site on its machine: a file that only its owner can read.
use crate::AgentError;
use fathom_fleet_admission::{Labels, SiteName};
use fathom_os::files::{create_new, read_at_most};
use serde_json::{Map, Value, json};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Version of the file. A later version must read earlier ones.
const VERSION: u64 = 1;
const MAX_BYTES: u64 = 64 << 10;

/// Who a machine is to the gateway.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The site.
    pub site: SiteName,
    /// The labels with which it was enrolled.
    pub labels: Labels,
    /// The gateway: `https://HOST:PORT`.
    pub url: String,
    /// Certificate authorities, or the gateway's own certificate, in PEM.
    pub ca_file: Option<PathBuf>,
    /// The key.
    pub key: String,
    /// When the gateway issued it, in milliseconds since 1970-01-01 UTC.
    pub rotated_ms: u64,
}

/// Without the key.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Identity({} of {})", self.site, self.url)
    }
}

impl Identity {
    /// Reads the file.
    ///
    /// # Errors
    /// A file that cannot be read, is damaged, or that others can read.
    pub fn load(path: &Path) -> Result<Identity, AgentError> {
        let system = |error: io::Error| AgentError::file(path, &error);
        let mode = fs::metadata(path).map_err(system)?.mode() & 0o777;
        let fault = |why: String| AgentError::File { path: path.to_owned(), why };
        if mode & 0o077 != 0 {
            return Err(fault(format!("readable by everyone on this host (mode {mode:o}): try chmod 600")));
        }
        let bytes = read_at_most(path, MAX_BYTES).map_err(system)?;
        let json = serde_json::from_slice(&bytes).ok();
        json.and_then(|json: Value| parse(&json)).ok_or_else(|| fault("is damaged".into()))
    }
    /// Replaces the file. After a crash it is either the old or the new one.
    pub(crate) fn save(&self, path: &Path) -> Result<(), AgentError> {
        let labels: Map<String, Value> =
            self.labels.iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        let ca_file = self.ca_file.as_deref().map(Path::to_string_lossy);
        let json = json!({
            "fathom_identity": VERSION,
            "site": self.site.as_str(),
            "labels": labels,
            "url": self.url,
            "ca_file": ca_file,
            "key": self.key,
            "rotated_ms": self.rotated_ms,
        });
        replace(path, format!("{json:#}\n").as_bytes())
    }
}

/// Replaces a file, readable only by its owner, durably.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), AgentError> {
    let new = path.with_extension("new");
    let write = || {
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = create_new(&new, 0o600)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    };
    write().map_err(|error| AgentError::file(path, &error))
}

fn parse(json: &Value) -> Option<Identity> {
    if json["fathom_identity"].as_u64() != Some(VERSION) {
        return None;
    }
    let text = |name: &str| json[name].as_str();
    Some(Identity {
        site: SiteName::parse(text("site")?).ok()?,
        labels: labels(&json["labels"])?,
        url: text("url")?.to_owned(),
        ca_file: text("ca_file").map(PathBuf::from),
        key: text("key")
            .filter(|key| !key.is_empty() && key.bytes().all(|b| b.is_ascii_graphic()))?
            .to_owned(),
        rotated_ms: json["rotated_ms"].as_u64()?,
    })
}

/// Labels of a JSON object.
pub(crate) fn labels(json: &Value) -> Option<Labels> {
    let pairs: Option<Vec<(&str, &str)>> =
        json.as_object()?.iter().map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect();
    Labels::parse(pairs?).ok()
}
