//! The page: what is now from the engine's board, what was from the history on disk.
use crate::failure::Failure;
use crate::terminal;
use fathom_monitor::Board;
use fathom_units::Duration;
use fathom_watch::{Plan, TargetNow};
use fathom_web::{DEFAULT_LISTEN, Live, Server, Total, WebConfig, history, serve};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// Beside the history: it belongs to whoever may read that.
const SECRET_FILE: &str = "page-password";

/// Serves the page and says where. A port that nobody asked for and that is taken costs the page, not the watch.
pub(super) fn start(
    given: Option<SocketAddr>,
    plan: &Plan,
    store: &Path,
    board: Arc<Board>,
) -> Result<Option<Server>, Failure> {
    let asked = given.or(plan.listen);
    let listen = asked.unwrap_or(DEFAULT_LISTEN);
    let secret_file = (!listen.ip().is_loopback()).then(|| store.join(SECRET_FILE));
    let config = WebConfig { listen, secret_file, hosts: Vec::new() };
    match serve(&config, Arc::new(Now(board)), history(store.to_owned())) {
        Ok(server) => {
            terminal::note(&told(&server));
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

fn told(server: &Server) -> String {
    let text = format!("page: http://{}/", server.address);
    match &server.new_password {
        Some(password) => format!(
            "{text}  password: {password} (told this once; it is in {SECRET_FILE} beside the history)"
        ),
        None => text,
    }
}

/// The engine's board as the page asks for it.
struct Now(Arc<Board>);

impl Live for Now {
    fn targets(&self) -> Vec<TargetNow> {
        self.0.targets()
    }
    fn totals(&self) -> Vec<Total> {
        let total = |total: fathom_monitor::Total| {
            let last = total.now.last.and_then(delay);
            let TargetNow { name, group, host, probe, .. } = total.now;
            Total {
                name,
                group,
                host,
                probe,
                tally: total.tally,
                sketch: total.sketch,
                last,
                since: total.since,
            }
        };
        self.0.totals().into_iter().map(total).collect()
    }
}

const fn delay(outcome: fathom_history::Outcome) -> Option<Duration> {
    match outcome {
        fathom_history::Outcome::Answered(delay) | fathom_history::Outcome::Late(delay) => Some(delay),
        fathom_history::Outcome::Lost | fathom_history::Outcome::Failed => None,
    }
}
