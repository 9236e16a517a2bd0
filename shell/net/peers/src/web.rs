//! Web servers: any file, and the speed tests of networkQuality, Cloudflare and LibreSpeed.
mod detect;
mod http3;
mod multiplexed;
mod quic_load;
mod request;
mod stream;
mod transfer;

use crate::Connector;
use crate::tls::{Tls, TlsProbe, cause};
pub(crate) use detect::{fetch, path_of};
use fathom_client::{
    Encrypted, Encryption, FlowPlan, HttpExchange, Limits, OpenFlow, Peer, StartExchange, StartRequests,
    TestError, WebProbe, payload_bytes, udp_socket,
};
use fathom_os::local;
use fathom_os::socket::set_class;
use fathom_probe::ProbeKind;
use fathom_probe::protocol::{AGENT, get_request};
use fathom_units::Direction;
pub(crate) use http3::requests as http3_requests;
use socket2::SockRef;
use std::net::SocketAddr;
use std::sync::Arc;
pub(crate) use stream::Stream;
use url::Url;

/// Why a server sends no load by HTTP/3. One that is no speed test is not asked.
const NO_HTTP3: &str = "no speed test with HTTP/3 (Alt-Svc)";

/// A handshake on a new connection.
pub(crate) fn tls_handshake(tls: Tls) -> StartExchange {
    request::over_tls(tls, None)
}

/// Requests of a path of a host by HTTP/2 on one connection.
pub(crate) fn http2_requests(tls: &Tls, host: &str, path: &str) -> Result<StartRequests, String> {
    Ok(request::requests(tls, multiplexed::uri(host, path)?))
}

/// A host with its address and port, and whether it requires TLS.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) address: SocketAddr,
    /// The `Host` field.
    pub(crate) host: String,
    pub(crate) tls: Option<Tls>,
}

/// What a server can be requested for. Paths include the query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Endpoints {
    /// Name of the protocol, for people.
    pub(crate) protocol: &'static str,
    pub(crate) download: String,
    pub(crate) upload: Option<Upload>,
    /// An object of a few bytes.
    pub(crate) small: Option<String>,
    /// Whether the draft of responsiveness applies, which demands HTTP/2.
    pub(crate) is_responsiveness: bool,
}

/// Where uploads go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Upload {
    pub(crate) path: String,
    /// Size of each request. Servers limit it.
    pub(crate) body_bytes: u64,
}

/// A server with its endpoints.
pub(crate) struct WebPeer {
    origin: Origin,
    endpoints: Endpoints,
    /// TLS with which the server speaks HTTP/2, for probes on new connections and, where the draft
    /// applies, for downloads with probes. Uploads use HTTP/1.1, because the windows of a server's
    /// HTTP/2 may limit them.
    http2: Option<Tls>,
    /// Port of HTTP/3, if the server offers it.
    http3_port: Option<u16>,
    /// Downloads use HTTP/3, and there are no uploads.
    is_quic: bool,
    payload: Arc<Vec<u8>>,
}

/// Finds out what is at a URL.
pub(crate) fn connect(url: &Url, connector: &Connector<'_>) -> Result<WebPeer, TestError> {
    let (origin, endpoints) = detect::find(url, connector)?;
    let http2 = if endpoints.small.is_some() { detect::http2(&origin, connector)? } else { None };
    let http3_port = endpoints.small.as_ref().and_then(|path| detect::http3_port(&origin, path, connector));
    let payload = Arc::new(payload_bytes());
    Ok(WebPeer { origin, endpoints, http2, http3_port, is_quic: false, payload })
}

/// Finds out what is at a URL, for downloads over HTTP/3.
pub(crate) fn connect_quic(url: &Url, connector: &Connector<'_>) -> Result<WebPeer, TestError> {
    let fail = |problem: &str| TestError::Server { server: url.to_string(), problem: problem.to_owned() };
    let of_tcp = url.as_str().replacen("h3:", "https:", 1);
    let of_tcp = Url::parse(&of_tcp).map_err(|error| fail(&format!("invalid URL: {error}")))?;
    let peer = connect(&of_tcp, connector)?;
    if peer.http3_port.is_none() {
        return Err(fail(NO_HTTP3));
    }
    Ok(WebPeer { is_quic: true, ..peer })
}

impl Origin {
    /// The host of `url`, or another `endpoint` that answers for it, at the first address that
    /// accepts a connection.
    pub(crate) fn of(
        url: &Url,
        endpoint: Option<&str>,
        connector: &Connector<'_>,
    ) -> Result<Origin, TestError> {
        let fail = |problem: String| TestError::Server { server: url.to_string(), problem };
        // Each of the schemes has a default port.
        let place = url.host_str().zip(url.port_or_known_default());
        let (name, port) = place.ok_or_else(|| fail("no host in the URL".to_owned()))?;
        let host = url.port().map_or_else(|| name.to_owned(), |given| format!("{name}:{given}"));
        let tls = matches!(url.scheme(), "https" | "wss")
            .then(|| Tls::to(name, connector.tls_config()?))
            .transpose()?;
        let endpoint = endpoint.map_or_else(|| format!("{name}:{port}"), ToOwned::to_owned);
        let (address, _) = connector.reach(&endpoint, port).map_err(|error| match error {
            TestError::Refused(address) => fail(format!("{address} refused the connection")),
            other => other,
        })?;
        Ok(Origin { address, host, tls })
    }
}

impl WebPeer {
    /// A request on a new connection with TLS, by HTTP/2 if the server speaks it.
    fn tls_probe(&self, request: Option<Vec<u8>>) -> Option<StartExchange> {
        let (host, small) = (&self.origin.host, self.endpoints.small.as_ref());
        let uri = small.and_then(|path| multiplexed::uri(host, path).ok());
        if let Some((tls, uri)) = self.http2.clone().zip(uri) {
            return Some(request::over_tls(tls, Some(request::http2(uri))));
        }
        let request = request.map(|bytes| -> StartExchange {
            Arc::new(move || Ok(Box::new(HttpExchange::new(bytes.clone()))))
        });
        Some(request::over_tls(self.origin.tls.clone()?, request))
    }
    /// A download over HTTP/3. The socket of the flow only ends it: QUIC has no TCP_INFO.
    fn open_quic(&self, flow: &FlowPlan, limits: &Limits<'_>) -> Result<OpenFlow, String> {
        let (Some(port), Some(tls), Some(small)) = (self.http3_port, &self.origin.tls, &self.endpoints.small)
        else {
            return Err(NO_HTTP3.to_owned());
        };
        let address = SocketAddr::new(self.origin.address.ip(), port);
        let socket = udp_socket(address).map_err(|error| cause(&error))?;
        set_class(&SockRef::from(&socket), address.is_ipv6(), flow.class).map_err(|error| cause(&error))?;
        let (stop, ended) = local::pair().map_err(|error| cause(&error))?;
        // The wait for the handshake ends first, with a better reason.
        let idle = Some(limits.patience * 2);
        let get = |path: &str| fathom_protocol::http3::get(&self.origin.host, path, AGENT);
        let download = quic_load::Download {
            plan: http3::QuicPlan::new(tls, address, idle)?,
            socket,
            stop: ended,
            large: get(&self.endpoints.download),
            small: get(small),
            patience: limits.patience,
            clock: limits.clock,
        };
        let transfer = Box::new(move |meter: &_| download.run(meter));
        Ok(OpenFlow { socket: Arc::new(stop.into()), congestion_control: None, transfer })
    }
}

impl Peer for WebPeer {
    fn protocol(&self) -> &'static str {
        self.endpoints.protocol
    }
    fn address(&self) -> SocketAddr {
        self.origin.address
    }
    fn carries(&self, direction: Direction) -> bool {
        direction == Direction::Down || (self.endpoints.upload.is_some() && !self.is_quic)
    }
    fn probes(&self) -> Vec<ProbeKind> {
        let mut kinds = vec![ProbeKind::Icmp, ProbeKind::Connect];
        kinds.extend(self.endpoints.small.is_some().then_some(ProbeKind::Persistent));
        kinds.extend(self.origin.tls.is_some().then_some(ProbeKind::Tls));
        kinds.extend(self.http3_port.map(|_| ProbeKind::Http3));
        kinds
    }
    fn web_probe(&self) -> Option<WebProbe> {
        let request = self.endpoints.small.as_ref().map(|path| get_request(&self.origin.host, path));
        let encryption = self.origin.tls.clone().map(|tls| -> Encryption {
            Arc::new(move || Ok(Box::new(TlsProbe(tls.start()?)) as Box<dyn Encrypted>))
        });
        let http3 = self.http3_port.zip(self.endpoints.small.as_ref());
        let http3 = http3.and_then(|(port, path)| http3::probe(&self.origin, port, path));
        let tls = self.tls_probe(request.clone());
        Some(WebProbe { tls, request, is_head: false, encryption, http3 })
    }
    fn loads_by_quic(&self) -> bool {
        self.is_quic
    }
    fn open(&self, flow: &FlowPlan, limits: &Limits<'_>) -> Result<OpenFlow, String> {
        if self.is_quic {
            return self.open_quic(flow, limits);
        }
        let socket = limits.connect(self.origin.address, |s| flow.prepare(s)).map_err(|e| e.to_string())?;
        if let (Direction::Down, Some(tls), Some(small)) =
            (flow.direction, &self.http2, &self.endpoints.small)
            && self.endpoints.is_responsiveness
        {
            let download = multiplexed::Download {
                socket: socket.try_clone().map_err(|e| cause(&e))?,
                tls: tls.clone(),
                host: self.origin.host.clone(),
                large: self.endpoints.download.clone(),
                small: small.clone(),
                clock: limits.clock,
            };
            let transfer = Box::new(move |meter: &_| download.run(meter));
            return Ok(OpenFlow { socket: Arc::new(socket), congestion_control: None, transfer });
        }
        let socket = Arc::new(socket);
        let stream = Stream::new(socket.clone(), self.origin.tls.as_ref())?;
        let host = self.origin.host.clone();
        Ok(match (flow.direction, self.endpoints.upload.clone()) {
            (Direction::Down, _) => {
                let request = get_request(&host, &self.endpoints.download);
                let transfer = Box::new(move |meter: &_| transfer::download(stream, &request, meter));
                OpenFlow { socket, congestion_control: None, transfer }
            }
            (Direction::Up, Some(upload)) => {
                let payload = self.payload.clone();
                let used = fathom_os::socket::congestion_control(&socket);
                let transfer = Box::new(move |_: &_| transfer::upload(stream, &host, &upload, &payload));
                OpenFlow { socket, congestion_control: used.ok(), transfer }
            }
            (Direction::Up, None) => return Err("the server takes no uploads".to_owned()),
        })
    }
}
