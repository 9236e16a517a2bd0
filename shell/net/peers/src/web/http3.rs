//! Probes by HTTP/3, over QUIC without I/O: one request on a new connection, or many on one.
use super::Origin;
use crate::tls::Tls;
use fathom_client::{Exchange, ExchangeStage, Requests, StartExchange, StartRequests};
use fathom_probe::protocol::AGENT;
use fathom_protocol::http3;
use fathom_units::Duration;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    ReadError, StreamId, TransportConfig, VarInt,
};
use rustls::pki_types::ServerName;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// Name of HTTP/3 in TLS (RFC 9114, section 3.1).
const ALPN: &[u8] = b"h3";

/// Why no request was sent: the server opens no stream or no window for it.
const NOT_ALLOWED: &str = "the server allows no request";

/// Requests of `path` at the port of `origin` that offers HTTP/3.
pub(super) fn probe(origin: &Origin, port: u16, path: &str) -> Option<(SocketAddr, StartExchange)> {
    let address = SocketAddr::new(origin.address.ip(), port);
    let quic = QuicPlan::new(origin.tls.as_ref()?, address, None).ok()?;
    let request = http3::get(&origin.host, path, AGENT);
    let start: StartExchange = Arc::new(move || {
        let (quic, request) = (quic.start()?, request.clone());
        Ok(Box::new(Get { quic, request, stream: None, response: Vec::new() }))
    });
    Some((address, start))
}

/// HEAD requests of `path` of `host` on one connection to `address`.
pub(crate) fn requests(
    tls: &Tls,
    address: SocketAddr,
    host: &str,
    path: &str,
) -> Result<StartRequests, String> {
    let (quic, request) = (QuicPlan::new(tls, address, None)?, http3::head(host, path, AGENT));
    Ok(Arc::new(move || {
        let (quic, request) = (quic.start()?, request.clone());
        Ok(Box::new(Heads { quic, request, waiting: Vec::new() }))
    }))
}

/// What is needed to connect to a server.
#[derive(Clone)]
pub(super) struct QuicPlan {
    config: ClientConfig,
    name: ServerName<'static>,
    address: SocketAddr,
}

impl QuicPlan {
    /// Connections that end when nothing arrives for `patience`. Without it, the caller ends them.
    pub(super) fn new(tls: &Tls, address: SocketAddr, patience: Option<Duration>) -> Result<Self, String> {
        let tls = tls.with_protocol(ALPN);
        let crypto = QuicClientConfig::try_from(tls.config()).map_err(reason)?;
        let mut transport = TransportConfig::default();
        // What this host sends does not need larger datagrams. Only congestion limits a download.
        let idle = patience.map(|patience| VarInt::from_u32((patience.as_nanos() / 1_000_000) as u32).into());
        transport.max_idle_timeout(idle).mtu_discovery_config(None).stream_receive_window(VarInt::MAX);
        let mut config = ClientConfig::new(Arc::new(crypto));
        config.transport_config(Arc::new(transport));
        Ok(QuicPlan { config, name: tls.name(), address })
    }
    pub(super) fn start(&self) -> Result<Quic, String> {
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, true, None);
        let QuicPlan { config, name, address } = self.clone();
        let connected = endpoint.connect(Instant::now(), config, address, &name.to_str());
        let (handle, connection) = connected.map_err(reason)?;
        Ok(Quic { endpoint, handle, connection, address, is_connected: false, has_control: false })
    }
}

/// A connection.
pub(super) struct Quic {
    endpoint: Endpoint,
    handle: ConnectionHandle,
    connection: Connection,
    address: SocketAddr,
    is_connected: bool,
    has_control: bool,
}

impl Quic {
    /// Takes a datagram, if there is one, and notices which timers have expired.
    pub(super) fn advance(&mut self, datagram: Option<&[u8]>) -> Result<(), String> {
        let now = Instant::now();
        if let Some(bytes) = datagram {
            // A reply without a connection, which is a server's part, is not sent.
            let event = self.endpoint.handle(now, self.address, None, None, bytes.into(), &mut Vec::new());
            if let Some(DatagramEvent::ConnectionEvent(_, event)) = event {
                self.connection.handle_event(event);
            }
        }
        if self.connection.poll_timeout().is_some_and(|due| due <= now) {
            self.connection.handle_timeout(now);
        }
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(other) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(other);
            }
        }
        while let Some(event) = self.connection.poll() {
            match event {
                Event::Connected => self.is_connected = true,
                Event::ConnectionLost { reason: error } => return Err(reason(error)),
                _ => {}
            }
        }
        Ok(())
    }
    /// Whether the handshake is over.
    pub(super) const fn is_connected(&self) -> bool {
        self.is_connected
    }
    /// Time until the next timer expires.
    pub(super) fn wait(&mut self) -> Option<Duration> {
        let wait = self.connection.poll_timeout()?.saturating_duration_since(Instant::now());
        Some(Duration::from_nanos(wait.as_nanos() as u64))
    }
    /// Sends a request on a stream.
    pub(super) fn request(&mut self, request: &[u8]) -> Result<StreamId, String> {
        if !std::mem::replace(&mut self.has_control, true) {
            self.open(Dir::Uni, &http3::CONTROL)?;
        }
        self.open(Dir::Bi, request)
    }
    /// Closes the connection, which has served its purpose.
    pub(super) fn close(&mut self) {
        self.connection.close(Instant::now(), http3::NO_ERROR.into(), Default::default());
    }
    /// Drops what arrived of a stream; returns its bytes, and whether the stream is over.
    pub(super) fn discard(&mut self, stream: StreamId) -> Result<(u64, bool), String> {
        let mut receiver = self.connection.recv_stream(stream);
        let mut chunks = receiver.read(true).map_err(reason)?;
        let mut bytes = 0;
        let is_over = loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => bytes += chunk.bytes.len() as u64,
                Ok(None) => break true,
                Err(ReadError::Blocked) => break false,
                Err(error) => return Err(reason(error)),
            }
        };
        let _ = chunks.finalize();
        Ok((bytes, is_over))
    }
    /// Opens a stream with this content. One in both directions ends with it.
    fn open(&mut self, direction: Dir, content: &[u8]) -> Result<StreamId, String> {
        let opened = self.connection.streams().open(direction);
        let stream = opened.ok_or_else(|| reason(NOT_ALLOWED))?;
        let mut sender = self.connection.send_stream(stream);
        if sender.write(content).map_err(reason)? < content.len() {
            return Err(reason(NOT_ALLOWED));
        }
        if direction == Dir::Bi {
            sender.finish().map_err(reason)?;
        }
        Ok(stream)
    }
    /// Reads what arrived of a response. Returns its status once it is known.
    pub(super) fn read(&mut self, stream: StreamId, response: &mut Vec<u8>) -> Result<Option<u16>, String> {
        let mut receiver = self.connection.recv_stream(stream);
        let mut chunks = receiver.read(true).map_err(reason)?;
        let is_over = loop {
            match chunks.next(http3::HEAD_LIMIT_BYTES) {
                Ok(Some(chunk)) => response.extend_from_slice(&chunk.bytes),
                Ok(None) => break true,
                Err(ReadError::Blocked) => break false,
                Err(error) => return Err(reason(error)),
            }
        };
        let _ = chunks.finalize();
        match http3::status(response).map_err(reason)? {
            None if is_over || response.len() > 2 * http3::HEAD_LIMIT_BYTES => Err(reason(http3::Malformed)),
            status => Ok(status),
        }
    }
    pub(super) fn take_output(&mut self) -> Option<Vec<u8>> {
        let mut datagram = Vec::new();
        self.connection.poll_transmit(Instant::now(), 1, &mut datagram).map(|_| datagram)
    }
}

/// A request and its connection.
struct Get {
    quic: Quic,
    request: Vec<u8>,
    /// Of the request, once it is sent.
    stream: Option<StreamId>,
    response: Vec<u8>,
}

impl Exchange for Get {
    fn advance(&mut self, datagram: Option<&[u8]>) -> Result<ExchangeStage, String> {
        self.quic.advance(datagram)?;
        if self.quic.is_connected && self.stream.is_none() {
            self.stream = Some(self.quic.request(&self.request)?);
        }
        let Some(stream) = self.stream else { return Ok(ExchangeStage::Handshake) };
        match self.quic.read(stream, &mut self.response)? {
            Some(200) => {
                self.quic.close();
                Ok(ExchangeStage::Answered)
            }
            Some(status) => Err(format!("HTTP status {status}")),
            None => Ok(ExchangeStage::Response),
        }
    }
    fn take_output(&mut self) -> Option<Vec<u8>> {
        self.quic.take_output()
    }
}

/// HEAD requests on one connection; a response of any status is one.
struct Heads {
    quic: Quic,
    request: Vec<u8>,
    /// The requests without a response: number, stream, and what arrived of the response.
    waiting: Vec<(u32, StreamId, Vec<u8>)>,
}

impl Requests for Heads {
    fn is_ready(&self) -> bool {
        self.quic.is_connected
    }
    fn request(&mut self, number: u32) -> Result<(), String> {
        self.waiting.push((number, self.quic.request(&self.request)?, Vec::new()));
        Ok(())
    }
    fn advance(&mut self, received: Option<&[u8]>) -> Result<Vec<u32>, String> {
        self.quic.advance(received)?;
        let mut answered = Vec::new();
        for (number, stream, mut response) in std::mem::take(&mut self.waiting) {
            match self.quic.read(stream, &mut response)? {
                Some(_) => answered.push(number),
                None => self.waiting.push((number, stream, response)),
            }
        }
        Ok(answered)
    }
    fn take_output(&mut self) -> Option<Vec<u8>> {
        self.quic.take_output()
    }
}

fn reason(error: impl std::fmt::Display) -> String {
    format!("HTTP/3: {error}")
}
