//! The gateway to which the agents of a fleet send, and who is enrolled there.
use fathom_app::{AppError, CancelToken};
use fathom_certificate::Certificate;
pub use fathom_fleet_admission::{Labels, Limits, Site as EnrolledSite, SiteName};
use fathom_fleet_gateway::{Admin, Event, Gateway};
pub use fathom_fleet_gateway::{Engine as GatewayEngine, GatewayConfig, TokenRequest};
use fathom_os::names::own_name;
use std::net::SocketAddr;
use std::path::Path;

/// Interval of checks for cancellation.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(200);

/// What a gateway reports.
#[derive(Debug)]
pub enum GatewayProgress {
    /// It takes requests.
    Ready {
        /// Its address.
        address: SocketAddr,
        /// SHA-256 of its certificate, if that is self-signed.
        fingerprint: Option<String>,
    },
    /// Something that the operator should know.
    Event(String),
}

/// The self-signed certificate of a gateway, which agents know by its fingerprint.
#[must_use]
pub fn own_certificate(state: &Path, listen: SocketAddr) -> Certificate {
    let address = Some(listen.ip()).filter(|ip| !ip.is_unspecified()).map(|ip| ip.to_string());
    let names = [own_name(), "localhost".to_owned(), "127.0.0.1".to_owned()].into_iter().chain(address);
    Certificate::SelfSigned { folder: state.to_owned(), names: names.collect() }
}

/// The certificate of a gateway in files.
#[must_use]
pub fn certificate_files(chain: &Path, key: &Path) -> Certificate {
    Certificate::Files { chain: chain.to_owned(), key: key.to_owned() }
}

/// Runs a gateway until `cancel`.
///
/// # Errors
/// If it cannot be started.
pub fn serve_gateway(
    config: &GatewayConfig,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(GatewayProgress),
) -> Result<(), AppError> {
    // With the usual limit of 1,024 open files, most of the connections would be refused.
    let _ = fathom_os::files::raise_limit();
    let gateway = Gateway::start(config).map_err(|error| AppError::Fleet(error.to_string()))?;
    let fingerprint = gateway.fingerprint().map(ToString::to_string);
    progress(GatewayProgress::Ready { address: gateway.address(), fingerprint });
    while !cancel.is_cancelled() {
        if let Some(Event { kind, .. }) = gateway.next_event(LOOK_EVERY) {
            progress(GatewayProgress::Event(kind.to_string()));
        }
    }
    gateway.stop();
    Ok(())
}

/// Issues a token with which one machine can be enrolled.
///
/// # Errors
/// A registry that cannot be written, or a life that is too long.
pub fn issue_token(state: &Path, request: &TokenRequest) -> Result<String, AppError> {
    admin(state)?.issue_token(request).map_err(|error| AppError::Fleet(error.to_string()))
}

/// Revokes a site: its keys are refused from now on.
///
/// # Errors
/// A site that is not enrolled, or a registry that cannot be written.
pub fn revoke(state: &Path, site: &SiteName) -> Result<(), AppError> {
    existing(state)?.revoke(site).map_err(|error| AppError::Fleet(error.to_string()))
}

/// All sites that are or were enrolled.
///
/// # Errors
/// A registry that cannot be read.
pub fn enrolled(state: &Path) -> Result<Vec<EnrolledSite>, AppError> {
    existing(state)?.sites().map_err(|error| AppError::Fleet(error.to_string()))
}

/// A misspelt folder must not become a new registry.
fn existing(state: &Path) -> Result<Admin, AppError> {
    if !state.is_dir() {
        return Err(AppError::NoDirectory { path: state.to_owned() });
    }
    admin(state)
}

fn admin(state: &Path) -> Result<Admin, AppError> {
    Admin::open(state).map_err(|error| AppError::Fleet(error.to_string()))
}
