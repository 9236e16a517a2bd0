//! Servers of other protocols for `fathom test`, selected by the scheme of a URL.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod crusader;
mod iperf3;
mod measurement_lab;
mod netperf;
mod ping;
mod tls;
mod udp;
mod web;

use fathom_client::{
    Family, Limits, LoadedBy, OpenFlow, Peer, TestConfig, TestError, receive_load, resolve_server, send_load,
};
use fathom_os::socket::congestion_control;
use fathom_protocol::measurement_lab::SpeedTest;
use fathom_units::Direction;
use rustls::ClientConfig;
use socket2::Socket;
use std::cell::OnceCell;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use url::Url;

pub use ping::{PingRequest, ping_target};
pub use tls::Trust;

/// Schemes of URLs, for people.
const SCHEMES: &str =
    "http, https, h3, crusader, iperf3, netperf, irtt, stamp, ndt7, ndt7+ws, msak or msak+ws";

/// Why a server cannot be that of the load.
const NO_LOAD: &str = "it carries no load";

/// Whether a server is given as a URL. Otherwise it runs `fathom serve`.
#[must_use]
pub fn is_url(server: &str) -> bool {
    server.contains("://")
}

/// Finds out what the server at a URL offers, and the server of the load if it is another one.
///
/// # Errors
/// If one of them cannot be reached, or cannot be used.
pub fn connect(config: &TestConfig, trust: &Trust, stop: &AtomicBool) -> Result<Arc<dyn Peer>, TestError> {
    let probed = connect_to(&config.server, config, trust, stop)?;
    Ok(match connect_load(config, trust, stop)? {
        Some(load) => Arc::new(LoadedBy { probed, load }),
        None => probed,
    })
}

/// Finds out what the server of the load offers, if it is another one.
///
/// # Errors
/// If it cannot be reached or carries no load.
pub fn connect_load(
    config: &TestConfig,
    trust: &Trust,
    stop: &AtomicBool,
) -> Result<Option<Arc<dyn Peer>>, TestError> {
    let Some(server) = &config.load else { return Ok(None) };
    let load = connect_to(server, config, trust, stop)?;
    if ![Direction::Down, Direction::Up].iter().any(|direction| load.carries(*direction)) {
        return Err(TestError::Server { server: server.clone(), problem: NO_LOAD.to_owned() });
    }
    Ok(Some(load))
}

fn connect_to(
    server: &str,
    config: &TestConfig,
    trust: &Trust,
    stop: &AtomicBool,
) -> Result<Arc<dyn Peer>, TestError> {
    let fail = |problem: String| TestError::Server { server: server.to_owned(), problem };
    let url = Url::parse(server).map_err(|e| fail(format!("invalid URL: {e}")))?;
    let limits = Limits { stop, clock: config.clock, patience: config.patience };
    let connector = Connector { family: config.family, trust, limits, tls: OnceCell::new() };
    match url.scheme() {
        "http" | "https" => Ok(Arc::new(web::connect(&url, &connector)?)),
        "h3" => Ok(Arc::new(web::connect_quic(&url, &connector)?)),
        "crusader" => Ok(Arc::new(crusader::connect(&url, config, &connector)?)),
        "iperf3" => Ok(Arc::new(iperf3::connect(&url, &connector)?)),
        "netperf" => Ok(Arc::new(netperf::connect(&url, config, &connector)?)),
        "irtt" => Ok(Arc::new(udp::irtt(&url, config, &connector)?)),
        "stamp" => Ok(Arc::new(udp::stamp(&url, &connector)?)),
        "ndt7" => Ok(Arc::new(measurement_lab::connect(SpeedTest::Ndt7, &url, true, &connector)?)),
        "ndt7+ws" => Ok(Arc::new(measurement_lab::connect(SpeedTest::Ndt7, &url, false, &connector)?)),
        "msak" => Ok(Arc::new(measurement_lab::connect(SpeedTest::Msak, &url, true, &connector)?)),
        "msak+ws" => Ok(Arc::new(measurement_lab::connect(SpeedTest::Msak, &url, false, &connector)?)),
        other => Err(fail(format!("unknown protocol \"{other}\" (expected {SCHEMES})"))),
    }
}

/// What is needed to reach a server.
struct Connector<'a> {
    family: Option<Family>,
    trust: &'a Trust,
    limits: Limits<'a>,
    /// Made when it is needed: reading the certificate authorities of a host takes a while.
    tls: OnceCell<Arc<ClientConfig>>,
}

impl Connector<'_> {
    fn tls_config(&self) -> Result<Arc<ClientConfig>, TestError> {
        if let Some(config) = self.tls.get() {
            return Ok(config.clone());
        }
        let config = tls::client_config(self.trust)?;
        Ok(self.tls.get_or_init(|| config).clone())
    }
    /// A connection to the host of `url`. `program` is what should run there.
    fn reach_host(
        &self,
        url: &Url,
        default_port: u16,
        program: &str,
    ) -> Result<(SocketAddr, Socket), TestError> {
        let fail = |problem: String| TestError::Server { server: url.to_string(), problem };
        let host = url.host_str().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| fail("no host in the URL".to_owned()))?;
        let server = format!("{host}:{}", url.port().unwrap_or(default_port));
        self.reach(&server, default_port).map_err(|error| match error {
            TestError::Refused(_) => fail(format!("refused the connection (is `{program}` running there?)")),
            other => other,
        })
    }
    /// The first address of `server` that accepts a connection, and that one; otherwise the first
    /// error.
    fn reach(&self, server: &str, default_port: u16) -> Result<(SocketAddr, Socket), TestError> {
        let mut first_error = None;
        for address in resolve_server(server, default_port, self.family)? {
            match self.limits.connect(address, |_| Ok(())) {
                Ok(socket) => return Ok((address, socket)),
                Err(error) => drop(first_error.get_or_insert(error)),
            }
        }
        Err(first_error.unwrap_or_else(|| TestError::Host("no address to connect to".to_owned())))
    }
}

/// Load without a format on a connection. The server sends with the congestion control `theirs`,
/// if it is known.
fn load_of(direction: Direction, socket: Socket, payload: &Arc<Vec<u8>>, theirs: Option<String>) -> OpenFlow {
    let socket = Arc::new(socket);
    let (on, payload) = (socket.clone(), payload.clone());
    match direction {
        Direction::Up => OpenFlow {
            congestion_control: congestion_control(&socket).ok(),
            transfer: Box::new(move |_| send_load(&on, &payload)),
            socket,
        },
        Direction::Down => OpenFlow {
            congestion_control: theirs,
            transfer: Box::new(move |meter| receive_load(&on, meter)),
            socket,
        },
    }
}
