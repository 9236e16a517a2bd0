//! The server that other hosts test against.
use crate::{AppError, CancelToken};
pub use fathom_server::{Config, Server, Stats};
use std::time::Duration;

/// How soon the end of the request is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Serves until it is cancelled; `ready` gets the server that listens.
///
/// # Errors
/// If the addresses cannot be bound.
pub fn run(config: Config, cancel: &CancelToken, ready: &mut dyn FnMut(&Server)) -> Result<Stats, AppError> {
    let server = Server::start(config)?;
    ready(&server);
    while !cancel.is_cancelled() {
        std::thread::sleep(LOOK_EVERY);
    }
    let stats = server.stats();
    server.stop();
    Ok(stats)
}
