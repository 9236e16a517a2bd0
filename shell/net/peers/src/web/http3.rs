//! Probes by HTTP/3: one request on a new connection, over QUIC without I/O.
use super::Origin;
use fathom_client::{Exchange, ExchangeStage, StartExchange};
use fathom_probe::protocol::AGENT;
use fathom_protocol::http3;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig, Event,
    ReadError, StreamId, TransportConfig,
};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// Name of HTTP/3 in TLS (RFC 9114, section 3.1).
const ALPN: &[u8] = b"h3";

/// Why no request was sent: the server opens no stream or no window for it.
const NOT_ALLOWED: &str = "the server allows no request";

/// Requests of `path` at the port of `origin` that offers HTTP/3.
pub(super) fn probe(origin: &Origin, port: u16, path: &str) -> Option<(SocketAddr, StartExchange)> {
    let tls = origin.tls.as_ref()?.with_protocol(ALPN);
    let crypto = QuicClientConfig::try_from(tls.config()).ok()?;
    let mut transport = TransportConfig::default();
    // The prober ends connections. A short exchange does not search for larger datagrams.
    transport.max_idle_timeout(None).mtu_discovery_config(None);
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(Arc::new(transport));
    let address = SocketAddr::new(origin.address.ip(), port);
    let (name, request) = (tls.name(), http3::get(&origin.host, path, AGENT));
    let start: StartExchange =
        Arc::new(move || Ok(Box::new(Get::start(config.clone(), address, &name.to_str(), request.clone())?)));
    Some((address, start))
}

/// A request and its connection.
struct Get {
    endpoint: Endpoint,
    handle: ConnectionHandle,
    connection: Connection,
    address: SocketAddr,
    request: Vec<u8>,
    /// Of the request, once it is sent.
    stream: Option<StreamId>,
    response: Vec<u8>,
}

impl Get {
    fn start(
        config: ClientConfig,
        address: SocketAddr,
        name: &str,
        request: Vec<u8>,
    ) -> Result<Self, String> {
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, true, None);
        let connected = endpoint.connect(Instant::now(), config, address, name);
        let (handle, connection) = connected.map_err(reason)?;
        Ok(Get { endpoint, handle, connection, address, request, stream: None, response: Vec::new() })
    }
    /// Exchanges events of the connection and of its endpoint.
    fn settle(&mut self) {
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(other) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(other);
            }
        }
    }
    fn send_request(&mut self) -> Result<(), String> {
        for (direction, content) in [(Dir::Uni, &http3::CONTROL[..]), (Dir::Bi, &self.request)] {
            let opened = self.connection.streams().open(direction);
            let stream = opened.ok_or_else(|| reason(NOT_ALLOWED))?;
            let mut sender = self.connection.send_stream(stream);
            if sender.write(content).map_err(reason)? < content.len() {
                return Err(reason(NOT_ALLOWED));
            }
            if direction == Dir::Bi {
                sender.finish().map_err(reason)?;
                self.stream = Some(stream);
            }
        }
        Ok(())
    }
    /// Reads what arrived of the response, and ends the connection after its header.
    fn read(&mut self, stream: StreamId) -> Result<ExchangeStage, String> {
        let mut receiver = self.connection.recv_stream(stream);
        let mut chunks = receiver.read(true).map_err(reason)?;
        let is_over = loop {
            match chunks.next(http3::HEAD_LIMIT_BYTES) {
                Ok(Some(chunk)) => self.response.extend_from_slice(&chunk.bytes),
                Ok(None) => break true,
                Err(ReadError::Blocked) => break false,
                Err(error) => return Err(reason(error)),
            }
        };
        let _ = chunks.finalize();
        match http3::status(&self.response).map_err(reason)? {
            Some(200) => {
                self.connection.close(Instant::now(), http3::NO_ERROR.into(), Default::default());
                Ok(ExchangeStage::Answered)
            }
            Some(status) => Err(format!("HTTP status {status}")),
            None if is_over || self.response.len() > 2 * http3::HEAD_LIMIT_BYTES => {
                Err(reason(http3::Malformed))
            }
            None => Ok(ExchangeStage::Response),
        }
    }
}

impl Exchange for Get {
    fn advance(&mut self, datagram: Option<&[u8]>) -> Result<ExchangeStage, String> {
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
        self.settle();
        while let Some(event) = self.connection.poll() {
            match event {
                Event::Connected => self.send_request()?,
                Event::ConnectionLost { reason: error } => return Err(reason(error)),
                _ => {}
            }
        }
        self.stream.map_or(Ok(ExchangeStage::Handshake), |stream| self.read(stream))
    }
    fn take_output(&mut self) -> Option<Vec<u8>> {
        let mut datagram = Vec::new();
        self.connection.poll_transmit(Instant::now(), 1, &mut datagram).map(|_| datagram)
    }
}

fn reason(error: impl std::fmt::Display) -> String {
    format!("HTTP/3: {error}")
}
