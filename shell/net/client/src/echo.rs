//! Bursts of echo requests, by ICMP or to a UDP echo service (RFC 862), to hosts without Fathom.
use crate::flows::Seen;
use crate::resolve::{LOOK_EVERY, Limits, resolve_server};
use crate::{Family, TestConfig, TestError};
use fathom_burst::{BurstPlan, PAYLOAD_BYTES};
use fathom_os::clock::{Clock, both_clocks};
use fathom_os::echo::{EchoSocket, EchoSocketError, echo_socket};
use fathom_os::error::without_code;
use fathom_os::fd::{AsFd, BorrowedFd};
use fathom_os::pace::Pacer;
use fathom_os::poll::{self, PollFd, set_precise_timers};
use fathom_os::socket::{queue_errors, set_class};
use fathom_os::socket::{set_receive_buffer, set_send_buffer};
use fathom_os::timestamp::{Batch, STAMPS_ARRIVALS, Stamping, enable};
use fathom_probe::protocol::{AFTER_BURST, BurstSender, MOST_BURST_PAYLOAD_BYTES};
use fathom_probe::{ECHO_HEADER_BYTES, EchoCodec, EchoPayload, IcmpVersion, Probe, StampConverter};
use fathom_run::Burst;
use fathom_units::{Direction, Duration, Time, WallTime};
use socket2::{SockAddr, SockRef, Socket};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};

/// Ports of the services of RFC 862 and RFC 863. Most hosts have neither; a datagram to the second
/// is then refused, at most once a second (`net.ipv4.icmp_ratelimit`).
const ECHO_PORT: u16 = 7;
const DISCARD_PORT: u16 = 9;
/// Datagrams received per call.
const BATCH: usize = 64;
/// Space for replies while the thread does not run, and for requests in the queue of this host.
const BUFFER_BYTES: u32 = 8 << 20;
/// Payload of the first requests: that of ping(8).
const SMALL_BYTES: u32 = 56;
/// Longest wait for a first reply, and the interval of requests meanwhile.
const REPLY_WAIT: Duration = Duration::from_secs(5);
const REQUEST_EVERY: Duration = Duration::from_millis(500);
/// Silence after which no more replies are expected where the budget allows no more requests.
const LAST_WAIT: Duration = Duration::from_secs(1);
/// A host that needs more time between two requests is too slow: of full packets, this is
/// 57 Mbit/s.
const SLOW: Duration = Duration::from_micros(200);
/// The longest header of IPv4 before a reply, on a raw socket.
const IP_HEADER_BYTES: usize = 60;

/// How a host is asked for an echo.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Protocol {
    Icmp,
    Udp,
}

/// A host that answers echo requests.
pub(crate) struct EchoHost {
    /// Its URL.
    pub(crate) name: String,
    protocol: Protocol,
    pub(crate) address: SocketAddr,
    class: u8,
}

/// Whether a server is given by a URL.
pub(crate) fn is_url(server: &str) -> bool {
    server.contains("://")
}

impl EchoHost {
    /// Finds the host of a URL, and checks that it answers requests of each size.
    ///
    /// # Errors
    /// What is wrong with the URL, this host or that one, and what to try.
    pub(crate) fn find(config: &TestConfig, limits: &Limits<'_>) -> Result<Self, TestError> {
        let (protocol, address) = parse(&config.server, config.family)?;
        let host = EchoHost { name: config.server.clone(), protocol, address, class: config.load_dscp << 2 };
        for payload_bytes in [SMALL_BYTES, PAYLOAD_BYTES[0]] {
            host.check(payload_bytes, limits)?;
        }
        Ok(host)
    }
    fn fail(&self, problem: String) -> TestError {
        TestError::Server { server: self.name.clone(), problem }
    }
    /// Opens a socket for requests. One per burst: replies to the last burst are for another one.
    fn open(&self) -> Result<Requested, TestError> {
        let socket = match self.protocol {
            Protocol::Icmp => echo_socket(self.address.is_ipv6()).map(Requested::Icmp),
            Protocol::Udp => crate::udp_socket(self.address).map(Requested::Udp).map_err(EchoSocketError::Io),
        };
        let socket = socket.map_err(|error| match error {
            EchoSocketError::NotPermitted => TestError::Host(error.to_string()),
            EchoSocketError::Io(error) => self.refusal(&error),
        })?;
        // Connected, so that only packets from this address arrive.
        socket.prepare(self.address, self.class).map_err(|error| self.refusal(&error))?;
        Ok(socket)
    }
    /// What an error of a socket says about the host.
    fn refusal(&self, error: &io::Error) -> TestError {
        let address = self.address;
        match error.kind() {
            ErrorKind::ConnectionRefused => self.fail(format!(
                "no echo service on UDP port {} (refused)\n  try: fathom buffer icmp://{}",
                address.port(),
                bracketed(address)
            )),
            _ => TestError::Unreachable(address, without_code(error)),
        }
    }
    /// Waits for a reply to requests of this size.
    fn check(&self, payload_bytes: u32, limits: &Limits<'_>) -> Result<(), TestError> {
        let socket = self.open()?;
        socket.queue_errors(self.address.is_ipv6()).map_err(|error| self.refusal(&error))?;
        let mut requests = Requests::new(self, payload_bytes)?;
        let mut batch = Batch::new(1, IP_HEADER_BYTES + requests.message.len());
        let wait = REPLY_WAIT.min(limits.patience);
        let (start, mut sent) = (limits.clock.now(), 0);
        while limits.clock.now().saturating_since(start) < wait {
            if limits.stop.load(Ordering::Relaxed) {
                return Err(TestError::Stopped);
            }
            if limits.clock.now() >= start + REQUEST_EVERY * u64::from(sent) {
                socket.send(requests.next(sent, limits.clock.now())).map_err(|error| self.refusal(&error))?;
                sent += 1;
            }
            let found = poll::wait(&mut [PollFd::readable(socket.as_fd())], Some(LOOK_EVERY));
            match found.and_then(|_| socket.receive(&mut batch)) {
                Ok(_) if batch.iter().any(|(bytes, _)| requests.read(bytes).is_some()) => return Ok(()),
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(self.refusal(&error)),
                _ => {}
            }
        }
        let other = match self.protocol {
            Protocol::Icmp => "another host, or udp-echo://",
            Protocol::Udp => "icmp://",
        };
        Err(self.fail(format!(
            "no reply to {sent} echo requests of {payload_bytes} bytes within {wait}\n  try: {other}"
        )))
    }
    /// Sends a burst, and no more datagrams than `most`.
    ///
    /// # Errors
    /// This host cannot send it.
    pub(crate) fn burst(&self, plan: BurstPlan, most: u64, limits: &Limits<'_>) -> Result<Burst, TestError> {
        let socket = self.open()?;
        let mut requests = Requests::new(self, plan.payload_bytes)?;
        let any: SocketAddr =
            if self.address.is_ipv6() { ([0_u16; 8], 0).into() } else { ([0_u8; 4], 0).into() };
        // Not connected: an error of one datagram does not concern the next one.
        let discarded = UdpSocket::bind(any).map_err(|error| self.refusal(&error))?;
        let discarded = Socket::from(discarded);
        drop(set_class(&discarded, self.address.is_ipv6(), self.class));
        drop(set_send_buffer(&discarded, BUFFER_BYTES));
        let mut to = self.address;
        to.set_port(DISCARD_PORT);
        let (tell, replies) = channel();
        let (reader, is_over) = (requests.reader(), AtomicBool::new(false));
        let mut sending = Sending {
            seen: Seen::new(plan, Direction::Up, self.address.is_ipv6()),
            echoed: &socket,
            discarded: &discarded,
            to: to.into(),
            most,
            replies,
        };
        std::thread::scope(|scope| {
            scope.spawn(|| read_replies(&socket, reader, limits.clock, &tell, &is_over));
            sending.run(&mut requests, limits);
            is_over.store(true, Ordering::Relaxed);
        });
        let burst = sending.seen.into_burst();
        if !STAMPS_ARRIVALS && was_slow(&plan, &burst) {
            return Err(TestError::Host("this computer is too slow".to_owned()));
        }
        Ok(burst)
    }
}

/// A socket for requests.
enum Requested {
    Icmp(EchoSocket),
    Udp(UdpSocket),
}

impl Requested {
    fn prepare(&self, to: SocketAddr, class: u8) -> io::Result<()> {
        match self {
            Requested::Icmp(socket) => socket.prepare_burst(to, class, BUFFER_BYTES),
            Requested::Udp(socket) => {
                socket.connect(to)?;
                let of_socket = SockRef::from(socket);
                set_class(&of_socket, to.is_ipv6(), class)?;
                // A full queue of this host makes the sender wait.
                socket.set_nonblocking(false)?;
                // Smaller ones lose replies only while this thread does not run.
                drop(set_receive_buffer(&of_socket, BUFFER_BYTES));
                drop(set_send_buffer(&of_socket, BUFFER_BYTES));
                enable(socket.as_fd(), Stamping::Arrivals)
            }
        }
    }
    fn queue_errors(&self, is_ipv6: bool) -> io::Result<()> {
        match self {
            Requested::Icmp(socket) => socket.queue_errors(),
            Requested::Udp(socket) => queue_errors(&SockRef::from(socket), is_ipv6),
        }
    }
    fn send(&self, request: &[u8]) -> io::Result<usize> {
        match self {
            Requested::Icmp(socket) => socket.send(request),
            Requested::Udp(socket) => socket.send(request),
        }
    }
    fn receive(&self, batch: &mut Batch) -> io::Result<usize> {
        match self {
            Requested::Icmp(socket) => socket.receive_batch(batch),
            Requested::Udp(socket) => batch.receive(socket.as_fd()),
        }
    }
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Requested::Icmp(socket) => socket.as_fd(),
            Requested::Udp(socket) => socket.as_fd(),
        }
    }
}

/// Whether this host sent far more slowly than planned. Where the system does not timestamp
/// replies, it then noticed them too late.
fn was_slow(plan: &BurstPlan, burst: &Burst) -> bool {
    let (first, last) = (plan.before, plan.before + plan.count - 1);
    let sent = |number: u32| burst.sent_ns.get(number as usize).copied().unwrap_or(0);
    let apart_ns = sent(last).saturating_sub(sent(first)) / u64::from(plan.count);
    Duration::from_nanos(apart_ns) > SLOW.max(plan.interval * 2)
}

/// Protocol and address of a URL.
fn parse(url: &str, family: Option<Family>) -> Result<(Protocol, SocketAddr), TestError> {
    let known = "expected icmp://HOST, udp-echo://HOST[:PORT], or a host with `fathom serve`";
    let unknown = || TestError::Config(format!("{url}: {known}"));
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let (protocol, port) = match scheme {
        "icmp" => (Protocol::Icmp, 0),
        "udp-echo" => (Protocol::Udp, ECHO_PORT),
        _ => return Err(unknown()),
    };
    let address = resolve_server(rest.trim_end_matches('/'), port, family)?;
    let address = address.first().copied().filter(|address| protocol == Protocol::Udp || address.port() == 0);
    // ICMP has no ports.
    Ok((protocol, address.ok_or_else(unknown)?))
}

/// The IP address of a URL.
fn bracketed(address: SocketAddr) -> String {
    if address.is_ipv6() { format!("[{}]", address.ip()) } else { address.ip().to_string() }
}

/// Makes the requests of a burst and recognizes their replies, which contain the send time.
struct Requests {
    codec: EchoCodec,
    protocol: Protocol,
    /// Header of ICMP and payload.
    message: Vec<u8>,
}

impl Requests {
    fn new(host: &EchoHost, payload_bytes: u32) -> Result<Self, TestError> {
        let version = if host.address.is_ipv6() { IcmpVersion::V6 } else { IcmpVersion::V4 };
        let mut token = [0; 8];
        getrandom::fill(&mut token).map_err(|e| TestError::Host(format!("random numbers: {e}")))?;
        let message = vec![0; ECHO_HEADER_BYTES + payload_bytes as usize];
        Ok(Requests {
            codec: EchoCodec::new(version, u64::from_ne_bytes(token)),
            protocol: host.protocol,
            message,
        })
    }
    /// A request of this number.
    fn next(&mut self, number: u32, now: Time) -> &[u8] {
        let probe = Probe { sequence: number, at: WallTime(0), sent: now };
        self.codec.write(&mut self.message, &EchoPayload { target: 0, probe });
        match self.protocol {
            Protocol::Icmp => &self.message,
            Protocol::Udp => &self.message[ECHO_HEADER_BYTES..],
        }
    }
    /// The request with this payload.
    fn with(&mut self, number: u32, now: Time, payload: &[u8]) -> &[u8] {
        self.message[ECHO_HEADER_BYTES..].copy_from_slice(payload);
        self.next(number, now)
    }
    fn reader(&self) -> (EchoCodec, Protocol) {
        (self.codec, self.protocol)
    }
    fn read(&self, bytes: &[u8]) -> Option<EchoPayload> {
        read(self.reader(), bytes)
    }
}

fn read((codec, protocol): (EchoCodec, Protocol), bytes: &[u8]) -> Option<EchoPayload> {
    match protocol {
        Protocol::Icmp => codec.read_reply(bytes),
        // The service returns the request.
        Protocol::Udp => codec.read_request(bytes),
    }
}

/// Number of a request, and when its reply arrived.
type Reply = (u32, Time);

/// Reads replies while another thread sends: the kernel has room for a few hundred only.
fn read_replies(
    socket: &Requested,
    reader: (EchoCodec, Protocol),
    clock: Clock,
    tell: &Sender<Vec<Reply>>,
    is_over: &AtomicBool,
) {
    let mut batch = Batch::new(BATCH, IP_HEADER_BYTES + MOST_BURST_PAYLOAD_BYTES as usize);
    let mut stamps = StampConverter::default();
    while !is_over.load(Ordering::Relaxed) {
        let found = poll::wait(&mut [PollFd::readable(socket.as_fd())], Some(LOOK_EVERY));
        // An error belongs to an earlier request; reading it clears it.
        if found.is_ok_and(|count| count > 0) && socket.receive(&mut batch).is_ok() {
            let (wall, now) = both_clocks(clock);
            let reply = |(bytes, at): (&[u8], fathom_os::timestamp::Received)| {
                let payload = read(reader, bytes)?;
                Some((payload.probe.sequence, stamps.convert(at.stamp, wall, now).unwrap_or(now)))
            };
            // Nobody reads them after the end.
            let _ = tell.send(batch.iter().filter_map(reply).collect());
        }
    }
}

/// A burst on its way.
struct Sending<'a> {
    seen: Seen,
    /// For requests.
    echoed: &'a Requested,
    /// For what the receiver discards, and where that is sent.
    discarded: &'a Socket,
    to: SockAddr,
    /// Most datagrams.
    most: u64,
    replies: Receiver<Vec<Reply>>,
}

impl Sending<'_> {
    fn run(&mut self, requests: &mut Requests, limits: &Limits<'_>) {
        // Without it, datagrams leave 50 us later.
        drop(set_precise_timers());
        let clock = limits.clock;
        let plan = self.seen.plan();
        let mut sender = BurstSender::new(plan, clock.now());
        let mut pacer = Pacer::new(clock);
        let end = plan.before + plan.count;
        let mut sent_all = Time::MAX;
        while let Some(due) = sender.due() {
            // Beyond the budget, only replies are awaited.
            let is_affordable = u64::from(sender.next_number()) < self.most;
            let due = if is_affordable { due } else { clock.now() + AFTER_BURST };
            let patience = if is_affordable { limits.patience } else { LAST_WAIT.min(limits.patience) };
            let limits = &Limits { patience, ..*limits };
            if let Some(wait) = pacer.next_wait(due) {
                self.take_replies(wait.min(LOOK_EVERY), clock);
                if limits.stop.load(Ordering::Relaxed)
                    || (sender.next_number() >= end && self.seen.is_over(sent_all, limits))
                {
                    return;
                }
                if wait > Duration::ZERO {
                    continue;
                }
            }
            let number = sender.next_number();
            let called = pacer.spin_until(due);
            self.send(number, called, sender.take(called), requests);
            // After a call that waited for room in this host's queue.
            let now = clock.now();
            self.seen.sent(number, now);
            sent_all = if number + 1 == end { now } else { sent_all };
        }
    }
    fn send(&self, number: u32, now: Time, payload: &[u8], requests: &mut Requests) {
        // The first call may report an error about an earlier one, and then sends nothing.
        let _ = if self.seen.plan().is_echoed(number) {
            let request = requests.with(number, now, payload);
            self.echoed.send(request).or_else(|_| self.echoed.send(request))
        } else {
            self.discarded.send_to(payload, &self.to)
        };
    }
    /// Takes replies that arrive within this time.
    fn take_replies(&mut self, wait: Duration, clock: Clock) {
        let first = match self.replies.recv_timeout(std::time::Duration::from_nanos(wait.as_nanos())) {
            Err(RecvTimeoutError::Disconnected | RecvTimeoutError::Timeout) => return,
            Ok(replies) => replies,
        };
        let now = clock.now();
        for (number, at) in first.into_iter().chain(self.replies.try_iter().flatten()) {
            self.seen.arrived(number, (at.as_nanos(), false), now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_protocol_address_and_port() {
        let of = |url: &str| parse(url, None).map(|(protocol, address)| (protocol, address.to_string()));
        assert_eq!(of("icmp://192.0.2.1"), Ok((Protocol::Icmp, "192.0.2.1:0".to_owned())));
        assert_eq!(of("icmp://[2001:db8::1]/"), Ok((Protocol::Icmp, "[2001:db8::1]:0".to_owned())));
        assert_eq!(of("udp-echo://192.0.2.1"), Ok((Protocol::Udp, "192.0.2.1:7".to_owned())));
        assert_eq!(of("udp-echo://192.0.2.1:700"), Ok((Protocol::Udp, "192.0.2.1:700".to_owned())));
        for wrong in ["icmp://192.0.2.1:80", "echo://192.0.2.1", "://192.0.2.1"] {
            assert!(matches!(of(wrong), Err(TestError::Config(_))), "{wrong}");
        }
        assert!(of("icmp://").is_err());
    }
}
