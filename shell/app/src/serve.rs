//! The server that other hosts test against.
use crate::{AppError, CancelToken};
pub use fathom_server::{Config, Server, Stats};
use std::time::Duration;

/// Time between two checks for cancellation.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Serves until it is cancelled. Calls `ready` with the listening server.
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
