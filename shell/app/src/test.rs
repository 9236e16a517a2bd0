//! Tests the line to a server: one that runs `fathom serve`, or a URL.
pub mod applications;
pub mod lines;
mod server;
mod wifi;

use crate::{AppError, CancelToken, MeasureEvent};
pub use fathom_client::DEFAULT_PORT;
use fathom_client::{Cost, Event, TestConfig, estimate_cost, run_test_loaded_by, run_test_with};
pub use fathom_discovery::Found;
use fathom_peers::Trust;
use fathom_run::Run;
use fathom_units::{Duration, Rate};

use wifi::WifiObserver;

pub use server::{PUBLIC_SERVERS, PublicServer, Settings, requires_acceptance};

/// Minimum sample interval: closer probes would load the line themselves.
pub const SHORTEST_INTERVAL: Duration = Duration::from_millis(5);

/// Data that a test can transfer for each Mbit/s of the line, without bursts. The rate is not known
/// before the test.
#[must_use]
pub fn cost_per_mbit(config: &TestConfig) -> Cost {
    const UNIT: Rate = Rate::from_bits_per_second(1_000_000);
    estimate_cost(&TestConfig { burst_bytes: None, ..config.clone() }, UNIT, UNIT)
}

/// Wait for servers that announce themselves. A responder delays its answer by up to 0.12 s (RFC
/// 6762, section 6), and a second query may be needed for the address.
const DISCOVERY_WAIT: std::time::Duration = std::time::Duration::from_secs(1);

/// Servers on the local network that announce themselves, and that the user can use with or without
/// a token; none if multicast is not possible.
#[must_use]
pub fn servers_nearby(has_token: bool) -> Vec<Found> {
    let mut found = fathom_discovery::find(DISCOVERY_WAIT).unwrap_or_default();
    found.retain(|server| has_token || !server.requires_token);
    found
}

/// Checks the configuration of a test.
///
/// # Errors
/// If the sample interval is too short.
pub fn check(config: &TestConfig) -> Result<(), AppError> {
    let interval = config.sample_every;
    if interval < SHORTEST_INTERVAL {
        return Err(AppError::SampleInterval { interval, min: SHORTEST_INTERVAL });
    }
    Ok(())
}

/// Measures the line.
///
/// # Errors
/// If the request is not valid, or nothing could be measured. After a later failure, the run is
/// partial.
pub fn run(
    config: &TestConfig,
    cancel: &CancelToken,
    progress: &mut (dyn FnMut(MeasureEvent<'_>) + Send),
) -> Result<Run, AppError> {
    check(config)?;
    let title = format!("fathom test {}", config.server);
    progress(MeasureEvent::Started { title: &title, clock: config.clock });
    let mut wifi = None;
    let mut on_event = |event| {
        if let Event::Connected(address) = &event {
            wifi = WifiObserver::start(address.ip(), config.clock);
        }
        progress(MeasureEvent::Test(event));
    };
    let measured = if fathom_peers::is_url(&config.server) {
        let peer = fathom_peers::connect(config, &Trust::Host, cancel.flag());
        peer.and_then(|peer| run_test_with(config, peer, cancel.flag(), &mut on_event))
    } else {
        let load = fathom_peers::connect_load(config, &Trust::Host, cancel.flag());
        load.and_then(|load| run_test_loaded_by(config, load, cancel.flag(), &mut on_event))
    };
    let observed = wifi.map_or_else(Vec::new, WifiObserver::finish);
    progress(MeasureEvent::Ended);
    let mut run = measured?;
    run.series.extend(observed);
    Ok(run)
}
