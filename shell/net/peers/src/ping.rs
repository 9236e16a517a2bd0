//! Targets of `fathom ping`: a host for ICMP, or a URL whose scheme selects the probe.
use crate::tls::{Tls, TlsProbe, Trust};
use crate::web::{http2_requests, http3_requests, path_of, tls_handshake};
use crate::{Connector, udp};
use fathom_client::{
    Encrypted, Encryption, Family, Limits, PersistentRequests, PingConfig, PingProbe, PingTarget, ProbeKind,
    TestConfig, TestError, WebProbe, ping_session, resolve_server,
};
use fathom_probe::dns;
use fathom_probe::protocol::head_request;
use fathom_units::Duration;
use std::cell::OnceCell;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use url::Url;

/// Schemes of URLs, for people.
const SCHEMES: &str = "icmp, udp, tcp, tls, http, https, h2, h3, dns, stamp or irtt";
/// Longest session that is requested from an irtt server for a ping without an end.
const DAY: Duration = Duration::from_secs(24 * 3_600);

/// What is pinged, and how.
#[derive(Clone, Debug)]
pub struct PingRequest {
    /// Host, or URL.
    pub target: String,
    /// Restricts the address family; `None` takes the first address.
    pub family: Option<Family>,
    /// Token of `fathom serve`, or key of irtt.
    pub token: Option<String>,
}

/// The target of a ping. Of the servers that keep sessions, it opens one.
///
/// # Errors
/// If the name has no address, the URL is wrong, or a server refuses the session.
pub fn ping_target(
    request: &PingRequest,
    config: &PingConfig,
    trust: &Trust,
    stop: &AtomicBool,
) -> Result<PingTarget, TestError> {
    let PingRequest { target, family, token } = request;
    let fail = |problem: String| TestError::Server { server: target.clone(), problem };
    if !crate::is_url(target) {
        return Ok(plain(target, first(target, 0, *family)?, PingProbe::Icmp));
    }
    let url = Url::parse(target).map_err(|e| fail(format!("invalid URL: {e}")))?;
    let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| fail("no host".to_owned()))?;
    let at = |default: u16| format!("{host}:{}", url.port_or_known_default().unwrap_or(default));
    let address = |default| first(&at(default), default, *family);
    let limits = Limits { stop, clock: config.clock, patience: config.timeout };
    let connector = Connector { family: *family, trust, limits, tls: OnceCell::new() };
    let accepting = |default| {
        let found = resolve_server(&at(default), default, *family)?;
        accepting(&found, &connector.limits).ok_or_else(|| no_address(&at(default)))
    };
    let tls = || Tls::to(host, connector.tls_config()?);
    let authority = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    // A URL of a scheme that browsers do not know may have no path.
    let path = Some(path_of(&url)).filter(|path| path.starts_with('/')).unwrap_or_else(|| "/".to_owned());
    Ok(match url.scheme() {
        "icmp" => plain(target, first(host, 0, *family)?, PingProbe::Icmp),
        "udp" => {
            let server = at(fathom_client::DEFAULT_PORT);
            let session = ping_session(&server, *family, token.clone(), &connector.limits)?;
            PingTarget { name: target.clone(), ..session }
        }
        "stamp" | "irtt" => {
            let peer = match url.scheme() {
                "stamp" => udp::stamp(&url, &connector)?,
                _ => udp::irtt(&url, &irtt_config(request, config), &connector)?,
            };
            plain(target, fathom_client::Peer::address(&peer), PingProbe::Udp(Arc::new(peer)))
        }
        "dns" => {
            let name = match url.path().trim_matches('/') {
                "" => ".",
                name => name,
            };
            dns::check_name(name).map_err(|rule| fail(format!("invalid name (expected {rule})")))?;
            plain(target, address(53)?, PingProbe::Dns(name.to_owned()))
        }
        "tcp" => plain(target, accepting(80)?, PingProbe::Tcp),
        "tls" => {
            let web = WebProbe { tls: Some(tls_handshake(tls()?)), ..WebProbe::default() };
            plain(target, accepting(443)?, PingProbe::Web(ProbeKind::Tls, web))
        }
        "http" | "https" => {
            let encryption = (url.scheme() == "https").then(tls).transpose()?.map(|tls| -> Encryption {
                Arc::new(move || Ok(Box::new(TlsProbe(tls.start()?)) as Box<dyn Encrypted>))
            });
            let head = Some(head_request(&authority, &path));
            let web = WebProbe { request: head, is_head: true, encryption, ..WebProbe::default() };
            plain(target, accepting(80)?, PingProbe::Web(ProbeKind::Persistent, web))
        }
        "h2" | "h3" => {
            let is_datagram = url.scheme() == "h3";
            let address = if is_datagram { address(443) } else { accepting(443) }?;
            let start = match is_datagram {
                true => http3_requests(&tls()?, address, &authority, &path),
                false => http2_requests(&tls()?, &authority, &path),
            };
            let start = start.map_err(fail)?;
            plain(target, address, PingProbe::Requests(PersistentRequests { address, is_datagram, start }))
        }
        other => return Err(fail(format!("unknown protocol \"{other}\" (expected {SCHEMES})"))),
    })
}

fn plain(name: &str, address: SocketAddr, probe: PingProbe) -> PingTarget {
    PingTarget { name: name.to_owned(), address, probe, session: None }
}

/// The first address of a host.
fn first(server: &str, default_port: u16, family: Option<Family>) -> Result<SocketAddr, TestError> {
    resolve_server(server, default_port, family)?.first().copied().ok_or_else(|| no_address(server))
}

fn no_address(server: &str) -> TestError {
    TestError::Host(format!("{server}: no address"))
}

/// Of several addresses, the first that accepts a connection; if none does, the first.
fn accepting(found: &[SocketAddr], limits: &Limits<'_>) -> Option<SocketAddr> {
    let accepts = |address: &&SocketAddr| limits.connect(**address, |_| Ok(())).is_ok();
    let chosen = if found.len() > 1 { found.iter().find(accepts) } else { None };
    chosen.or(found.first()).copied()
}

/// A session for all probes of the ping.
fn irtt_config(request: &PingRequest, config: &PingConfig) -> TestConfig {
    let sending = config.count.map(|count| config.interval * u64::from(count));
    let longest = config.deadline.into_iter().chain(sending).min().unwrap_or(DAY) + config.timeout;
    let mut test = TestConfig::new(&request.target);
    test.phases.truncate(1);
    test.phases.iter_mut().for_each(|phase| phase.max = longest);
    TestConfig { token: request.token.clone(), sample_every: config.interval, ..test }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fathom_os::clock::Clock;
    use std::net::TcpListener;

    #[test]
    fn the_first_address_that_accepts_is_taken() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let open = listener.local_addr().unwrap();
        let closed = SocketAddr::from(([127, 0, 0, 2], open.port()));
        let stop = AtomicBool::new(false);
        let limits = Limits { stop: &stop, clock: Clock::start(), patience: Duration::from_secs(5) };
        for (found, expected) in [
            (&[closed, open][..], Some(open)),
            (&[open, closed], Some(open)),
            (&[closed, closed], Some(closed)),
            (&[closed], Some(closed)),
            (&[], None),
        ] {
            assert_eq!(accepting(found, &limits), expected, "{found:?}");
        }
    }
}
