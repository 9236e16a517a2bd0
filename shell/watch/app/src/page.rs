//! The web page of a watch: live data from the engine, older data from the history on disk.
use crate::results_dir::ResultsDir;
use crate::{Events, WatchEvent, WatchRequest};
use fathom_app::AppError;
use fathom_os::names::own_name;
use fathom_units::{Duration, WallTime};
use fathom_watch_engine::LiveState;
use fathom_watch_plan::{OwnState, Plan, TargetNow};
use fathom_watch_web::{DEFAULT_LISTEN, HostNow, Live, TestNow, TestResult, Total, history, serve};
use fathom_web::{Certificate, Server, WebConfig};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// File name of the password, in the directory of the history: who can read the history can read
/// the page.
const SECRET_FILE: &str = "page-password";

/// Serves the page and reports its address. If the default port is in use, the watch runs without a
/// page.
pub(super) fn start(
    request: &WatchRequest,
    plan: &Plan,
    results: Option<PathBuf>,
    board: Arc<LiveState>,
    events: &Events,
) -> Result<Option<Server>, AppError> {
    let store = &request.store;
    let asked = request.listen.or(plan.listen);
    let listen = asked.unwrap_or(DEFAULT_LISTEN);
    let secret_file = password_file(listen, plan, store);
    let config = WebConfig {
        listen,
        secret_file: secret_file.clone(),
        certificate: certificate(listen, plan, store),
        hosts: plan.hosts.clone(),
    };
    let results = results.map(|folder| results_dir(folder, events));
    match serve(&config, Arc::new(Now { board, results }), history(store.to_owned())) {
        Ok(server) => {
            let new_password = server.new_password.clone().zip(secret_file);
            let (address, is_secure) = (server.address, server.is_secure);
            let fingerprint = server.fingerprint.clone();
            events(WatchEvent::Page { address, is_secure, fingerprint, new_password });
            Ok(Some(server))
        }
        Err(error) if asked.is_some() => Err(error.into()),
        Err(error) => {
            events(WatchEvent::NoPage(error));
            Ok(None)
        }
    }
}

/// The results directory. If it does not exist yet, that is reported, and it is tried again later.
fn results_dir(folder: PathBuf, events: &Events) -> ResultsDir {
    if let Err(source) = std::fs::read_dir(&folder) {
        events(WatchEvent::NoResults { folder: folder.clone(), source });
    }
    ResultsDir::new(folder)
}

/// The password file of the plan. Otherwise, if other hosts can reach the page, a file in the
/// directory of the history.
fn password_file(listen: SocketAddr, plan: &Plan, store: &Path) -> Option<PathBuf> {
    let named = plan.password_file.as_ref().map(PathBuf::from);
    named.or_else(|| (!listen.ip().to_canonical().is_loopback()).then(|| store.join(SECRET_FILE)))
}

/// The certificate of the plan. Otherwise, if other hosts can reach the page, a self-signed one in
/// the directory of the history.
fn certificate(listen: SocketAddr, plan: &Plan, store: &Path) -> Option<Certificate> {
    let is_wanted = plan.tls.unwrap_or(!listen.ip().to_canonical().is_loopback());
    let own = || {
        let address = Some(listen.ip()).filter(|ip| !ip.is_unspecified()).map(|ip| ip.to_string());
        let hosts = plan.hosts.iter().map(|host| host.trim_matches(['[', ']']).to_owned());
        let names = [own_name(), "localhost".into()].into_iter().chain(hosts).chain(address);
        Certificate::SelfSigned { folder: store.to_owned(), names: names.collect() }
    };
    let given = plan
        .certificate
        .as_ref()
        .map(|(chain, key)| Certificate::Files { chain: chain.into(), key: key.into() });
    is_wanted.then(|| given.unwrap_or_else(own))
}

/// The live data of the engine, as the page queries it.
struct Now {
    board: Arc<LiveState>,
    results: Option<ResultsDir>,
}

impl Live for Now {
    fn targets(&self) -> Vec<TargetNow> {
        self.board.targets()
    }
    fn totals(&self) -> Vec<Total> {
        let total = |total: fathom_watch_engine::Total| {
            let last = total.now.last.and_then(delay);
            let TargetNow { name, group, host, probe, alerts, .. } = total.now;
            Total {
                name,
                group,
                host,
                probe,
                tally: total.tally,
                sketch: total.sketch,
                last,
                since: total.since,
                alerts,
            }
        };
        self.board.totals().into_iter().map(total).collect()
    }
    fn host(&self) -> Vec<HostNow> {
        let now = |fathom_watch_engine::HostNow { probe, mean, max }| HostNow { probe, mean, max };
        self.board.host().into_iter().map(now).collect()
    }
    fn tests(&self) -> Vec<TestNow> {
        let now = |(name, values)| TestNow { name, values };
        self.board.tests().into_iter().map(now).collect()
    }
    fn own(&self) -> OwnState {
        self.board.own()
    }
    fn results(&self, from: WallTime, to: WallTime) -> Vec<TestResult> {
        self.results.as_ref().map_or_else(Vec::new, |results| results.between(from, to))
    }
    fn report(&self, name: &str) -> Option<String> {
        self.results.as_ref()?.report(name)
    }
}

const fn delay(outcome: fathom_watch_samples::Outcome) -> Option<Duration> {
    match outcome {
        fathom_watch_samples::Outcome::Answered(delay) | fathom_watch_samples::Outcome::Late(delay) => {
            Some(delay)
        }
        fathom_watch_samples::Outcome::Lost | fathom_watch_samples::Outcome::Failed => None,
    }
}
