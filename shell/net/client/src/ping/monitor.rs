//! Probes to hosts without an end, for a watch that keeps no history: ICMP echo as a ping sends it,
//! on the schedule of a watch, in bounded memory.
use super::{PingEvent, handed_over};
use crate::TestError;
use crate::probes::Pinger;
use fathom_os::clock::Clock;
use fathom_units::Duration;
use std::net::SocketAddr;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, channel};

/// Settings of a monitor.
#[derive(Clone, Copy, Debug)]
pub struct MonitorConfig {
    /// The clock of the events.
    pub clock: Clock,
    /// Number of hosts.
    pub targets: u32,
    /// Time between two probes to the same host.
    pub interval: Duration,
    /// How long a probe is remembered. Later replies to it are ignored.
    pub remembered: Duration,
    /// Determines when in its interval each host is probed.
    pub seed: u64,
}

/// A new address of a host, or why it has none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Located {
    /// Number of the target, from 0.
    pub target: usize,
    /// The address; the port does not matter.
    pub address: Result<SocketAddr, String>,
}

/// Probes hosts until `stop`. Until a host has an address, its probes fail.
///
/// # Errors
/// If this process may not send ICMP, or the thread cannot run.
pub fn monitor(
    config: &MonitorConfig,
    located: Receiver<Located>,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(PingEvent),
) -> Result<(), TestError> {
    let (outbox, inbox) = channel();
    let open = move || Pinger::without_end(*config, located, outbox);
    handed_over(&inbox, open, stop, on_event).map(drop)
}
