//! Enrollment of a machine as a site.
use crate::gateway::{agent_of, host_of, key_of, post};
use crate::identity::{labels, replace};
use crate::{AgentError, Identity, pin};
use fathom_fleet_admission::{Labels, SiteName};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// How the gateway's certificate is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trust {
    /// By the authorities of the system.
    System,
    /// By authorities in a PEM file.
    CaFile(PathBuf),
    /// By its SHA-256, as the gateway shows it. The certificate is then stored next to the
    /// identity.
    Fingerprint(String),
}

/// What a machine enrolls with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Enrollment {
    /// The gateway: `https://HOST:PORT`.
    pub url: String,
    /// The token of the operator.
    pub token: String,
    /// The site's name.
    pub site: SiteName,
    /// Its labels; none for those of the token.
    pub labels: Labels,
    /// How the gateway is known.
    pub trust: Trust,
}

/// Enrolls this machine and writes its identity.
///
/// # Errors
/// A file that exists or cannot be written, or a gateway that cannot be reached or refuses. The
/// token is used only if the gateway accepted it.
pub fn enroll(enrollment: &Enrollment, identity: &Path, now_ms: u64) -> Result<Identity, AgentError> {
    let Enrollment { url, token, site, labels: own, trust } = enrollment;
    host_of(url)?;
    if identity.exists() {
        let why = "exists".into();
        return Err(AgentError::File { path: identity.to_owned(), why });
    }
    // A folder that cannot be written must not cost the token.
    let trial = identity.with_extension("trial");
    replace(&trial, b"")?;
    std::fs::remove_file(&trial).map_err(|error| AgentError::file(&trial, &error))?;
    let ca_file = match trust {
        Trust::System => None,
        Trust::CaFile(path) => {
            Some(std::path::absolute(path).map_err(|error| AgentError::file(path, &error))?)
        }
        Trust::Fingerprint(text) => {
            let path = identity.with_extension("ca.pem");
            replace(&path, pin::certificate(url, text)?.as_bytes())?;
            Some(path)
        }
    };
    let agent = agent_of(url, ca_file.as_deref())?;
    let given: Map<String, Value> = own.iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
    let request = json!({ "token": token, "site": site.as_str(), "labels": given });
    let answer = post(&agent, (url, "/api/v1/enroll"), None, &request)?;
    let made = Identity {
        site: site.clone(),
        labels: labels(&answer["labels"]).unwrap_or_else(|| own.clone()),
        url: url.trim_end_matches('/').to_owned(),
        ca_file,
        key: key_of(url, &answer)?,
        rotated_ms: now_ms,
    };
    made.save(identity)?;
    Ok(made)
}
