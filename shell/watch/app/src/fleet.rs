//! The lines of an operator: the gateway to which their agents send, who is enrolled there, and
//! what an engine knows about them.
use fathom_app::{AppError, CancelToken};
use fathom_certificate::Certificate;
pub use fathom_fleet_admission::{Labels, Limits, Site as EnrolledSite, SiteName};
use fathom_fleet_gateway::{Admin, Event, Gateway};
pub use fathom_fleet_gateway::{Engine as GatewayEngine, GatewayConfig, TokenRequest};
pub use fathom_fleet_query::EngineConfig;
use fathom_fleet_query::{Engine, QueryError};
use fathom_fleet_view::{Fleet, Group, Selector, Site, groups, outliers};
use fathom_os::clock::wall_now;
use fathom_os::names::own_name;
use fathom_report::{CommandDocument, judged_document};
use fathom_run::threshold::BLOATED_P90_S;
use fathom_units::{Duration, WallTime};
use serde_json::{Map, Value, json};
use std::net::SocketAddr;
use std::path::Path;

/// Interval of checks for cancellation.
const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(200);
/// Lag from which a site is bloated: lag is a 90th percentile.
pub const BLOATED_S: f64 = BLOATED_P90_S;

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

/// A question about the sites of a fleet.
#[derive(Clone, Debug)]
pub struct SitesRequest {
    /// The engine.
    pub engine: EngineConfig,
    /// The period until now.
    pub since: WallTime,
    /// Only sites whose labels have these values.
    pub only: Vec<(String, String)>,
    /// The label by which they are grouped.
    pub by: Option<String>,
}

/// The sites of a fleet.
#[derive(Clone, PartialEq, Debug)]
pub struct Sites {
    /// The sites and their values.
    pub fleet: Fleet,
    /// The label by which they are grouped, and its groups.
    pub groups: Option<(String, Vec<Group>)>,
}

/// Asks the engine about the sites.
///
/// # Errors
/// An engine that cannot be reached or refuses the query.
pub fn sites(request: &SitesRequest) -> Result<Sites, AppError> {
    let failed = |error: QueryError| AppError::Fleet(error.to_string());
    let engine = Engine::new(request.engine.clone()).map_err(failed)?;
    let only = request.only.iter().fold(Selector::all(), |all, (name, value)| all.with(name, value));
    let now = wall_now();
    let period = Duration::from_nanos(now.0.saturating_sub(request.since.0));
    let fleet = engine.fleet(&only, period, now).map_err(failed)?;
    let groups = request.by.as_ref().map(|label| (label.clone(), groups(&fleet, label, BLOATED_S)));
    Ok(Sites { fleet, groups })
}

impl Sites {
    /// Sites that differ from those with the same label, the largest lag first.
    #[must_use]
    pub fn outliers(&self) -> Vec<&Site> {
        self.groups.as_ref().map_or_else(Vec::new, |(label, _)| outliers(&self.fleet, label))
    }
    /// The JSON document.
    #[must_use]
    pub fn document(&self) -> CommandDocument {
        let ranked = self.fleet.by_lag();
        let bloated = ranked.iter().filter(|site| site.lag_s().is_some_and(|lag| lag >= BLOATED_S)).count();
        let verdict = fathom_prose::fleet_verdict(ranked.len(), bloated);
        let groups = self.groups.as_ref().map(|(label, groups)| {
            json!({ "label": label, "groups": groups.iter().map(group_document).collect::<Vec<_>>() })
        });
        let outliers: Vec<&str> = self.outliers().iter().map(|site| site.name.as_str()).collect();
        let sites: Vec<Value> = ranked.into_iter().map(site_document).collect();
        let data = json!({ "sites": sites, "by": groups, "outliers": outliers });
        judged_document("fleet sites", &verdict, &fathom_diagnose::Diagnosis::default(), ("fleet", data))
    }
}

fn site_document(site: &Site) -> Value {
    let labels: Map<String, Value> =
        site.labels.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    let (up, down) = (&site.lines.up, &site.lines.down);
    json!({
        "site": site.name,
        "labels": labels,
        "lag_up_s": up.lag_s,
        "lag_down_s": down.lag_s,
        "idle_p50_s": site.idle_s,
        "goodput_up_bits_per_second": up.rate_bits_per_second,
        "goodput_down_bits_per_second": down.rate_bits_per_second,
        "buffer_up_bytes": up.buffer_bytes,
        "buffer_down_bytes": down.buffer_bytes,
        "tests": site.tests,
    })
}

fn group_document(group: &Group) -> Value {
    json!({
        "value": group.value,
        "sites": group.sites,
        "lag_p50_s": group.lag_p50_s,
        "lag_p90_s": group.lag_p90_s,
        "bloated_ratio": group.bloated_ratio,
    })
}
