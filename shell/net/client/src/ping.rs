//! Probes to many hosts on one time axis, without load.
//!
//! The probes are those of a test, and not those of a watch, which sends to 100,000 hosts in ticks
//! of 1 to 16 ms, reports every half second, and has no persistent connections, QUIC, STAMP or
//! irtt.
use crate::control::{Control, ControlInput};
use crate::flows::FathomPeer;
use crate::peer::{Peer, PersistentRequests, WebProbe};
use crate::probes::{Pinged, Pinger};
use crate::record::Unloaded;
use crate::resolve::{LOOK_EVERY, Limits, resolve_server};
use crate::{DEFAULT_PORT, Family, ProbeKind, TestConfig, TestError};
use fathom_os::clock::Clock;
use fathom_probe::{IcmpError, SeriesReply};
use fathom_run::{Metric, NotSent, Note, Run, Series};
use fathom_units::{Duration, PerDirection, Time};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread::JoinHandle;

/// Interval of reports of a server, which a ping does not need.
const REPORT_EVERY: Duration = Duration::from_secs(10);

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

/// Sessions with `fathom serve`, one after the other. Dropping it ends the last one.
pub struct PingSession {
    finish: Arc<AtomicBool>,
    keeper: Option<JoinHandle<()>>,
}

impl Drop for PingSession {
    fn drop(&mut self) {
        self.finish.store(true, Ordering::Relaxed);
        drop(self.keeper.take().map(JoinHandle::join));
    }
}

/// Share of the time that a server allows a session after which the next one is opened, percent.
const RENEWED_PERCENT: u64 = 90;
/// Time between two attempts, and the longest one.
const RETRY_EVERY: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(5);

/// What keeps sessions open.
struct Keeper {
    config: TestConfig,
    peer: Arc<FathomPeer>,
    clock: Clock,
    finish: Arc<AtomicBool>,
}

impl Keeper {
    /// Opens a session before the last one ends, or after it if the server is gone for a while.
    fn run(self, mut control: Control) {
        let mut renew_at = self.clock.now() + lifetime(&control);
        let mut retry_at = Time::ZERO;
        let (mut is_closed, mut reader) = self.listen(&control);
        let is_over = || self.finish.load(Ordering::Relaxed);
        while !is_over() {
            std::thread::park_timeout(std::time::Duration::from_nanos(LOOK_EVERY.as_nanos()));
            let now = self.clock.now();
            let is_due = now >= renew_at || is_closed.load(Ordering::Relaxed);
            if is_over() || !is_due || now < retry_at {
                continue;
            }
            retry_at = now + RETRY_EVERY;
            let limits = Limits { stop: &self.finish, clock: self.clock, patience: PATIENCE };
            if let Ok(next) = Control::open(&self.config, &[control.address], &limits) {
                self.peer.renew(next.hello.session);
                let mut last = std::mem::replace(&mut control, next);
                last.say_bye();
                is_closed.store(true, Ordering::Relaxed);
                drop(reader.join());
                (is_closed, reader) = self.listen(&control);
                renew_at = self.clock.now() + lifetime(&control);
                retry_at = Time::ZERO;
            }
        }
        control.say_bye();
        is_closed.store(true, Ordering::Relaxed);
        drop(reader.join());
    }
    /// Reports are read, so that the server can send them, and not used.
    fn listen(&self, control: &Control) -> (Arc<AtomicBool>, JoinHandle<()>) {
        let is_closed = Arc::new(AtomicBool::new(false));
        let closed = is_closed.clone();
        let reader = control.listen(is_closed.clone(), move |input| {
            if matches!(input, ControlInput::Closed(_)) {
                closed.store(true, Ordering::Relaxed);
            }
        });
        (is_closed, reader)
    }
}

fn lifetime(control: &Control) -> Duration {
    Duration::from_millis(control.hello.limits.seconds.saturating_mul(10 * RENEWED_PERCENT))
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
    let pinged = std::thread::scope(|scope| {
        let thread = scope.spawn(move || Ok(Pinger::open(*config, targets, outbox)?.run(stop)));
        loop {
            match inbox.recv_timeout(IDLE_AFTER) {
                Ok(events) => events.into_iter().for_each(&mut *on_event),
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => on_event(PingEvent::Idle),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
            }
        }
        thread.join()
    });
    let failed = |_| Err("the probing thread failed".to_owned());
    Ok(run_of(config, targets, pinged.unwrap_or_else(failed).map_err(TestError::Host)?))
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

/// A target that runs `fathom serve`, for UDP probes.
///
/// # Errors
/// If the server cannot be reached or refuses.
pub fn ping_session(
    server: &str,
    family: Option<Family>,
    token: Option<String>,
    limits: &Limits<'_>,
) -> Result<PingTarget, TestError> {
    let config = TestConfig { family, token, tcp_info_every: REPORT_EVERY, ..TestConfig::new(server) };
    let addresses = resolve_server(server, DEFAULT_PORT, family)?;
    let control = Control::open(&config, &addresses, limits)?;
    let peer = FathomPeer::new(control.address, &control.hello)
        .map_err(|e| TestError::Host(format!("memory for load: {e}")))?;
    let (peer, address) = (Arc::new(peer), control.address);
    let finish = Arc::new(AtomicBool::new(false));
    let keeper = Keeper { config, peer: peer.clone(), clock: limits.clock, finish: finish.clone() };
    let keeper = Some(std::thread::spawn(move || keeper.run(control)));
    Ok(PingTarget {
        name: server.to_owned(),
        address,
        probe: PingProbe::Udp(peer),
        session: Some(PingSession { finish, keeper }),
    })
}
