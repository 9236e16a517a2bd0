//! Servers of irtt and STAMP: they answer UDP probes and carry no load.
use crate::{Connector, NO_LOAD};
use fathom_client::{
    FlowPlan, Limits, OpenFlow, Peer, Terms, TestConfig, TestError, UdpEncoding, UdpProbes, UdpReply,
    resolve_server, udp_socket,
};
use fathom_os::clock::wall_now;
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::poll::{self, PollFd};
use fathom_probe::ProbeKind;
use fathom_protocol::irtt::{self, Asked, IrttError, Layout, Params, Session};
use fathom_protocol::stamp;
use fathom_units::{Direction, Duration, Time};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::Ordering;
use url::Url;

/// Wait for the first reply before the request is repeated, and then twice as long each time
/// (irtt's `DefaultOpenTimeouts`).
const REPEAT_AFTER: Duration = Duration::from_secs(1);
/// Length of a probe and its reply, as in Fathom's protocol.
const LENGTH_BYTES: u64 = fathom_probe::protocol::UDP_PROBE_BYTES as u64;
/// Longer than any reply.
const BUFFER_BYTES: usize = 2_048;

/// A protocol without load.
struct Protocol {
    name: &'static str,
    default_port: u16,
    /// What to try if there is no answer.
    advice: &'static str,
}

const IRTT: Protocol = Protocol {
    name: "irtt",
    default_port: irtt::DEFAULT_PORT,
    advice: "is `irtt server` running there? With --hmac: --token-file FILE",
};
const STAMP: Protocol =
    Protocol { name: "STAMP", default_port: stamp::DEFAULT_PORT, advice: "is a reflector running there?" };

/// A server that answered.
pub(crate) struct UdpPeer {
    protocol: &'static str,
    address: SocketAddr,
    socket: UdpSocket,
    encoding: Encoding,
    terms: Terms,
}

#[derive(Clone)]
enum Encoding {
    Irtt(Session),
    Stamp {
        /// Distinguishes the probes from those of others on the same port.
        session: u16,
        /// A reply had another sequence number than its probe.
        counts: bool,
    },
}

/// Why there is no reply.
enum Problem {
    /// The system, or an ICMP message.
    System(io::Error),
    /// The reply is a refusal.
    Server(IrttError),
    Silent,
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Problem::System(error)
    }
}

/// Opens a session with an irtt server. The token of the test is the key of its HMAC.
pub(crate) fn irtt(url: &Url, config: &TestConfig, connector: &Connector<'_>) -> Result<UdpPeer, TestError> {
    let params = Params {
        duration: config.longest(),
        interval: config.sample_every,
        length_bytes: LENGTH_BYTES,
        layout: Layout::FATHOM,
        ..Params::default()
    };
    let asked = Asked::new(params, config.token.as_deref().map(str::as_bytes));
    let (address, socket, session) = first_answer(url, &IRTT, connector, |socket| {
        exchange(socket, &asked.request(), &connector.limits, |datagram| match asked.opened(datagram) {
            Err(IrttError::Form) => Ok(None),
            opened => opened.map(Some),
        })
    })?;
    let granted = session.granted();
    let terms = Terms {
        longest_test: (granted.duration < config.longest()).then_some(granted.duration),
        shortest_interval: Some(granted.interval),
        ..Terms::default()
    };
    Ok(UdpPeer { protocol: IRTT.name, address, socket, encoding: Encoding::Irtt(session), terms })
}

/// Finds a STAMP reflector.
pub(crate) fn stamp(url: &Url, connector: &Connector<'_>) -> Result<UdpPeer, TestError> {
    let mut random = [0; 2];
    getrandom::fill(&mut random).map_err(|e| TestError::Host(format!("random numbers: {e}")))?;
    let session = u16::from_be_bytes(random).max(1);
    let (address, ..) = first_answer(url, &STAMP, connector, |socket| {
        exchange(socket, &stamp::probe(0, wall_now(), session), &connector.limits, |datagram| {
            Ok(stamp::reply(datagram, session))
        })
    })?;
    // Another socket, so that late replies to the first probes are not treated as others.
    let socket = udp_socket(address).map_err(|e| TestError::Host(format!("UDP socket: {e}")))?;
    let encoding = Encoding::Stamp { session, counts: false };
    Ok(UdpPeer { protocol: STAMP.name, address, socket, encoding, terms: Terms::default() })
}

/// The first address of the host of `url` from which `ask` gets an answer; otherwise the first
/// error.
fn first_answer<T>(
    url: &Url,
    &Protocol { name, default_port, advice }: &Protocol,
    connector: &Connector<'_>,
    ask: impl Fn(&UdpSocket) -> Result<T, Problem>,
) -> Result<(SocketAddr, UdpSocket, T), TestError> {
    let fail = |problem: String| TestError::Server { server: url.to_string(), problem };
    let host = url.host_str().filter(|host| !host.is_empty());
    let host = host.ok_or_else(|| fail("no host in the URL".to_owned()))?;
    let server = format!("{host}:{}", url.port().unwrap_or(default_port));
    let mut first_problem = None;
    for address in resolve_server(&server, default_port, connector.family)? {
        let answer =
            udp_socket(address).map_err(Problem::from).and_then(|socket| Ok((ask(&socket)?, socket)));
        let problem = match answer {
            Ok((answer, socket)) => return Ok((address, socket, answer)),
            Err(_) if connector.limits.stop.load(Ordering::Relaxed) => return Err(TestError::Stopped),
            Err(Problem::System(error)) if error.kind() == ErrorKind::ConnectionRefused => {
                format!("UDP port {} is closed ({advice})", address.port())
            }
            Err(Problem::System(error)) => without_code(&error),
            Err(Problem::Server(error)) => error.to_string(),
            Err(Problem::Silent) => {
                format!("no answer from {name} within {} ({advice})", connector.limits.patience)
            }
        };
        first_problem.get_or_insert(problem);
    }
    Err(fail(first_problem.unwrap_or_else(|| "no address to connect to".to_owned())))
}

/// Sends `request`, repeatedly, until `read` accepts a datagram.
fn exchange<T>(
    socket: &UdpSocket,
    request: &[u8],
    limits: &Limits<'_>,
    read: impl Fn(&[u8]) -> Result<Option<T>, IrttError>,
) -> Result<T, Problem> {
    let since = limits.clock.now();
    let (mut due, mut pause) = (since, REPEAT_AFTER);
    let mut buffer = [0; BUFFER_BYTES];
    let ready = |turn| Ok(poll::wait(&mut [PollFd::readable(socket.as_fd())], Some(turn))? > 0);
    let mut wait = |turn: Duration| {
        if limits.clock.now() >= due {
            socket.send(request)?;
            (due, pause) = (limits.clock.now() + pause, pause * 2);
        }
        ready(turn)
    };
    while limits.wait(&mut wait, since)? {
        let length = socket.recv(&mut buffer)?;
        if let Some(answer) = read(&buffer[..length]).map_err(Problem::Server)? {
            return Ok(answer);
        }
    }
    Err(Problem::Silent)
}

impl Peer for UdpPeer {
    fn protocol(&self) -> &'static str {
        self.protocol
    }
    fn address(&self) -> SocketAddr {
        self.address
    }
    fn carries(&self, _direction: Direction) -> bool {
        false
    }
    fn terms(&self) -> Terms {
        self.terms
    }
    fn probes(&self) -> Vec<ProbeKind> {
        vec![ProbeKind::Icmp, ProbeKind::Udp]
    }
    fn udp_probes(&self, _class: Option<u8>) -> Result<UdpProbes, String> {
        let socket = self.socket.try_clone().map_err(|error| without_code(&error))?;
        Ok(UdpProbes { socket, encoding: Box::new(self.encoding.clone()) })
    }
    fn open(&self, _flow: &FlowPlan, _limits: &Limits<'_>) -> Result<OpenFlow, String> {
        Err(NO_LOAD.to_owned())
    }
}

impl Drop for UdpPeer {
    fn drop(&mut self) {
        if let Encoding::Irtt(session) = &self.encoding {
            // Without it, the server forgets the session after a minute.
            drop(self.socket.send(&session.close()));
        }
    }
}

impl UdpEncoding for Encoding {
    fn probe(&self, sequence: u32, _now: Time) -> Vec<u8> {
        match self {
            Encoding::Irtt(session) => session.probe(sequence),
            Encoding::Stamp { session, .. } => stamp::probe(sequence, wall_now(), *session).to_vec(),
        }
    }
    fn reply(&mut self, datagram: &[u8]) -> Option<UdpReply> {
        match self {
            Encoding::Irtt(session) => session.reply(datagram).ok().map(|reply| UdpReply {
                sequence: reply.sequence,
                server_received_ns: reply.received_ns,
                server_sent_ns: reply.sent_ns,
                received: reply.received.unwrap_or_default().into(),
                class: None,
            }),
            Encoding::Stamp { session, counts } => {
                let reply = stamp::reply(datagram, *session)?;
                *counts |= reply.own_sequence != reply.sequence;
                Some(UdpReply {
                    sequence: reply.sequence,
                    server_received_ns: reply.received_ns,
                    server_sent_ns: reply.sent_ns,
                    received: u64::from(reply.own_sequence) + 1,
                    class: None,
                })
            }
        }
    }
    /// The sequence numbers of a stateless reflector are those of the probes. So are those of
    /// another, as long as no probe was lost before it.
    fn counts(&self) -> bool {
        match self {
            Encoding::Irtt(session) => session.granted().layout.received_stats & 1 != 0,
            Encoding::Stamp { counts, .. } => *counts,
        }
    }
}
