//! Probes to many hosts on one time axis, without load.
//!
//! The probes are those of a test, and not those of a watch, which sends to 100,000 hosts in ticks
//! of 1 to 16 ms, reports every half second, and has no persistent connections, QUIC, STAMP or
//! irtt.
use crate::control::{Control, ControlInput};
use crate::flows::FathomPeer;
use crate::peer::{Peer, PersistentRequests, WebProbe};
use crate::probes::{Pinged, Pinger};
use crate::record::host;
use crate::resolve::{Limits, resolve_server};
use crate::{DEFAULT_PORT, Family, ProbeKind, TestConfig, TestError};
use fathom_os::clock::{Clock, utc_offset_s, wall_now};
use fathom_probe::SeriesReply;
use fathom_run::{
    Fact, History, Metric, NotSent, Note, Phase, PhaseEnd, PhaseKind, Run, SCHEMA_VERSION, Series, UtcOffset,
};
use fathom_units::{Duration, PerDirection, Time, WallTime};
use std::collections::BTreeMap;
use std::net::SocketAddr;
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

/// A session with `fathom serve`. Dropping it ends the session.
pub struct PingSession {
    control: Control,
    finish: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

impl Drop for PingSession {
    fn drop(&mut self) {
        self.control.say_bye();
        self.finish.store(true, Ordering::Relaxed);
        drop(self.reader.take().map(JoinHandle::join));
    }
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
    let (first, end) = (names.first().copied().unwrap_or_default().to_owned(), config.clock.now());
    let started = WallTime(wall_now().0.saturating_sub(end.as_nanos()));
    let mut facts = BTreeMap::from([(Fact::ProbeInterval, config.interval.to_string())]);
    facts.insert(Fact::Server, first.clone());
    facts.extend(targets.first().map(|target| (Fact::Address, target.address.to_string())));
    let offset = UtcOffset { since_s: started.0 / 1_000_000_000, offset_s: utc_offset_s(started) };
    Run {
        schema_version: SCHEMA_VERSION,
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        command: "ping".to_owned(),
        started: started.to_string(),
        title: format!("ping {}", names.join(" ")),
        host: host(),
        facts,
        phases: vec![Phase {
            kind: PhaseKind::Watch,
            start_ns: 0,
            end_ns: end.as_nanos(),
            end: PhaseEnd::TimeLimit,
            load: None,
        }],
        series,
        instrument,
        partial: None,
        capture: None,
        path: None,
        history: Some(History { target: first, utc_offsets: vec![offset], path_changes_ns: Vec::new() }),
        bursts: Vec::new(),
        switch: None,
        notes: Vec::new(),
    }
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
    let finish = Arc::new(AtomicBool::new(false));
    // Reports are read, so that the server can send them, and not used.
    let reader = Some(control.listen(Arc::clone(&finish), |_: ControlInput| ()));
    Ok(PingTarget {
        name: server.to_owned(),
        address: control.address,
        probe: PingProbe::Udp(Arc::new(peer)),
        session: Some(PingSession { control, finish, reader }),
    })
}
