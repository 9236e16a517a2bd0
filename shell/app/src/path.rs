//! Shows the hops of a path, with load or without.
use crate::{AppError, CancelToken};
use fathom_client::{Event, Family, PathConfig, TestError, probe_path, resolve_server};
use fathom_run::Run;
use fathom_units::Duration;

/// Shortest interval: routers answer about one request per second.
pub const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);

/// Probes all hops to `host`, a name or an address.
///
/// # Errors
/// If the interval is too short, the name has no address, or a socket cannot be opened.
pub fn run(
    host: &str,
    family: Option<Family>,
    config: &PathConfig,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(Event),
) -> Result<Run, AppError> {
    if config.interval < SHORTEST_INTERVAL {
        return Err(AppError::ProbeInterval { interval: config.interval, min: SHORTEST_INTERVAL });
    }
    let addresses = resolve_server(host, 0, family)?;
    let no_address = || TestError::Resolve { server: host.to_owned(), reason: "no address".to_owned() };
    let address = addresses.first().ok_or_else(no_address)?.ip();
    Ok(probe_path(config, (host, address), cancel.flag(), progress)?)
}
