//! Servers of HTTP/1.1: any file, and the speed tests of networkQuality, Cloudflare and LibreSpeed.
mod detect;
mod link;
mod transfer;

use crate::Seeker;
use crate::tls::{Tls, TlsProbe};
use fathom_client::{
    Encrypted, Encryption, FlowPlan, Limits, OpenFlow, Peer, TestError, WebProbe, payload_bytes,
};
use fathom_probe::ProbeKind;
use fathom_probe::protocol::get_request;
use fathom_units::Direction;
use std::net::SocketAddr;
use std::sync::Arc;
use url::Url;

/// A host with its address.
#[derive(Clone)]
pub(crate) struct Site {
    pub(crate) address: SocketAddr,
    /// The `Host` field.
    pub(crate) host: String,
    pub(crate) tls: Option<Tls>,
}

/// What a server offers. Paths include the query.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Offer {
    /// Name of the protocol, for people.
    pub(crate) protocol: &'static str,
    pub(crate) download: String,
    pub(crate) upload: Option<Upload>,
    /// An object of a few bytes.
    pub(crate) small: Option<String>,
}

/// Where uploads go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Upload {
    pub(crate) path: String,
    /// Size of each request. Servers limit it.
    pub(crate) body_bytes: u64,
}

/// A server that was found.
pub(crate) struct WebPeer {
    site: Site,
    offer: Offer,
    payload: Arc<Vec<u8>>,
}

/// Finds out what is at a URL.
pub(crate) fn connect(url: &Url, seeker: &Seeker<'_>) -> Result<WebPeer, TestError> {
    let (site, offer) = detect::find(url, seeker)?;
    Ok(WebPeer { site, offer, payload: Arc::new(payload_bytes()) })
}

impl Site {
    /// The host of `url`, or another `endpoint` that answers for it, at the first address that
    /// accepts a connection.
    pub(crate) fn of(url: &Url, endpoint: Option<&str>, seeker: &Seeker<'_>) -> Result<Site, TestError> {
        let fail = |problem: String| TestError::Server { server: url.to_string(), problem };
        let name = url.host_str().ok_or_else(|| fail("no host in the URL".to_owned()))?;
        let port = url.port_or_known_default().ok_or_else(|| fail("no port in the URL".to_owned()))?;
        let host = url.port().map_or_else(|| name.to_owned(), |given| format!("{name}:{given}"));
        let tls = (url.scheme() == "https").then(|| Tls::to(name, seeker.trust)).transpose()?;
        let endpoint = endpoint.map_or_else(|| format!("{name}:{port}"), ToOwned::to_owned);
        let address = seeker.reach(&endpoint, port).map_err(|error| match error {
            TestError::Refused(address) => fail(format!("{address} refused the connection")),
            other => other,
        })?;
        Ok(Site { address, host, tls })
    }
}

impl Peer for WebPeer {
    fn protocol(&self) -> &'static str {
        self.offer.protocol
    }
    fn address(&self) -> SocketAddr {
        self.site.address
    }
    fn carries(&self, direction: Direction) -> bool {
        direction == Direction::Down || self.offer.upload.is_some()
    }
    fn probes(&self) -> Vec<ProbeKind> {
        let mut kinds = vec![ProbeKind::Icmp, ProbeKind::Connect];
        kinds.extend(self.offer.small.is_some().then_some(ProbeKind::Persistent));
        kinds
    }
    fn web_probe(&self) -> Option<WebProbe> {
        let request = self.offer.small.as_ref().map(|path| get_request(&self.site.host, path));
        let encryption = self.site.tls.clone().map(|tls| -> Encryption {
            Arc::new(move || Ok(Box::new(TlsProbe(tls.start()?)) as Box<dyn Encrypted>))
        });
        Some(WebProbe { request, encryption })
    }
    fn open(&self, flow: &FlowPlan, limits: &Limits<'_>) -> Result<OpenFlow, String> {
        let socket = limits.connect(self.site.address, |s| flow.prepare(s)).map_err(|e| e.to_string())?;
        let socket = Arc::new(socket);
        let link = link::Link::new(socket.clone(), self.site.tls.as_ref())?;
        let host = self.site.host.clone();
        Ok(match (flow.direction, self.offer.upload.clone()) {
            (Direction::Down, _) => {
                let request = get_request(&host, &self.offer.download);
                let transfer = Box::new(move |received: &_| transfer::download(link, &request, received));
                OpenFlow { socket, congestion_control: None, transfer }
            }
            (Direction::Up, Some(upload)) => {
                let payload = self.payload.clone();
                let used = fathom_os::socket::congestion_control(&socket);
                let transfer = Box::new(move |_: &_| transfer::upload(link, &host, &upload, &payload));
                OpenFlow { socket, congestion_control: used.ok(), transfer }
            }
            (Direction::Up, None) => return Err("the server takes no uploads".to_owned()),
        })
    }
}
