//! A probe with its own connection (TCP, TLS, HTTP or DNS), as a sequence of non-blocking steps.
use crate::target::ProbedTarget;
use crate::tls::Handshake;
use fathom_os::clock::{Clock, both_clocks};
use fathom_os::error::without_code;
use fathom_os::poll::PollFd;
use fathom_os::socket::{set_dscp, start_connect};
use fathom_os::tcp_info::tcp_info;
use fathom_os::timestamp::{Stamping, enable, receive};
use fathom_probe::{StampConverter, dns};
use fathom_units::{Duration, Time, WallTime};
use fathom_watch_plan::{Protocol, Target};
use socket2::{Domain, Socket, Type};
use std::io::{self, ErrorKind, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::sync::Arc;

/// Bytes read of a response: its first byte is timed, and the status line is checked.
const ANSWER_BYTES: usize = 2_048;

/// Progress of a connection probe.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Progress {
    /// No change.
    Waiting,
    /// A part is complete: the offset of its series from the target's first, and its duration.
    Part(u32, Duration),
    /// The probe completed at this time.
    Done(Time),
    /// The probe failed.
    Broken(String),
}

enum Stage {
    Connecting,
    Handshake(Box<Handshake>),
    /// The request was sent; with TLS if there is a handshake.
    Request(Option<Box<Handshake>>),
    Query(Vec<u8>),
}

/// A probe in progress.
pub(crate) struct ConnectionProbe {
    pub(crate) number: u32,
    pub(crate) at: WallTime,
    pub(crate) started: Time,
    /// It was reported as lost; a later answer amends that.
    pub(crate) is_overdue: bool,
    target: Arc<Target>,
    socket: Socket,
    stage: Stage,
    stage_began: Time,
}

impl ConnectionProbe {
    /// Starts the probe.
    pub(crate) fn begin(
        probed: &ProbedTarget,
        at: WallTime,
        clock: Clock,
    ) -> Result<ConnectionProbe, String> {
        let address = probed.resolved.address()?;
        let target = Arc::clone(&probed.target);
        let to = SocketAddr::new(address, target.options.port);
        let is_dns = target.protocol == Protocol::Dns;
        let socket = open(to, &target, is_dns)?;
        let started = clock.now();
        let stage = if is_dns {
            socket.connect(&to.into()).map_err(|e| without_code(&e))?;
            Stage::Query(send_query(&socket, &target, started)?)
        } else {
            start_connect(&socket, to).map_err(|e| without_code(&e))?;
            Stage::Connecting
        };
        let number = probed.number;
        Ok(ConnectionProbe {
            number,
            at,
            started,
            is_overdue: false,
            target,
            socket,
            stage,
            stage_began: started,
        })
    }
    pub(crate) fn interest(&self) -> PollFd<'_> {
        match &self.stage {
            Stage::Connecting => PollFd::writable(self.socket.as_fd()),
            _ => PollFd::readable(self.socket.as_fd()),
        }
    }
    /// The series of the current part, relative to the target's first; `None` if the target has
    /// only one.
    pub(crate) fn part(&self) -> Option<u32> {
        let has_tls = matches!(self.target.protocol, Protocol::Tls | Protocol::Https);
        match &self.stage {
            Stage::Connecting if self.target.protocol == Protocol::Tcp => None,
            Stage::Connecting => Some(1),
            Stage::Handshake(_) => Some(2),
            Stage::Request(_) => Some(if has_tls { 3 } else { 2 }),
            Stage::Query(_) => None,
        }
    }
    /// Processes input. `stamps` converts kernel timestamps.
    pub(crate) fn advance(&mut self, clock: Clock, stamps: &mut StampConverter) -> Progress {
        match &self.stage {
            Stage::Connecting => self.connected(clock),
            Stage::Handshake(_) | Stage::Request(_) => self.read(clock, stamps),
            Stage::Query(_) => self.answered(clock, stamps),
        }
    }
    fn connected(&mut self, clock: Clock) -> Progress {
        let now = clock.now();
        if let Some(error) = self.socket.take_error().unwrap_or_else(Some) {
            return Progress::Broken(self.refusal(&error));
        }
        let took = self.handshake(now);
        if self.target.protocol == Protocol::Tcp {
            return Progress::Done(self.started + took);
        }
        match self.next_stage(now) {
            Ok(()) => Progress::Part(1, took),
            Err(problem) => Progress::Broken(problem),
        }
    }
    /// The handshake time measured by the kernel; after a lost SYN, the total time.
    fn handshake(&self, now: Time) -> Duration {
        let by_clock = now.saturating_since(self.started);
        let kernel = tcp_info(self.socket.as_fd()).ok().filter(|i| i.retransmits == 0 && i.rtt_us > 0);
        kernel.map_or(by_clock, |i| Duration::from_micros(u64::from(i.rtt_us)).min(by_clock))
    }
    /// Continues after the TCP handshake: TLS, or the request.
    fn next_stage(&mut self, now: Time) -> Result<(), String> {
        self.stage_began = now;
        if self.target.protocol == Protocol::Http {
            write(&self.socket, &request(&self.target))?;
            self.stage = Stage::Request(None);
        } else {
            let mut handshake = Handshake::begin(&self.target.host)?;
            handshake.write(&self.socket)?;
            self.stage = Stage::Handshake(Box::new(handshake));
        }
        Ok(())
    }
    fn read(&mut self, clock: Clock, stamps: &mut StampConverter) -> Progress {
        let mut buffer = [0; 16 * 1_024];
        let got = match receive(self.socket.as_fd(), &mut buffer) {
            Ok(got) if got.length == 0 => {
                return Progress::Broken("the server closed the connection".to_owned());
            }
            Ok(got) => got,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Progress::Waiting,
            Err(error) => return Progress::Broken(self.refusal(&error)),
        };
        let (wall, now) = both_clocks(clock);
        let arrival = stamps.convert(got.stamp, wall, now).unwrap_or(now);
        let bytes = buffer.get(..got.length).unwrap_or_default();
        let progress = match &mut self.stage {
            Stage::Handshake(_) => self.shake(bytes, arrival, now),
            Stage::Request(None) => self.first_byte(bytes, arrival),
            Stage::Request(Some(tls)) => match tls.read(bytes, ANSWER_BYTES) {
                Ok(plain) if plain.is_empty() => Ok(Progress::Waiting),
                Ok(plain) => self.first_byte(&plain, arrival),
                Err(problem) => Err(problem),
            },
            Stage::Connecting | Stage::Query(_) => Ok(Progress::Waiting),
        };
        progress.unwrap_or_else(Progress::Broken)
    }
    fn shake(&mut self, bytes: &[u8], arrival: Time, now: Time) -> Result<Progress, String> {
        let Stage::Handshake(tls) = &mut self.stage else { return Ok(Progress::Waiting) };
        tls.read(bytes, 0)?;
        let is_done = tls.is_done();
        let took = arrival.saturating_since(self.stage_began);
        if is_done && self.target.protocol == Protocol::Https {
            tls.send(&request(&self.target))?;
        }
        tls.write(&self.socket)?;
        if is_done {
            let whole = std::mem::replace(&mut self.stage, Stage::Connecting);
            self.stage_began = now;
            self.stage = match whole {
                Stage::Handshake(done) => Stage::Request(Some(done)),
                other => other,
            };
            return Ok(Progress::Part(2, took));
        }
        Ok(Progress::Waiting)
    }
    fn first_byte(&self, bytes: &[u8], arrival: Time) -> Result<Progress, String> {
        if bytes.starts_with(b"HTTP/") {
            return Ok(Progress::Done(arrival));
        }
        let seen: String = String::from_utf8_lossy(bytes).chars().take(40).collect();
        Err(format!("the response is not HTTP: \"{}\"", seen.escape_debug()))
    }
    fn answered(&mut self, clock: Clock, stamps: &mut StampConverter) -> Progress {
        let Stage::Query(probed) = &self.stage else { return Progress::Waiting };
        let mut buffer = [0; ANSWER_BYTES];
        match receive(self.socket.as_fd(), &mut buffer) {
            Ok(got) => {
                let (wall, now) = both_clocks(clock);
                let arrival = stamps.convert(got.stamp, wall, now).unwrap_or(now);
                let bytes = buffer.get(..got.length).unwrap_or_default();
                // A datagram that does not answer this query came from someone else.
                dns::response_code(probed, bytes).map_or(Progress::Waiting, |_| Progress::Done(arrival))
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Progress::Waiting,
            Err(error) => Progress::Broken(self.refusal(&error)),
        }
    }
    /// Start of the current part.
    pub(crate) const fn stage_began(&self) -> Time {
        self.stage_began
    }
    /// Whether the probe ends after this part: a TLS probe sends no request.
    pub(crate) fn is_over_after(&self, part: u32) -> bool {
        self.target.protocol == Protocol::Tls && part == 2
    }
    /// What is wrong with the server's certificate, after the handshake.
    pub(crate) fn certificate_problem(&self) -> Option<String> {
        match &self.stage {
            Stage::Request(Some(tls)) => tls.certificate_problem(),
            _ => None,
        }
    }
    fn refusal(&self, error: &io::Error) -> String {
        let port = self.target.options.port;
        match error.kind() {
            ErrorKind::ConnectionRefused => format!("connection refused on port {port}"),
            ErrorKind::ConnectionReset => "the server reset the connection".to_owned(),
            _ => without_code(error),
        }
    }
}

fn open(to: SocketAddr, target: &Target, is_dns: bool) -> Result<Socket, String> {
    let wrong = |what: &str, e: &io::Error| format!("{what}: {}", without_code(e));
    let (kind, protocol) =
        if is_dns { (Type::DGRAM, socket2::Protocol::UDP) } else { (Type::STREAM, socket2::Protocol::TCP) };
    let socket =
        Socket::new(Domain::for_address(to), kind, Some(protocol)).map_err(|e| wrong("socket", &e))?;
    socket.set_nonblocking(true).map_err(|e| wrong("socket", &e))?;
    if !is_dns {
        socket.set_tcp_nodelay(true).map_err(|e| wrong("socket", &e))?;
        // Close with a reset: otherwise thousands of connections would stay in TIME_WAIT for a
        // minute each.
        socket.set_linger(Some(std::time::Duration::ZERO)).map_err(|e| wrong("socket", &e))?;
    }
    if let Some(source) = target.options.source {
        bind(&socket, source).map_err(|e| wrong(&format!("source address {source}"), &e))?;
    }
    set_dscp(&socket, to.is_ipv6(), target.options.dscp).map_err(|e| wrong("DSCP", &e))?;
    enable(socket.as_fd(), Stamping::Arrivals).map_err(|e| wrong("timestamps", &e))?;
    Ok(socket)
}

fn bind(socket: &Socket, source: IpAddr) -> io::Result<()> {
    socket.bind(&SocketAddr::new(source, 0).into())
}

fn write(mut socket: &Socket, bytes: &[u8]) -> Result<(), String> {
    socket.write_all(bytes).map_err(|e| without_code(&e))
}

/// A query with an unpredictable number, from the clock's nanoseconds.
fn send_query(socket: &Socket, target: &Target, now: Time) -> Result<Vec<u8>, String> {
    let id = fathom_units::Rng::new(now.as_nanos()).next_u64() as u16;
    let query = dns::query(id, &target.options.query, target.options.query_type);
    socket.send(&query).map_err(|e| without_code(&e))?;
    Ok(query)
}

/// A request that asks the server to close the connection afterwards.
fn request(target: &Target) -> Vec<u8> {
    let usual = target.protocol.default_port() == Some(target.options.port);
    let port = if usual { String::new() } else { format!(":{}", target.options.port) };
    let host = if target.host.contains(':') { format!("[{}]", target.host) } else { target.host.clone() };
    let path = &target.options.path;
    let agent = concat!("fathom/", env!("CARGO_PKG_VERSION"));
    format!("GET {path} HTTP/1.1\r\nHost: {host}{port}\r\nUser-Agent: {agent}\r\nAccept: */*\r\nConnection: close\r\n\r\n")
        .into_bytes()
}
