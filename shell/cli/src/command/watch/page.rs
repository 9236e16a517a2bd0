//! The page: what is now from the engine's board, what was from the history on disk.
use super::shelf::Shelf;
use crate::failure::Failure;
use crate::terminal;
use fathom_units::{Duration, WallTime};
use fathom_watch_engine::LiveState;
use fathom_watch_plan::{Plan, TargetNow};
use fathom_watch_web::{DEFAULT_LISTEN, HostNow, Live, Server, TestResult, Total, WebConfig, history, serve};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Beside the history: it belongs to whoever may read that.
const SECRET_FILE: &str = "page-password";

/// Serves the page and says where. A port that nobody asked for and that is taken costs the page, not the watch.
pub(super) fn start(
    given: Option<SocketAddr>,
    plan: &Plan,
    store: &Path,
    board: Arc<LiveState>,
) -> Result<Option<Server>, Failure> {
    let asked = given.or(plan.listen);
    let listen = asked.unwrap_or(DEFAULT_LISTEN);
    let secret_file = password_file(listen, plan, store);
    let config = WebConfig { listen, secret_file: secret_file.clone(), hosts: plan.hosts.clone() };
    let shelf = plan.results.as_ref().map(|folder| shelf(folder.into()));
    match serve(&config, Arc::new(Now { board, shelf }), history(store.to_owned())) {
        Ok(server) => {
            terminal::note(&told(&server, secret_file.as_deref()));
            Ok(Some(server))
        }
        Err(error) if asked.is_some() => Err(Failure::environment(error)),
        Err(error) => {
            terminal::note(&format!(
                "fathom watch: {error}; there is no page (--listen 127.0.0.1:0 takes any port)"
            ));
            Ok(None)
        }
    }
}

/// A directory that is not there yet may come: it is told, and looked for again.
fn shelf(folder: PathBuf) -> Shelf {
    if let Err(error) = std::fs::read_dir(&folder) {
        terminal::note(&format!(
            "fathom watch: results: {}: {error}; the page shows none of its tests until it can be read",
            folder.display()
        ));
    }
    Shelf::new(folder)
}

/// The one that is named; else, where others can reach the page, one beside the history.
fn password_file(listen: SocketAddr, plan: &Plan, store: &Path) -> Option<PathBuf> {
    let named = plan.password_file.as_ref().map(PathBuf::from);
    named.or_else(|| (!listen.ip().to_canonical().is_loopback()).then(|| store.join(SECRET_FILE)))
}

fn told(server: &Server, file: Option<&Path>) -> String {
    let text = format!("page: http://{}/", server.address);
    match (&server.new_password, file) {
        (Some(password), Some(file)) => {
            format!("{text}  password: {password} (told this once; it is in {})", file.display())
        }
        _ => text,
    }
}

/// The engine's board as the page asks for it.
struct Now {
    board: Arc<LiveState>,
    shelf: Option<Shelf>,
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
        let now = |fathom_watch_engine::HostNow { probe, mean, most }| HostNow { probe, mean, most };
        self.board.host().into_iter().map(now).collect()
    }
    fn results(&self, from: WallTime, to: WallTime) -> Vec<TestResult> {
        self.shelf.as_ref().map_or_else(Vec::new, |shelf| shelf.between(from, to))
    }
    fn report(&self, name: &str) -> Option<String> {
        self.shelf.as_ref()?.report(name)
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
