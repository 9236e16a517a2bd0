//! Announces test servers on the local network, and finds them: DNS-SD (RFC 6763) over multicast
//! DNS (RFC 6762).
#![forbid(unsafe_code)]
#![deny(missing_docs)]

use mdns_sd::{Receiver, ResolvedService, ServiceDaemon, ServiceEvent, ServiceInfo};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// Service type of `fathom serve`.
const FATHOM: &str = "_fathom._tcp.local.";
/// Service type of networkQuality servers (draft-ietf-ippm-responsiveness, section 7).
const NETWORK_QUALITY: &str = "_nq._tcp.local.";
/// Property of a server that requires a token.
const TOKEN: &str = "token";
/// Servers of one type that are of use. Anybody on the network can announce any number.
const MOST_FOUND: usize = 8;
/// Wait for the daemon to withdraw an announcement.
const WITHDRAW_WAIT: Duration = Duration::from_secs(1);

/// A server that announces itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Found {
    /// The server, as `fathom test` takes it.
    pub server: String,
    /// Its name for people.
    pub name: String,
    /// Whether it requires a token.
    pub requires_token: bool,
}

/// An announcement, withdrawn when dropped.
pub struct Announcement(ServiceDaemon);

/// Announces a `fathom serve` on `port` of these addresses, under the name of this host. Without an
/// address: on all of the host, as they change.
///
/// # Errors
/// If the sockets cannot be opened, the name is not one of a host, or no other host can reach the
/// addresses.
pub fn announce(
    host: &str,
    addresses: &[IpAddr],
    port: u16,
    requires_token: bool,
) -> io::Result<Announcement> {
    // A loopback address would lead each host to itself.
    let reachable: Vec<IpAddr> = addresses.iter().copied().filter(|ip| !ip.is_loopback()).collect();
    if reachable.is_empty() && !addresses.is_empty() {
        return Err(io::ErrorKind::AddrNotAvailable.into());
    }
    let daemon = ServiceDaemon::new().map_err(io::Error::other)?;
    let properties: &[(&str, &str)] = if requires_token { &[(TOKEN, "required")] } else { &[] };
    let host_name = format!("{host}.local.");
    let service = ServiceInfo::new(FATHOM, host, &host_name, reachable.as_slice(), port, properties);
    let service = service.map_err(io::Error::other)?;
    let service = if reachable.is_empty() { service.enable_addr_auto() } else { service };
    daemon.register(service).map_err(io::Error::other)?;
    Ok(Announcement(daemon))
}

impl Drop for Announcement {
    fn drop(&mut self) {
        // Says goodbye, so that nobody tests against a server that is gone.
        if let Ok(done) = self.0.shutdown() {
            let _ = done.recv_timeout(WITHDRAW_WAIT);
        }
    }
}

/// Servers that announce themselves within `wait`: those of `fathom serve` first.
///
/// # Errors
/// If the sockets cannot be opened.
pub fn find(wait: Duration) -> io::Result<Vec<Found>> {
    let until = Instant::now() + wait;
    let daemon = ServiceDaemon::new().map_err(io::Error::other)?;
    let browse = |service| daemon.browse(service).map_err(io::Error::other);
    let (fathom, network_quality) = (browse(FATHOM)?, browse(NETWORK_QUALITY)?);
    let mut found = resolved(&fathom, until, fathom_server);
    found.extend(resolved(&network_quality, until, network_quality_server));
    let _ = daemon.shutdown();
    Ok(found)
}

/// The services that are resolved until then, by name.
fn resolved(
    events: &Receiver<ServiceEvent>,
    until: Instant,
    describe: impl Fn(&ResolvedService) -> Option<Found>,
) -> Vec<Found> {
    let mut found = Vec::new();
    while let Ok(event) = events.recv_deadline(until) {
        if let ServiceEvent::ServiceResolved(service) = event {
            found.extend(describe(&service));
        }
    }
    found.sort();
    found.dedup();
    found.truncate(MOST_FOUND);
    found
}

fn fathom_server(service: &ResolvedService) -> Option<Found> {
    Some(Found {
        server: address(service)?.to_string(),
        name: instance(service),
        requires_token: service.get_property_val_str(TOKEN).is_some(),
    })
}

fn network_quality_server(service: &ResolvedService) -> Option<Found> {
    let server = format!("https://{}/", address(service)?);
    Some(Found { server, name: instance(service), requires_token: false })
}

/// An address of another host that needs no interface: IPv4 before IPv6, which the host may not
/// route.
fn address(service: &ResolvedService) -> Option<SocketAddr> {
    let all = service.get_addresses().iter().map(|address| address.to_ip_addr());
    let usable = all.filter(|ip| match ip {
        IpAddr::V4(ip) => !ip.is_loopback(),
        IpAddr::V6(ip) => !ip.is_loopback() && !ip.is_unicast_link_local(),
    });
    Some(SocketAddr::new(usable.min()?, service.get_port()))
}

/// The name before the service type.
fn instance(service: &ResolvedService) -> String {
    let name = service.get_fullname();
    let name = name.split_once("._").map_or(name, |(name, _)| name);
    // Anybody on the network chooses it.
    name.chars().filter(|c| !c.is_control()).collect()
}
