//! The speed tests ndt7 and msak of Measurement Lab, on its servers or any other.
mod transfer;

use crate::Connector;
use crate::web::{Origin, Stream, fetch};
use fathom_client::{FlowPlan, Limits, OpenFlow, Peer, Terms, TestError, WebProbe, payload_bytes};
use fathom_os::socket::congestion_control;
use fathom_probe::ProbeKind;
use fathom_protocol::measurement_lab::{Located, SpeedTest, locate};
use fathom_units::{Direction, Duration, PerDirection};
use std::net::SocketAddr;
use std::sync::Arc;
use tungstenite::Bytes;
use url::Url;

/// Payload of a message. An ndt7 server accepts 1 KiB to 16 MiB.
const MESSAGE_BYTES: usize = 1 << 16;
/// Identifies the client, as the provider asks (ndt7, section 1).
const CLIENT: &str = concat!("client_name=fathom&client_version=", env!("CARGO_PKG_VERSION"));
/// Terms of Measurement Lab's own servers: a test has one flow per direction and lasts 10 s (ndt7,
/// sections 2 and 3).
const PUBLIC_TERMS: Terms = Terms {
    one_flow: true,
    longest_load: Some(Duration::from_secs(10)),
    longest_test: None,
    shortest_interval: None,
};

/// A server of one of the tests.
pub(crate) struct LabPeer {
    test: SpeedTest,
    origin: Origin,
    /// URLs with the parameters of the server, such as tokens.
    urls: PerDirection<Url>,
    /// Name of this test.
    id: String,
    terms: Terms,
    payload: Bytes,
}

/// The server at `SCHEME://HOST:PORT`, with or without TLS; without a host, Measurement Lab's
/// nearest server.
pub(crate) fn connect(
    test: SpeedTest,
    url: &Url,
    encrypted: bool,
    connector: &Connector<'_>,
) -> Result<LabPeer, TestError> {
    let fail = |problem: String| TestError::Server { server: url.to_string(), problem };
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|e| TestError::Host(format!("random numbers: {e}")))?;
    let (origin, urls, terms) = match url.host_str().filter(|host| !host.is_empty()) {
        None => nearest(test, connector)?,
        Some(host) => {
            let scheme = if encrypted { "wss" } else { "ws" };
            let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
            let base = Url::parse(&format!("{scheme}://{host}{port}/")).map_err(|e| fail(e.to_string()))?;
            let at = |direction| base.join(test.path(direction)).map_err(|e| fail(e.to_string()));
            let urls = PerDirection { up: at(Direction::Up)?, down: at(Direction::Down)? };
            let origin = Origin::of(&base, None, connector).map_err(|error| match error {
                // Names the URL that the user gave.
                TestError::Server { problem, .. } => fail(problem),
                other => other,
            })?;
            (origin, urls, Terms::default())
        }
    };
    let payload = Bytes::from(payload_bytes()).slice(..MESSAGE_BYTES);
    let id = format!("fathom-{:016x}", u64::from_le_bytes(random));
    Ok(LabPeer { test, origin, urls, id, terms, payload })
}

/// The first server that Locate names and that accepts a connection.
fn nearest(
    test: SpeedTest,
    connector: &Connector<'_>,
) -> Result<(Origin, PerDirection<Url>, Terms), TestError> {
    let fail = |problem: String| TestError::Server { server: test.locate_url().to_owned(), problem };
    let url = Url::parse(test.locate_url()).map_err(|e| fail(e.to_string()))?;
    let servers = locate(&fetch(&url, connector)?, test).map_err(fail)?;
    let mut first_error = None;
    for Located { download, upload, .. } in servers {
        let (Ok(down), Ok(up)) = (Url::parse(&download), Url::parse(&upload)) else { continue };
        match Origin::of(&down, None, connector) {
            Ok(origin) => return Ok((origin, PerDirection { up, down }, PUBLIC_TERMS)),
            Err(error) => drop(first_error.get_or_insert(error)),
        }
    }
    Err(first_error.unwrap_or_else(|| fail(format!("no server for {} now", test.name()))))
}

impl LabPeer {
    /// The URL of a flow.
    fn url_of(&self, flow: &FlowPlan) -> Url {
        let mut url = self.urls[flow.direction].clone();
        // The server needs the number of streams for its records only.
        let own = self.test.query(&self.id, 1, &flow.congestion_control);
        let parameters = [url.query().unwrap_or(""), &own, CLIENT];
        let query = parameters.iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("&");
        url.set_query(Some(&query));
        url
    }
}

impl Peer for LabPeer {
    fn protocol(&self) -> &'static str {
        self.test.name()
    }
    fn address(&self) -> SocketAddr {
        self.origin.address
    }
    fn carries(&self, _direction: Direction) -> bool {
        true
    }
    fn terms(&self) -> Terms {
        self.terms
    }
    fn probes(&self) -> Vec<ProbeKind> {
        vec![ProbeKind::Icmp, ProbeKind::Connect]
    }
    fn web_probe(&self) -> Option<WebProbe> {
        Some(WebProbe::default())
    }
    fn open(&self, flow: &FlowPlan, limits: &Limits<'_>) -> Result<OpenFlow, String> {
        let socket = limits.connect(self.origin.address, |s| flow.prepare(s)).map_err(|e| e.to_string())?;
        let socket = Arc::new(socket);
        let stream = Stream::new(socket.clone(), self.origin.tls.as_ref())?;
        let request = transfer::request(&self.url_of(flow), self.test.subprotocol())?;
        let (on, payload) = (socket.clone(), self.payload.clone());
        Ok(match flow.direction {
            Direction::Down => OpenFlow {
                socket,
                congestion_control: None,
                transfer: Box::new(move |meter| transfer::download(stream, request, meter)),
            },
            Direction::Up => OpenFlow {
                congestion_control: congestion_control(&socket).ok(),
                socket,
                transfer: Box::new(move |_| transfer::upload(stream, &on, request, &payload)),
            },
        })
    }
}
