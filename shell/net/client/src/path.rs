//! Probes of all hops of a path, without load.
use crate::probes::{PathProber, ProbeEvent, ProbedPath};
use crate::record::Unloaded;
use crate::{Event, TestError};
use fathom_os::clock::Clock;
use fathom_run::{Run, SeriesKey};
use fathom_units::Duration;
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::channel;

/// Settings of the probes of a path.
#[derive(Clone, Copy, Debug)]
pub struct PathConfig {
    /// The clock of the run.
    pub clock: Clock,
    /// Time between two probes to the same hop.
    pub interval: Duration,
    /// Probes to each hop; `None`: until it is stopped.
    pub count: Option<u32>,
    /// Longest duration.
    pub deadline: Option<Duration>,
    /// Longest wait for the replies to the last probes.
    pub timeout: Duration,
}

/// Probes the hops to `address`, which the user named `target`, until all probes are sent and
/// answered or given up. Setting `stop` ends it early.
///
/// # Errors
/// If a socket cannot be opened.
pub fn probe_path(
    config: &PathConfig,
    (target, address): (&str, IpAddr),
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(Event),
) -> Result<Run, TestError> {
    let (outbox, inbox) = channel();
    let probed = std::thread::scope(|scope| {
        let thread = scope.spawn(move || Ok(PathProber::open(*config, address, outbox)?.run(stop)));
        inbox.into_iter().filter_map(shown).for_each(on_event);
        thread.join()
    });
    let failed = |_| Err("the probing thread failed".to_owned());
    let ProbedPath { path, series, instrument } = probed.unwrap_or_else(failed).map_err(TestError::Host)?;
    let what = Unloaded {
        command: "path",
        title: format!("path to {target}"),
        target: target.to_owned(),
        address: Some(address.to_string()),
        clock: config.clock,
        interval: config.interval,
    };
    Ok(Run { series, instrument, path: Some(path), ..what.run() })
}

fn shown(event: ProbeEvent) -> Option<Event> {
    match event {
        ProbeEvent::Answered { metric, observation, .. } => {
            Some(Event::Observed { key: SeriesKey::of(metric), observation })
        }
        ProbeEvent::HopAnswered { key, observation } => Some(Event::Observed { key, observation }),
        ProbeEvent::Path(hops) => Some(Event::Path(hops)),
        ProbeEvent::Note(note) => Some(Event::Note(note)),
        ProbeEvent::Stamps(_) | ProbeEvent::Refused { .. } => None,
    }
}
