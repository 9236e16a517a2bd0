//! Pings hosts until it is cancelled, or so many times.
pub mod lines;
#[cfg(not(feature = "peers"))]
mod own;

use crate::{AppError, CancelToken};
use fathom_client::{PingConfig, PingEvent, PingProbe, PingTally, PingTarget, TestError, ping};
#[cfg(feature = "peers")]
pub use fathom_peers::PingRequest;
#[cfg(feature = "peers")]
use fathom_peers::{Trust, ping_target};
use fathom_run::Run;
use fathom_units::Duration;
#[cfg(not(feature = "peers"))]
pub use own::PingRequest;

/// Shortest interval.
pub const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);
/// Names that are resolved at the same time.
const RESOLVED_AT_ONCE: usize = 32;

/// What a running ping reports.
pub enum Progress<'a> {
    /// A target cannot be pinged.
    Failed(&'a str, &'a TestError),
    /// Probes are sent to these targets, at the interval of the configuration.
    Started(&'a [PingTarget], &'a PingConfig),
    /// Something happened.
    Event {
        /// What.
        event: &'a PingEvent,
        /// The reply took longer than the timeout.
        is_late: bool,
        /// What is known of each target, with this event.
        tallies: &'a [PingTally],
    },
}

/// The result of a ping.
pub struct Pinged {
    /// The run.
    pub run: Run,
    /// The targets, each with its counts.
    pub targets: Vec<(PingTarget, PingTally)>,
    /// Whether each target that was asked for answered, within the deadline all its probes.
    pub all_answered: bool,
    /// Targets that cannot be pinged.
    pub failed: usize,
}

/// Pings the targets of `requests`. Those that cannot be resolved or reached are reported.
///
/// # Errors
/// If no target can be pinged, or the interval is too short.
pub fn run(
    requests: &[PingRequest],
    config: &PingConfig,
    cancel: &CancelToken,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Pinged, AppError> {
    if config.interval < SHORTEST_INTERVAL {
        return Err(AppError::ProbeInterval { interval: config.interval, min: SHORTEST_INTERVAL });
    }
    // Each target has its own sockets. If the limit cannot be raised, those beyond it fail.
    let _ = fathom_os::files::raise_limit();
    let mut targets = Vec::new();
    for (request, found) in requests.iter().zip(resolve(requests, config, cancel)) {
        match found {
            Ok(target) => targets.push(target),
            Err(error) if requests.len() == 1 => return Err(error.into()),
            Err(error) => progress(Progress::Failed(&request.target, &error)),
        }
    }
    let failed = requests.len() - targets.len();
    if targets.is_empty() {
        return Err(TestError::Host("none of the hosts can be pinged".to_owned()).into());
    }
    let config = PingConfig { interval: allowed(config.interval, &targets), ..*config };
    progress(Progress::Started(&targets, &config));
    let mut tallies = vec![PingTally::default(); targets.len()];
    let run = ping(&config, &targets, cancel.flag(), &mut |event| {
        let is_late = count(&event, &config, &mut tallies);
        progress(Progress::Event { event: &event, is_late, tallies: &tallies });
    })?;
    let wanted = config.deadline.and(config.count).map_or(1, u64::from);
    let all_answered = tallies.iter().all(|tally| tally.received >= wanted);
    Ok(Pinged { run, targets: targets.into_iter().zip(tallies).collect(), all_answered, failed })
}

fn resolve(
    requests: &[PingRequest],
    config: &PingConfig,
    cancel: &CancelToken,
) -> Vec<Result<PingTarget, TestError>> {
    #[cfg(feature = "peers")]
    let one = |request: &PingRequest| ping_target(request, config, &Trust::Host, cancel.flag());
    #[cfg(not(feature = "peers"))]
    let one = |request: &PingRequest| own::ping_target(request, config, cancel.flag());
    let several = |part: &[PingRequest]| {
        std::thread::scope(|scope| {
            let threads: Vec<_> = part.iter().map(|request| scope.spawn(move || one(request))).collect();
            let failed = |_| Err(TestError::Host("a thread failed".to_owned()));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(failed)).collect::<Vec<_>>()
        })
    };
    requests.chunks(RESOLVED_AT_ONCE).flat_map(several).collect()
}

/// The interval, or that of the most restrictive server if it is longer.
fn allowed(interval: Duration, targets: &[PingTarget]) -> Duration {
    let shortest = targets.iter().filter_map(|target| match &target.probe {
        PingProbe::Udp(peer) => peer.terms().shortest_interval,
        _ => None,
    });
    shortest.fold(interval, Duration::max)
}

/// Adds an event to the counts. Whether it is a late reply.
fn count(event: &PingEvent, config: &PingConfig, tallies: &mut [PingTally]) -> bool {
    match event {
        PingEvent::Sent { target, .. } | PingEvent::NotSent { target, .. } => {
            tallies.get_mut(*target).into_iter().for_each(|tally| tally.sent += 1);
            false
        }
        PingEvent::Reply { target, reply, .. } => {
            tallies.get_mut(*target).is_some_and(|tally| tally.reply(&reply.reply, config.timeout))
        }
        PingEvent::Refused { target, .. } => {
            tallies.get_mut(*target).into_iter().for_each(|tally| tally.errors += 1);
            false
        }
        PingEvent::Note { .. } | PingEvent::Idle => false,
    }
}
