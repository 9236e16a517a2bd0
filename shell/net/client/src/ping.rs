//! Probes to many hosts on one time axis, without load.
//!
//! The probes are those of a test, and not those of a watch, which sends to 100,000 hosts in ticks
//! of 1 to 16 ms, reports every half second, and has no persistent connections, QUIC, STAMP or
//! irtt.
mod monitor;
mod session;

use crate::peer::{Peer, PersistentRequests, WebProbe};
use crate::probes::{Pinged, Pinger};
use crate::record::Unloaded;
use crate::{ProbeKind, TestError};
use fathom_os::clock::Clock;
use fathom_probe::{IcmpError, SeriesReply};
use fathom_run::{Metric, NotSent, Note, Run, Series};
use fathom_units::{Duration, PerDirection, Time};
pub use monitor::{Located, MonitorConfig, monitor};
pub use session::{PingSession, ping_session};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

/// Settings of a ping.
#[derive(Clone, Copy, Debug)]
pub struct PingConfig {
    /// The clock of the run.
    pub clock: Clock,
    /// Time between two probes to the same target.
    pub interval: Duration,
    /// Probes to each target; `None`: until it is stopped.
    pub count: Option<u32>,
    /// Longest duration.
    pub deadline: Option<Duration>,
    /// Longest wait for the replies to the last probes. Until the end, no reply is too late.
    pub timeout: Duration,
    /// DSCP of the probes, six bits.
    pub dscp: u8,
}

/// A host and the kind of probe that is sent to it.
pub struct PingTarget {
    /// As the user named it.
    pub name: String,
    /// The address that is probed; the port of ICMP is 0.
    pub address: SocketAddr,
    /// How it is probed.
    pub probe: PingProbe,
    /// What keeps the server answering.
    pub session: Option<PingSession>,
}

/// How a target is probed.
pub enum PingProbe {
    /// ICMP echo.
    Icmp,
    /// A new TCP connection.
    Tcp,
    /// A DNS query for the name servers of this name.
    Dns(String),
    /// Requests on one connection of HTTP/2 or HTTP/3.
    Requests(PersistentRequests),
    /// Handshakes of TLS, or requests by HTTP/1.1 on one connection.
    Web(ProbeKind, WebProbe),
    /// UDP probes that a server answers.
    Udp(Arc<dyn Peer>),
}

impl PingProbe {
    /// The metric of its delays.
    #[must_use]
    pub const fn metric(&self) -> Metric {
        match self {
            PingProbe::Icmp => Metric::IcmpRtt,
            PingProbe::Tcp => Metric::TcpConnect,
            PingProbe::Dns(_) => Metric::DnsRtt,
            PingProbe::Requests(_) => Metric::HttpKept,
            PingProbe::Web(kind, _) => kind.spec().series[0],
            PingProbe::Udp(_) => Metric::UdpRtt,
        }
    }
}

/// What happens during a ping. Targets are numbered from 0.
#[derive(Clone, PartialEq, Debug)]
pub enum PingEvent {
    /// A probe was sent.
    Sent {
        /// Number of the target.
        target: usize,
        /// When.
        at: Time,
    },
    /// A probe was due and could not be sent.
    NotSent {
        /// Number of the target.
        target: usize,
        /// Why.
        reason: NotSent,
    },
    /// A reply arrived.
    Reply {
        /// Number of the target.
        target: usize,
        /// The reply; its sequence number starts at 0.
        reply: SeriesReply,
        /// One-way delays, if the server reports its times.
        one_way: Option<PerDirection<Duration>>,
    },
    /// A router or the host itself refused a probe, by an ICMP error.
    Refused {
        /// Number of the target.
        target: usize,
        /// Sequence number of the probe, from 0.
        sequence: u32,
        /// Who refused it, if that is known.
        by: Option<IpAddr>,
        /// The error.
        error: IcmpError,
    },
    /// Something about a target.
    Note {
        /// Number of the target.
        target: usize,
        /// What.
        note: Note,
    },
    /// Nothing happened for a while.
    Idle,
}

/// Longest time between two events.
const IDLE_AFTER: std::time::Duration = std::time::Duration::from_millis(100);

/// Pings `targets` until all probes are sent and answered or given up. Setting `stop` ends it
/// early.
///
/// # Errors
/// If a socket cannot be opened.
pub fn ping(
    config: &PingConfig,
    targets: &[PingTarget],
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(PingEvent),
) -> Result<Run, TestError> {
    let (outbox, inbox) = channel();
    let open = move || Pinger::open(*config, targets, outbox);
    Ok(run_of(config, targets, handed_over(&inbox, open, stop, on_event)?))
}

/// Runs a pinger on its own thread, and passes its events on.
fn handed_over(
    inbox: &Receiver<Vec<PingEvent>>,
    open: impl FnOnce() -> Result<Pinger, String> + Send,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(PingEvent),
) -> Result<Pinged, TestError> {
    let pinged = std::thread::scope(|scope| {
        let thread = scope.spawn(move || Ok(open()?.run(stop)));
        loop {
            match inbox.recv_timeout(IDLE_AFTER) {
                Ok(events) => events.into_iter().for_each(&mut *on_event),
                Err(RecvTimeoutError::Timeout) => on_event(PingEvent::Idle),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        thread.join()
    });
    let failed = |_| Err("the probing thread failed".to_owned());
    pinged.unwrap_or_else(failed).map_err(TestError::Host)
}

/// The run of a ping: a period with an unknown load. Each target but the first, which is judged, is
/// the scope of its series.
fn run_of(config: &PingConfig, targets: &[PingTarget], Pinged { series, instrument }: Pinged) -> Run {
    let scoped = |(number, (all, target)): (usize, (Vec<Series>, &PingTarget))| {
        let scope = (number > 0).then(|| target.name.clone());
        all.into_iter()
            .filter(move |one| number == 0 || one.key.metric != Metric::HostQueue)
            .map(move |mut one| {
                one.key.scope.clone_from(&scope);
                one
            })
            .collect::<Vec<_>>()
    };
    let series = series.into_iter().zip(targets).enumerate().flat_map(scoped).collect();
    let names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    let what = Unloaded {
        command: "ping",
        title: format!("ping {}", names.join(" ")),
        target: names.first().copied().unwrap_or_default().to_owned(),
        address: targets.first().map(|target| target.address.to_string()),
        clock: config.clock,
        interval: config.interval,
    };
    Run { series, instrument, ..what.run() }
}
