//! The addresses of a name.
use fathom_os::resolvers::of_termux;
use fathom_probe::dns::{self, TYPE_A, TYPE_AAAA};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::{Duration, Instant};

const DNS_PORT: u16 = 53;
/// How long a resolver may take. The C library waits as long before it asks again (resolv.conf(5),
/// `timeout`).
const PATIENCE: Duration = Duration::from_secs(5);

/// Discard (RFC 863): nothing is sent there.
const ANY_PORT: u16 = 9;

/// The addresses of `name`, as the C library finds them. In Termux it cannot: there, its resolvers
/// are asked for those of another machine.
pub(crate) fn look_up(name: &str, port: u16, is_remote: bool) -> io::Result<Vec<SocketAddr>> {
    let mut failure = None;
    for resolver in if is_remote { of_termux() } else { Vec::new() } {
        match ask(SocketAddr::new(resolver, DNS_PORT), name) {
            Ok(mut found) => {
                found.sort_by_key(|address| !has_route(*address));
                return Ok(found.into_iter().map(|address| SocketAddr::new(address, port)).collect());
            }
            Err(error) => failure = Some(error),
        }
    }
    failure.map_or_else(|| Ok((name, port).to_socket_addrs()?.collect()), Err)
}

/// Whether this host has a route to an address.
pub(crate) fn has_route(address: IpAddr) -> bool {
    let connected = socket_to(SocketAddr::new(address, ANY_PORT));
    // There is a route to a broadcast address, too.
    connected.err().is_none_or(|error| error.kind() == ErrorKind::PermissionDenied)
}

fn socket_to(address: SocketAddr) -> io::Result<UdpSocket> {
    let any: IpAddr = if address.is_ipv4() { [0; 4].into() } else { [0; 16].into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(address)?;
    Ok(socket)
}

/// The addresses of both families.
fn ask(resolver: SocketAddr, name: &str) -> io::Result<Vec<IpAddr>> {
    dns::check_name(name).map_err(|_| ErrorKind::InvalidInput)?;
    // Only packets from this address arrive.
    let socket = socket_to(resolver)?;
    let mut found = Vec::new();
    for kind in [TYPE_AAAA, TYPE_A] {
        let mut id = [0; 2];
        getrandom::fill(&mut id).map_err(|error| io::Error::other(error.to_string()))?;
        let query = dns::query(u16::from_ne_bytes(id), name, kind);
        socket.send(&query)?;
        found.extend(response(&socket, &query)?);
    }
    Ok(found)
}

/// The addresses in the response to a query.
fn response(socket: &UdpSocket, query: &[u8]) -> io::Result<Vec<IpAddr>> {
    let until = Instant::now() + PATIENCE;
    let mut buffer = [0; 2048];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        socket.set_read_timeout(Some(left))?;
        match socket.recv(&mut buffer) {
            Ok(length) => {
                if let Some(addresses) = dns::addresses(query, &buffer[..length]) {
                    return Ok(addresses);
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(error) => return Err(error),
        }
    }
}
