//! Tests the line to a server: one that runs `fathom serve`, or a URL.
#[cfg(feature = "analysis")]
pub mod applications;
pub mod lines;
#[cfg(feature = "peers")]
mod nearby;
mod server;

use crate::{AppError, CancelToken, MeasureEvent};
#[cfg(target_os = "linux")]
use fathom_audit_facts::{TrafficObserver, WifiObserver};
pub use fathom_client::DEFAULT_PORT;
use fathom_client::{Cost, Event, TestConfig, TestError, estimate_cost, run_test_loaded_by};
use fathom_run::Run;
use fathom_units::{Duration, Rate};

#[cfg(feature = "peers")]
pub use nearby::{Found, servers_nearby};
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
    #[cfg(target_os = "linux")]
    let mut observers = Observers::default();
    let mut on_event = |event| {
        #[cfg(target_os = "linux")]
        observers.see(&event, config);
        progress(MeasureEvent::Test(event));
    };
    let measured = measure(config, cancel, &mut on_event);
    progress(MeasureEvent::Ended);
    #[cfg(target_os = "linux")]
    let measured = measured.map(|run| observers.add_to(run));
    Ok(measured?)
}

/// What is observed of this host during a test.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct Observers {
    wifi: Option<WifiObserver>,
    traffic: Option<TrafficObserver>,
}

#[cfg(target_os = "linux")]
impl Observers {
    fn see(&mut self, event: &Event, config: &TestConfig) {
        match (event, &self.traffic) {
            (Event::Connected(address), _) => {
                self.wifi = WifiObserver::start(address.ip(), config.clock);
                self.traffic = Some(TrafficObserver::start(address.ip()));
            }
            (Event::PhaseStarted { kind, .. }, Some(traffic)) => traffic.phase_started(*kind),
            (Event::PhaseEnded(_), Some(traffic)) => traffic.phase_ended(),
            _ => {}
        }
    }
    fn add_to(self, mut run: Run) -> Run {
        run.series.extend(self.wifi.into_iter().flat_map(WifiObserver::finish));
        run.host_traffic = self.traffic.map(TrafficObserver::finish).unwrap_or_default();
        run
    }
}

#[cfg(feature = "peers")]
fn measure(
    config: &TestConfig,
    cancel: &CancelToken,
    on_event: &mut (dyn FnMut(Event) + Send),
) -> Result<Run, TestError> {
    use fathom_peers::{Trust, connect, connect_load, is_url};
    if is_url(&config.server) {
        let peer = connect(config, &Trust::Host, cancel.flag())?;
        return fathom_client::run_test_with(config, peer, cancel.flag(), on_event);
    }
    let load = connect_load(config, &Trust::Host, cancel.flag())?;
    run_test_loaded_by(config, load, cancel.flag(), on_event)
}

#[cfg(not(feature = "peers"))]
fn measure(
    config: &TestConfig,
    cancel: &CancelToken,
    on_event: &mut (dyn FnMut(Event) + Send),
) -> Result<Run, TestError> {
    if let Some(url) =
        [Some(&config.server), config.load.as_ref()].into_iter().flatten().find(|s| s.contains("://"))
    {
        return Err(only_own(url));
    }
    run_test_loaded_by(config, None, cancel.flag(), on_event)
}

/// Why a server cannot be used in a build without the protocols of others.
#[cfg(not(feature = "peers"))]
pub(crate) fn only_own(server: &str) -> TestError {
    let problem = "this small build measures only with `fathom serve`".to_owned();
    TestError::Server { server: server.to_owned(), problem }
}
