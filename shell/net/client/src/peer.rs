//! The server of a test: how it carries load, and which probes it answers.
use crate::resolve::Limits;
use fathom_os::socket::{set_congestion_control, set_flow_class, set_pacing_rate, set_segment_bytes};
use fathom_probe::protocol::{FlowLoad, FlowReport, Reception};
use fathom_probe::{Arrivals, ProbeKind};
use fathom_run::{Observation, Value};
use fathom_units::{Direction, Duration, Time};
use portable_atomic::AtomicU64;
use socket2::Socket;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// A server with a protocol that carries load, or answers probes, or both.
pub trait Peer: Send + Sync {
    /// Name of the protocol, for people.
    fn protocol(&self) -> &'static str;
    /// The address that is probed.
    fn address(&self) -> SocketAddr;
    /// Whether the protocol carries load in this direction.
    fn carries(&self, direction: Direction) -> bool;
    /// Whether it carries a load of this kind at a chosen rate, in all its directions.
    fn takes(&self, _load: FlowLoad) -> bool {
        false
    }
    /// What its provider allows.
    fn terms(&self) -> Terms {
        Terms::default()
    }
    /// The probes that it answers.
    fn probes(&self) -> Vec<ProbeKind>;
    /// Requests of probes, if it answers HTTP.
    fn web_probe(&self) -> Option<WebProbe> {
        None
    }
    /// Whether it marks what it sends as asked, and reports the marks of what arrives.
    fn marks(&self) -> bool {
        false
    }
    /// UDP probes, which ask for replies with this traffic class if the server marks them. Called
    /// only if it answers them.
    ///
    /// # Errors
    /// The reason why none can be sent.
    fn udp_probes(&self, _class: Option<u8>) -> Result<UdpProbes, String> {
        Err(String::new())
    }
    /// The UDP probes that arrived at the server so far, if it reports them apart from its replies.
    fn arrivals(&self) -> Option<Arrivals> {
        None
    }
    /// What the server has reported of uploads of datagrams after the end of each load.
    fn reports(&self) -> Vec<FlowReport> {
        Vec::new()
    }
    /// Whether its load uses QUIC instead of TCP.
    fn loads_by_quic(&self) -> bool {
        false
    }
    /// Prepares load in these directions, with as many flows like `_plan` in each.
    ///
    /// # Errors
    /// The reason why the server carries no load now.
    fn begin(
        &self,
        _loads: &[Direction],
        _plan: &FlowPlan,
        _flows: u32,
        _limits: &Limits<'_>,
    ) -> Result<(), String> {
        Ok(())
    }
    /// Announces the end of the load. The flows end after it.
    fn end(&self) {}
    /// Opens a connection for a flow.
    ///
    /// # Errors
    /// The reason why there is none.
    fn open(&self, flow: &FlowPlan, limits: &Limits<'_>) -> Result<OpenFlow, String>;
}

/// Limits that the provider of a server sets, in addition to those of the user.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Terms {
    /// One flow at a time, and no load in both directions at once.
    pub one_flow: bool,
    /// Longest load in one direction.
    pub longest_load: Option<Duration>,
    /// Longest test.
    pub longest_test: Option<Duration>,
    /// Shortest interval of UDP probes. Then none are sent at once.
    pub shortest_interval: Option<Duration>,
}

/// Whether a server answers UDP probes that are sent at once.
pub(crate) fn takes_train(peer: &dyn Peer) -> bool {
    peer.probes().contains(&ProbeKind::Udp) && peer.terms().shortest_interval.is_none()
}

/// What sends and reads UDP probes.
pub struct UdpProbes {
    /// A socket that is connected to the server.
    pub socket: UdpSocket,
    /// How they are written.
    pub encoding: Box<dyn UdpEncoding>,
}

/// How UDP probes and their replies are written.
pub trait UdpEncoding: Send {
    /// A probe that is sent at this time.
    fn probe(&self, sequence: u32, now: Time) -> Vec<u8>;
    /// Reads the reply to a probe; `None` if it is none.
    fn reply(&mut self, datagram: &[u8]) -> Option<UdpReply>;
    /// Whether the replies so far show that the server counts probes.
    fn counts(&self) -> bool {
        true
    }
}

/// What a server reports about a UDP probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UdpReply {
    /// Sequence number of the probe.
    pub sequence: u32,
    /// Arrival at the server, in ns on the server's clock; 0 if it is among [`Peer::arrivals`].
    pub server_received_ns: u64,
    /// Send time of the reply, in ns on the same clock.
    pub server_sent_ns: u64,
    /// Number of probes that the server has received, including this one, if it counts them.
    pub received: u64,
    /// Traffic class with which the probe arrived, if the server says so.
    pub class: Option<u8>,
}

/// A UDP socket of any port that is connected to a server.
///
/// # Errors
/// See `connect(2)`.
pub fn udp_socket(to: SocketAddr) -> io::Result<UdpSocket> {
    let any: SocketAddr = if to.is_ipv6() { ([0_u16; 8], 0).into() } else { ([0_u8; 4], 0).into() };
    let socket = UdpSocket::bind(any)?;
    socket.connect(to)?;
    Ok(socket)
}

/// Properties of a flow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlowPlan {
    /// Its number, unique in the test.
    pub number: u32,
    /// Its direction.
    pub direction: Direction,
    /// Congestion control of the sender; `-` for the kernel's default.
    pub congestion_control: String,
    /// Maximum segment size, as announced by TCP.
    pub segment_bytes: Option<u16>,
    /// Traffic class (DSCP and ECN field) of what this host sends. TCP sets the ECN field itself.
    pub class: u8,
    /// Traffic class of what the server sends, if it marks that.
    pub reply_class: u8,
    /// What this flow carries; `None`: TCP, as fast as possible.
    pub load: Option<FlowLoad>,
}

impl FlowPlan {
    /// Sets the options of a flow's socket before it connects. If the congestion control is missing
    /// or not permitted, the flow uses the default, and the record says what the kernel reports.
    ///
    /// # Errors
    /// If the kernel refuses the segment size, the DSCP or the pacing.
    pub fn prepare(&self, socket: &Socket) -> io::Result<()> {
        self.segment_bytes.map_or(Ok(()), |bytes| set_segment_bytes(socket, bytes))?;
        set_flow_class(socket, self.class)?;
        if self.direction == Direction::Up && self.congestion_control != "-" {
            drop(set_congestion_control(socket, &self.congestion_control));
        }
        if let (Direction::Up, Some(FlowLoad::Paced(rate))) = (self.direction, self.load) {
            set_pacing_rate(socket, rate)?;
        }
        Ok(())
    }
}

/// A server that is probed while another one carries the load.
pub struct LoadedBy {
    /// The server that is probed.
    pub probed: Arc<dyn Peer>,
    /// The server of the load.
    pub load: Arc<dyn Peer>,
}

impl Peer for LoadedBy {
    fn protocol(&self) -> &'static str {
        self.probed.protocol()
    }
    fn address(&self) -> SocketAddr {
        self.probed.address()
    }
    fn carries(&self, direction: Direction) -> bool {
        self.load.carries(direction)
    }
    fn takes(&self, load: FlowLoad) -> bool {
        self.load.takes(load)
    }
    fn terms(&self) -> Terms {
        let Terms { longest_test, shortest_interval, .. } = self.probed.terms();
        Terms { longest_test, shortest_interval, ..self.load.terms() }
    }
    fn probes(&self) -> Vec<ProbeKind> {
        self.probed.probes()
    }
    fn web_probe(&self) -> Option<WebProbe> {
        self.probed.web_probe()
    }
    fn marks(&self) -> bool {
        self.probed.marks()
    }
    fn udp_probes(&self, class: Option<u8>) -> Result<UdpProbes, String> {
        self.probed.udp_probes(class)
    }
    fn arrivals(&self) -> Option<Arrivals> {
        self.probed.arrivals()
    }
    fn reports(&self) -> Vec<FlowReport> {
        self.load.reports()
    }
    fn loads_by_quic(&self) -> bool {
        self.load.loads_by_quic()
    }
    fn begin(
        &self,
        loads: &[Direction],
        plan: &FlowPlan,
        flows: u32,
        limits: &Limits<'_>,
    ) -> Result<(), String> {
        self.load.begin(loads, plan, flows, limits)
    }
    fn end(&self) {
        self.load.end();
    }
    fn open(&self, flow: &FlowPlan, limits: &Limits<'_>) -> Result<OpenFlow, String> {
        self.load.open(flow, limits)
    }
}

/// A connection that carries a flow.
pub struct OpenFlow {
    /// Its socket, for TCP_INFO.
    pub socket: Arc<Socket>,
    /// Congestion control that the sender's kernel reports; `None` if the peer does not say.
    pub congestion_control: Option<String>,
    /// Transfers the load.
    pub transfer: Transfer,
}

/// Transfers load until the connection ends, and reports to the meter. `Ok` if the server ended the
/// connection after a complete transfer, so that the flow continues on another.
pub type Transfer = Box<dyn FnOnce(&Meter) -> Result<(), String> + Send>;

/// What the transfers of a flow report while they run.
#[derive(Debug, Default)]
pub struct Meter {
    received_bytes: AtomicU64,
    probes: Mutex<Vec<Observation>>,
    congestion_control: Mutex<Option<String>>,
    datagrams: Mutex<Reception>,
}

impl Meter {
    /// Adds received payload bytes.
    pub fn add_received(&self, bytes: u64) {
        self.received_bytes.fetch_add(bytes, Ordering::Relaxed);
    }
    /// Received payload bytes since the start of the flow.
    #[must_use]
    pub fn received_bytes(&self) -> u64 {
        self.received_bytes.load(Ordering::Relaxed)
    }
    /// Reports what has arrived of the datagrams of a flow.
    pub(crate) fn set_datagrams(&self, counts: Reception) {
        *self.datagrams.lock().unwrap_or_else(PoisonError::into_inner) = counts;
    }
    /// What has arrived.
    pub(crate) fn datagrams(&self) -> Reception {
        *self.datagrams.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Adds the delay of a request on the connection of the load, which was made at `sent`.
    pub fn add_answered(&self, sent: Time, delay: Duration) {
        self.add_probe(sent, Value::Observed(delay.as_secs_f64()));
    }
    /// Adds such a request that was not answered in the time `waited`.
    pub fn add_unanswered(&self, sent: Time, waited: Duration) {
        self.add_probe(sent, Value::Censored { at_least: waited.as_secs_f64() });
    }
    fn add_probe(&self, at: Time, value: Value) {
        self.probes.lock().unwrap_or_else(PoisonError::into_inner).push(Observation { at, value });
    }
    /// The requests that were added since the last call.
    pub(crate) fn take_probes(&self) -> Vec<Observation> {
        std::mem::take(&mut *self.probes.lock().unwrap_or_else(PoisonError::into_inner))
    }
    /// Reports the congestion control that the server sends with, if it became known only during
    /// the transfer.
    pub fn set_congestion_control(&self, name: String) {
        *self.congestion_control.lock().unwrap_or_else(PoisonError::into_inner) = Some(name);
    }
    /// The congestion control that was reported since the last call.
    pub(crate) fn take_congestion_control(&self) -> Option<String> {
        self.congestion_control.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// HTTP requests of probes.
#[derive(Clone, Default)]
pub struct WebProbe {
    /// The request for a small object on an existing connection; `None` if the server has none.
    pub request: Option<Vec<u8>>,
    /// Whether the request is HEAD, which a response of any status answers.
    pub is_head: bool,
    /// Encrypts a connection, if the server requires it.
    pub encryption: Option<Encryption>,
    /// A request on a new connection with TLS, if the server has it; ends with the handshake if it
    /// has no small object.
    pub tls: Option<StartExchange>,
    /// A request on a new connection with QUIC, and where the server offers that.
    pub http3: Option<(SocketAddr, StartExchange)>,
}

/// Starts the encryption of a connection, or says why it cannot.
pub type Encryption = Arc<dyn Fn() -> Result<Box<dyn Encrypted>, String> + Send + Sync>;

/// Starts an exchange, or says why it cannot.
pub type StartExchange = Arc<dyn Fn() -> Result<Box<dyn Exchange>, String> + Send + Sync>;

/// A request on a new connection, without I/O.
pub trait Exchange: Send {
    /// Takes received bytes of a stream, or a datagram, if there are any, and notices which timers
    /// have expired.
    ///
    /// # Errors
    /// The reason why there is no response.
    fn advance(&mut self, received: Option<&[u8]>) -> Result<ExchangeStage, String>;
    /// The next bytes of a stream to send, or a datagram.
    fn take_output(&mut self) -> Option<Vec<u8>>;
}

/// What an exchange waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ExchangeStage {
    /// The end of the handshake.
    Handshake,
    /// The response, which was requested.
    Response,
    /// Nothing.
    Answered,
}

/// Where requests on one persistent connection go, by a protocol that keeps them apart.
#[derive(Clone)]
pub struct PersistentRequests {
    /// The server.
    pub address: SocketAddr,
    /// Whether the connection is one of QUIC, and not of TCP.
    pub is_datagram: bool,
    /// Starts a connection.
    pub start: StartRequests,
}

/// Starts a connection for requests, or says why it cannot.
pub type StartRequests = Arc<dyn Fn() -> Result<Box<dyn Requests>, String> + Send + Sync>;

/// Requests on one connection, without I/O.
pub trait Requests: Send {
    /// Whether requests can be sent.
    fn is_ready(&self) -> bool;
    /// Sends a request with this number.
    ///
    /// # Errors
    /// The reason why none can be sent now.
    fn request(&mut self, number: u32) -> Result<(), String>;
    /// Takes received bytes of a stream, or a datagram, if there are any, notices which timers have
    /// expired, and returns the numbers of the requests that were answered.
    ///
    /// # Errors
    /// The reason why the connection cannot be used any more.
    fn advance(&mut self, received: Option<&[u8]>) -> Result<Vec<u32>, String>;
    /// The next bytes of a stream to send, or a datagram.
    fn take_output(&mut self) -> Option<Vec<u8>>;
}

/// The client's end of an encrypted connection, without I/O.
pub trait Encrypted: Send {
    /// Takes received bytes and returns the decrypted ones.
    ///
    /// # Errors
    /// The reason why the connection cannot be used any more.
    fn receive(&mut self, bytes: &[u8]) -> Result<Vec<u8>, String>;
    /// Encrypts bytes. They are sent after the handshake.
    ///
    /// # Errors
    /// The reason why the connection cannot be used any more.
    fn encrypt(&mut self, bytes: &[u8]) -> Result<(), String>;
    /// Bytes to send now.
    fn take_output(&mut self) -> Vec<u8>;
    /// Whether the handshake is complete.
    fn is_ready(&self) -> bool;
}
