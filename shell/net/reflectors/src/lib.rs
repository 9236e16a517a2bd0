//! Reflectors: hosts that are probed continuously for the current delay.
//!
//! Departure is when a packet leaves this host's queue, arrival is when it reaches this host, both
//! by kernel timestamps. So the delay excludes our own queue.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod probe_socket;
mod server;

use fathom_client::{TestConfig, TestError};
use fathom_os::clock::{Clock, wall_now};
use fathom_os::poll::{self, PollFd};
use fathom_units::{Duration, PerDirection, Time};
use probe_socket::ProbeSocket;
use server::Server;
use std::net::IpAddr;
use std::sync::atomic::AtomicBool;

/// Intervals between probes to one host.
struct Intervals {
    under_load: Duration,
    quiet: Duration,
}

impl Intervals {
    const fn of(&self, is_quiet: bool) -> Duration {
        if is_quiet { self.quiet } else { self.under_load }
    }
}

const SERVER_INTERVALS: Intervals =
    Intervals { under_load: Duration::from_millis(50), quiet: Duration::from_millis(250) };
/// Other hosts belong to someone else: the interval of cake-autorate, and the longest at which
/// replies still count as current.
const ECHO_INTERVALS: Intervals =
    Intervals { under_load: Duration::from_millis(300), quiet: Duration::from_millis(500) };
/// Interval at which waiting code looks for sessions that were opened or have ended.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Delay before a host that could not be probed is retried.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Numbers of hosts probed with ICMP start here; lower ones are servers. A server that returns gets
/// a new number, because its clock may have restarted.
const FIRST_ECHO: u16 = 0x8000;

/// A reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reflection {
    /// The host: the same number means the same host with the same clock.
    pub host: u16,
    /// The delay.
    pub delay: ReflectedDelay,
}

/// The delay of a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReflectedDelay {
    /// One-way delays in ns between two clocks with an unknown offset: only changes are meaningful.
    OneWay(PerDirection<i64>),
    /// Round-trip time.
    RoundTrip(Duration),
}

/// The hosts to probe.
#[derive(Clone, Debug)]
pub struct ReflectConfig {
    /// A `fathom serve` with its token and address family; phases and probes are ignored.
    pub server: Option<TestConfig>,
    /// Hosts that answer ICMP timestamps or echo.
    pub hosts: Vec<IpAddr>,
    /// The clock of all times.
    pub clock: Clock,
}

/// The probed hosts.
pub struct Reflectors {
    clock: Clock,
    server: Option<Server>,
    icmp: Vec<IcmpReflector>,
}

/// A host probed with ICMP: by timestamps, which give one-way delays, or by echo.
struct IcmpReflector {
    host: IpAddr,
    number: u16,
    socket: Option<ProbeSocket>,
    timestamps: Option<TimestampProber>,
    due: Time,
}

/// A host that may reply to timestamp requests.
struct TimestampProber {
    socket: ProbeSocket,
    has_answered: bool,
    /// Requests since the last reply.
    silent: u32,
}

/// Timestamps are used if this many hosts, or all, reply to them.
const ENOUGH_CLOCKS: usize = 3;

impl Reflectors {
    /// Opens a session with the server, and a socket per host.
    ///
    /// # Errors
    /// If the server refuses a session, or ICMP is not permitted.
    pub fn open(config: &ReflectConfig, stop: &AtomicBool) -> Result<Reflectors, TestError> {
        let server = config.server.as_ref().map(|one| Server::open(one, stop)).transpose()?;
        let now = config.clock.now();
        let mut icmp = Vec::new();
        for (number, host) in (FIRST_ECHO..).zip(&config.hosts) {
            let socket = ProbeSocket::by_echo(*host, token(number));
            let socket = socket.map_err(|problem| {
                TestError::Host(format!("reflector {host}: {problem}\n  try: another host that answers ping"))
            })?;
            // Stagger the first probes.
            let wait = ECHO_INTERVALS.under_load * u64::from(number - FIRST_ECHO) / config.hosts.len() as u64;
            let timestamps = TimestampProber::open(*host, number, config.clock);
            icmp.push(IcmpReflector {
                host: *host,
                number,
                socket: Some(socket),
                timestamps,
                due: now + wait,
            });
        }
        Ok(Reflectors { clock: config.clock, server, icmp })
    }
    /// Sends probes and collects replies until `until`. Uses longer intervals if the link is quiet.
    pub fn gather(&mut self, until: Time, is_quiet: bool) -> Vec<Reflection> {
        let mut found = Vec::new();
        loop {
            let now = self.clock.now();
            let next = self.send_due(now, is_quiet);
            let wait = next.min(until).saturating_since(now).min(LOOK_EVERY);
            let ready = {
                let mut fds: Vec<PollFd<'_>> = self.sockets().collect();
                // A failed wait only returns earlier.
                poll::wait(&mut fds, Some(wait)).unwrap_or(0)
            };
            if ready > 0 {
                self.take(&mut found);
            }
            if self.clock.now() >= until {
                return found;
            }
        }
    }
    /// Why the server cannot be probed now.
    pub fn problem(&self) -> Option<&str> {
        self.server.as_ref().and_then(Server::problem)
    }

    fn sockets(&self) -> impl Iterator<Item = PollFd<'_>> {
        let icmp = self.icmp.iter().flat_map(IcmpReflector::sockets);
        self.server.iter().flat_map(Server::interests).chain(icmp.map(ProbeSocket::interest))
    }
    /// Sends probes that are due. Returns when the next is due.
    fn send_due(&mut self, now: Time, is_quiet: bool) -> Time {
        let mut next = now + LOOK_EVERY;
        if let Some(server) = &mut self.server {
            next = next.min(server.send_due(now, self.clock, SERVER_INTERVALS.of(is_quiet)));
        }
        for reflector in &mut self.icmp {
            reflector.send_due(now, self.clock, ECHO_INTERVALS.of(is_quiet));
            next = next.min(reflector.due);
        }
        self.leave_few_clocks();
        next
    }
    /// Stops using timestamps if too few hosts reply to them. One-way delays take precedence over
    /// round trips, and those of one or two hosts alone could not be outvoted.
    fn leave_few_clocks(&mut self) {
        let clocks = self.icmp.iter().filter(|reflector| reflector.timestamps.is_some()).count();
        if clocks < ENOUGH_CLOCKS.min(self.icmp.len()) {
            self.icmp.iter_mut().for_each(|reflector| reflector.timestamps = None);
        }
    }
    fn take(&mut self, found: &mut Vec<Reflection>) {
        let clock = self.clock;
        if let Some(server) = &mut self.server {
            server.take(clock, found);
        }
        for IcmpReflector { number, socket, timestamps, .. } in &mut self.icmp {
            let mut report = |delay| found.push(Reflection { host: *number, delay });
            if let Some(socket) = socket {
                socket.take(clock, &mut report);
            }
            if let Some(timestamps) = timestamps {
                timestamps.take(clock, &mut report);
            }
        }
    }
}

impl IcmpReflector {
    fn sockets(&self) -> impl Iterator<Item = &ProbeSocket> {
        self.socket.iter().chain(self.timestamps.as_ref().map(|timestamps| &timestamps.socket))
    }
    fn send_due(&mut self, now: Time, clock: Clock, every: Duration) {
        if now < self.due {
            return;
        }
        self.due = now + every;
        if self.timestamps.as_mut().is_some_and(|timestamps| timestamps.send(clock)) {
            return;
        }
        if self.timestamps.as_ref().is_some_and(TimestampProber::is_in_vain) {
            self.timestamps = None;
        }
        let sent = match &mut self.socket {
            Some(socket) => socket.send(clock),
            None => {
                ProbeSocket::by_echo(self.host, token(self.number)).map(|socket| self.socket = Some(socket))
            }
        };
        if sent.is_err() {
            self.socket = None;
            self.due = now + RETRY_AFTER;
        }
    }
}

/// Consecutive ICMP timestamp requests without a reply before a host is also probed by echo.
const LATE_TIMESTAMPS: u32 = 4;
/// Consecutive ICMP timestamp requests without any reply before a host gets no more of them.
const VAIN_TIMESTAMPS: u32 = 10;

impl TimestampProber {
    /// `None` if timestamps are unavailable: for IPv6, or without CAP_NET_RAW.
    fn open(host: IpAddr, number: u16, clock: Clock) -> Option<TimestampProber> {
        let IpAddr::V4(host) = host else { return None };
        let socket = ProbeSocket::by_timestamp(host, token(number) as u16, clock).ok()?;
        Some(TimestampProber { socket, has_answered: false, silent: 0 })
    }
    /// Sends a timestamp request. Returns true if no echo is needed because the host replied
    /// recently.
    fn send(&mut self, clock: Clock) -> bool {
        // An unsent request counts as unanswered.
        let _ = self.socket.send(clock);
        self.silent += 1;
        self.has_answered && self.silent <= LATE_TIMESTAMPS
    }
    fn take(&mut self, clock: Clock, report: &mut impl FnMut(ReflectedDelay)) {
        let TimestampProber { socket, has_answered, silent } = self;
        socket.take(clock, |delay| {
            (*has_answered, *silent) = (true, 0);
            report(delay);
        });
    }
    const fn is_in_vain(&self) -> bool {
        !self.has_answered && self.silent >= VAIN_TIMESTAMPS
    }
}

/// A number unlike those of other programs and of earlier sockets of this program.
fn token(number: u16) -> u64 {
    wall_now().0 ^ (u64::from(std::process::id()) << 40) ^ u64::from(number)
}
