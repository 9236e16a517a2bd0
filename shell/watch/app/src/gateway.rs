//! The gateway of a fleet at which a watch is enrolled.
use fathom_app::AppError;
use fathom_fleet_admission::{Labels, SiteName};
use fathom_fleet_agent::{AgentError, Enrollment, Identity, KeyKeeper, Trust, enroll};
use fathom_os::clock::wall_now;
use fathom_watch_plan::{ArchivePlace, Plan, SITE_LABEL};
use fathom_watch_push::Gateway;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Interval of checks whether the key is a day old.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// How the certificate of a gateway is known.
pub use fathom_fleet_agent::Trust as GatewayTrust;

/// A request to enroll a watch.
#[derive(Clone, Debug)]
pub struct EnrollRequest {
    /// The configuration, with a site.
    pub source: super::Source,
    /// Directory of the history, where the identity is kept.
    pub store: PathBuf,
    /// `https://HOST:PORT`.
    pub gateway: String,
    /// The token of the operator.
    pub token: String,
    /// How the gateway is known.
    pub trust: Trust,
}

/// The file with the identity, next to the history.
pub(super) fn identity_file(store: &Path) -> PathBuf {
    store.join("identity.json")
}

fn now_ms() -> u64 {
    wall_now().0 / 1_000_000
}

fn refused(error: &AgentError) -> AppError {
    AppError::Fleet(error.to_string())
}

/// Enrolls the site of a configuration. Returns the file of its identity.
///
/// # Errors
/// A configuration without a site, a gateway that refuses, or a file that cannot be written.
pub fn enroll_site(request: &EnrollRequest) -> Result<PathBuf, AppError> {
    let plan = request.source.read()?;
    let site = plan.site.ok_or_else(|| AppError::Fleet(format!("{}: no [site]", request.source)))?;
    let pairs = site.labels.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let labels = Labels::parse(pairs).map_err(|error| AppError::Fleet(error.to_string()))?;
    std::fs::create_dir_all(&request.store)
        .map_err(|source| AppError::Settings { path: request.store.clone(), source })?;
    let path = identity_file(&request.store);
    let enrollment = Enrollment {
        url: request.gateway.clone(),
        token: request.token.clone(),
        site: SiteName::parse(&site.name).map_err(|error| AppError::Fleet(error.to_string()))?,
        labels,
        trust: request.trust.clone(),
    };
    enroll(&enrollment, &path, now_ms()).map_err(|error| refused(&error))?;
    Ok(path)
}

/// The gateway of a plan that pushes or archives to it.
///
/// # Errors
/// A site that is not enrolled, or under another name or with other labels.
pub(super) fn gateway(plan: &Plan, store: &Path) -> Result<Option<(Gateway, Arc<KeyKeeper>)>, AppError> {
    let is_used = plan.pushes.iter().any(|push| push.to_gateway)
        || plan.archives.iter().any(|archive| archive.place == ArchivePlace::Gateway);
    let Some(site) = plan.site.as_ref().filter(|_| is_used) else { return Ok(None) };
    let path = identity_file(store);
    let keeper = Arc::new(KeyKeeper::new(&path).map_err(|error| {
        AppError::Fleet(format!("site {}: {error}\n  try: fathom watch enroll", site.name))
    })?);
    let identity = keeper.identity().map_err(|error| refused(&error))?;
    let enrolled = labels_of(&identity);
    let is_same = site.labels.iter().all(|own| enrolled.contains(own));
    if identity.site.as_str() != site.name || !is_same {
        return Err(AppError::Fleet(format!(
            "{}: is enrolled as {} with other labels",
            path.display(),
            identity.site
        )));
    }
    let own = Arc::clone(&keeper);
    let mut labels = vec![(SITE_LABEL.to_owned(), site.name.clone())];
    labels.extend(enrolled);
    let gateway = Gateway {
        url: identity.url,
        ca_file: identity.ca_file,
        labels,
        key: Arc::new(move || own.key().map_err(|error| error.to_string())),
    };
    Ok(Some((gateway, keeper)))
}

fn labels_of(identity: &Identity) -> Vec<(String, String)> {
    identity.labels.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// The thread that replaces the key once a day.
pub(super) struct KeyThread {
    problems: Receiver<String>,
    stop: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl KeyThread {
    pub(super) fn start(keeper: Arc<KeyKeeper>) -> KeyThread {
        let (stop, stopped) = channel();
        let (report, problems) = channel();
        let thread = std::thread::spawn(move || {
            while stopped.recv_timeout(LOOK_EVERY) == Err(RecvTimeoutError::Timeout) {
                if let Err(error) = keeper.rotate_if_due(now_ms()) {
                    // If nobody listens, the watch is stopping.
                    let _ = report.send(format!("the key of the site was not replaced: {error}"));
                }
            }
        });
        KeyThread { problems, stop, thread: Some(thread) }
    }
    /// The problems since the last call.
    pub(super) fn problems(&self) -> Vec<String> {
        self.problems.try_iter().collect()
    }
    pub(super) fn stop(mut self) {
        let _ = self.stop.send(());
        self.thread.take().into_iter().for_each(|thread| drop(thread.join()));
    }
}
