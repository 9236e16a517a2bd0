//! Resolves the server name and connects.
use crate::look_up::{has_route, look_up};
use crate::{Family, TestError};
use fathom_os::clock::Clock;
use fathom_os::error::without_code;
use fathom_os::fd::AsFd;
use fathom_os::poll::{self, PollFd};
use fathom_os::socket::{set_flow_label_zero, start_connect};
use fathom_units::{Duration, Time};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};

/// Interval at which waiting code checks for a stop.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A name with these IPv4 addresses only. Where there is NAT64, the resolver adds IPv6 addresses
/// that contain them (RFC 7050, sections 2 and 3).
const IPV4_ONLY: &str = "ipv4only.arpa";
const ITS_ADDRESSES: [[u8; 4]; 2] = [[192, 0, 0, 170], [192, 0, 0, 171]];

/// Host and port of `host`, `host:port`, `[v6]:port`, `[v6]` or a bare IPv6 address.
fn split(server: &str, default_port: u16) -> Result<(String, u16), String> {
    let port_of = |text: &str| {
        text.parse::<u16>()
            .ok()
            .filter(|p| *p > 0)
            .ok_or_else(|| format!("invalid port \"{text}\" (expected a number from 1 to 65535)"))
    };
    if server.contains("://") {
        return Err("only `fathom test` takes a URL".to_owned());
    }
    if let Some(rest) = server.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or("\"[\" without \"]\"")?;
        let port = match after.strip_prefix(':') {
            Some(port) => port_of(port)?,
            None if after.is_empty() => default_port,
            None => return Err(format!("invalid port \"{after}\" after \"]\"")),
        };
        return Ok((host.to_owned(), port));
    }
    match server.split_once(':') {
        Some((host, port)) if !port.contains(':') => Ok((host.to_owned(), port_of(port)?)),
        // Two or more colons: an IPv6 address.
        _ => Ok((server.to_owned(), default_port)),
    }
}

/// Whether `host` is a name that should be that of another machine.
fn is_remote(host: &str) -> bool {
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let is_local = name == "localhost" || name.ends_with(".localhost");
    host.parse::<IpAddr>().is_err() && !is_local
}

/// The addresses with which NAT64 reaches `target`, given those of [`IPV4_ONLY`]. Without NAT64,
/// `target` itself.
fn through_nat64(target: Ipv4Addr, port: u16, known: &[SocketAddr]) -> Vec<SocketAddr> {
    let translated = |address: &SocketAddr| match address.ip() {
        IpAddr::V6(ip) => Some((translate(ip, target)?, port).into()),
        IpAddr::V4(_) => None,
    };
    let found: Vec<SocketAddr> = known.iter().filter_map(translated).collect();
    if found.is_empty() { Vec::from([(target, port).into()]) } else { found }
}

/// `known`, which contains an address of [`IPV4_ONLY`], with `target` in its place. It follows a
/// prefix of 96 to 32 bits, and omits bits 64 to 71 (RFC 6052, section 2.2).
fn translate(known: Ipv6Addr, target: Ipv4Addr) -> Option<Ipv6Addr> {
    let own = known.octets();
    [12, 8, 7, 6, 5, 4].into_iter().find_map(|start| {
        let mut places = (start..16).filter(|place| *place != 8);
        let places: [usize; 4] = std::array::from_fn(|_| places.next().unwrap_or(15));
        ITS_ADDRESSES.contains(&places.map(|place| own[place])).then(|| {
            let mut octets = own;
            places.iter().zip(target.octets()).for_each(|(place, octet)| octets[*place] = octet);
            Ipv6Addr::from(octets)
        })
    })
}

/// Whether `address` of `server`, which may be a URL, is a translation by NAT64.
pub(crate) fn is_translated(server: &str, address: SocketAddr) -> bool {
    let after_scheme = server.split_once("://").map_or(server, |(_, rest)| rest);
    let place = after_scheme.split('/').next().unwrap_or_default();
    address.is_ipv6() && split(place, 1).is_ok_and(|(host, _)| host.parse::<Ipv4Addr>().is_ok())
}

/// All addresses of `server` (`host`, `host:port`, `[v6]:port`) in the requested family, in the
/// resolver's order. Where an IPv4 address cannot be reached, its translations by NAT64.
///
/// # Errors
/// If there is none.
pub fn resolve_server(
    server: &str,
    default_port: u16,
    family: Option<Family>,
) -> Result<Vec<SocketAddr>, TestError> {
    let fail = |reason: String| TestError::Resolve { server: server.to_owned(), reason };
    let (host, port) = split(server, default_port).map_err(fail)?;
    if host.is_empty() {
        return Err(fail("empty hostname".to_owned()));
    }
    let all = match host.parse::<Ipv4Addr>() {
        Ok(literal) if family != Some(Family::V4) && !has_route(literal.into()) => {
            through_nat64(literal, port, &look_up(IPV4_ONLY, port, true).unwrap_or_default())
        }
        _ => look_up(&host, port, is_remote(&host)).map_err(|e| fail(e.to_string()))?,
    };
    let wanted = |a: &SocketAddr| match family {
        None => true,
        Some(Family::V4) => a.is_ipv4(),
        Some(Family::V6) => a.is_ipv6(),
    };
    let found: Vec<SocketAddr> = all.iter().copied().filter(wanted).collect();
    // A test of this machine would call any line good.
    if let Some(own) =
        found.first().filter(|_| found.iter().all(|a| a.ip().is_loopback()) && is_remote(&host))
    {
        return Err(fail(format!("this machine ({}): give the address to test it", own.ip())));
    }
    match (found.is_empty(), family) {
        (false, _) => Ok(found),
        (true, Some(Family::V4)) => Err(fail("no IPv4 address found".to_owned())),
        (true, Some(Family::V6)) => Err(fail("no IPv6 address found".to_owned())),
        (true, None) => Err(fail("no address found".to_owned())),
    }
}

/// Ends a wait: a stop request or a timeout.
pub struct Limits<'a> {
    /// Set to stop.
    pub stop: &'a AtomicBool,
    /// The clock of the timeout.
    pub clock: Clock,
    /// The timeout.
    pub patience: Duration,
}

impl Limits<'_> {
    /// Waits until `ready`, which waits for the given time. Returns false on timeout or stop.
    ///
    /// # Errors
    /// That of `ready`.
    pub fn wait(&self, mut ready: impl FnMut(Duration) -> io::Result<bool>, since: Time) -> io::Result<bool> {
        loop {
            let waited = self.clock.now().saturating_since(since);
            if waited >= self.patience || self.stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            if ready(LOOK_EVERY.min(self.patience.saturating_sub(waited)))? {
                return Ok(true);
            }
        }
    }
    fn gave_up(&self, address: SocketAddr, awaited: &'static str) -> TestError {
        if self.stop.load(Ordering::Relaxed) {
            TestError::Stopped
        } else {
            TestError::Timeout { address, awaited, waited: self.patience }
        }
    }
    /// Opens a connected, blocking socket. `prepare` is called before it connects.
    ///
    /// # Errors
    /// If the server does not accept the connection in time.
    pub fn connect(
        &self,
        address: SocketAddr,
        prepare: impl FnOnce(&Socket) -> io::Result<()>,
    ) -> Result<Socket, TestError> {
        let host = |e: io::Error| TestError::Host(format!("TCP socket: {e}"));
        let socket = tcp_socket(address).map_err(host)?;
        prepare(&socket).map_err(host)?;
        start_connect(&socket, address).map_err(|e| refused(address, &e))?;
        let writable = |turn| {
            let found = poll::wait(&mut [PollFd::writable(socket.as_fd())], Some(turn))?;
            Ok(found > 0)
        };
        if !self.wait(writable, self.clock.now()).map_err(host)? {
            return Err(self.gave_up(address, "TCP connection"));
        }
        if let Some(error) = socket.take_error().map_err(host)? {
            return Err(refused(address, &error));
        }
        socket.set_nonblocking(false).map_err(host)?;
        Ok(socket)
    }
    /// Waits until `socket` is readable.
    ///
    /// # Errors
    /// If it is not in time.
    pub fn readable(
        &self,
        socket: &Socket,
        address: SocketAddr,
        awaited: &'static str,
    ) -> Result<(), TestError> {
        let ready = |turn| Ok(poll::wait(&mut [PollFd::readable(socket.as_fd())], Some(turn))? > 0);
        match self.wait(ready, self.clock.now()) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.gave_up(address, awaited)),
            Err(error) => Err(TestError::Host(format!("poll: {error}"))),
        }
    }
}

/// A non-blocking TCP socket that closes with a reset.
pub(crate) fn tcp_socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_linger(Some(std::time::Duration::ZERO))?;
    if address.is_ipv6() {
        // As the probes in its flow. An old kernel sets no label.
        let _ = set_flow_label_zero(&socket);
    }
    Ok(socket)
}

fn refused(address: SocketAddr, error: &io::Error) -> TestError {
    match error.kind() {
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => TestError::Refused(address),
        ErrorKind::TimedOut => TestError::Unreachable(address, "no reply to the SYN".to_owned()),
        _ => TestError::Unreachable(address, without_code(error)),
    }
}

/// The host for an HTTP `Host` header.
pub(crate) fn host_field(address: SocketAddr) -> String {
    match address.ip() {
        IpAddr::V4(ip) => format!("{ip}:{}", address.port()),
        IpAddr::V6(ip) => format!("[{ip}]:{}", address.port()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_found_in_every_spelling() {
        let cases = [
            ("example.org", "example.org", 3279),
            ("example.org:80", "example.org", 80),
            ("192.0.2.1:5000", "192.0.2.1", 5000),
            ("2001:db8::1", "2001:db8::1", 3279),
            ("[2001:db8::1]:443", "2001:db8::1", 443),
            ("[2001:db8::1]", "2001:db8::1", 3279),
        ];
        for (text, host, port) in cases {
            assert_eq!(split(text, 3279), Ok((host.to_owned(), port)), "{text}");
        }
        for bad in ["host:0", "host:65536", "host:ssh", "[::1", "[::1]x", "host:"] {
            assert!(split(bad, 3279).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_of_other_machines_differ_from_addresses_and_localhost() {
        for (host, expected) in [
            ("speed.example.net", true),
            ("127.0.0.1", false),
            ("::1", false),
            ("LocalHost.", false),
            ("a.localhost", false),
        ] {
            assert_eq!(is_remote(host), expected, "{host}");
        }
    }

    #[test]
    fn ipv4_addresses_are_translated_with_the_prefix_that_the_resolver_reveals() {
        // The examples of RFC 6052, section 2.4, and its well-known prefix.
        let target = Ipv4Addr::new(192, 0, 2, 33);
        for (known, expected) in [
            ("2001:db8:c000:aa::", "2001:db8:c000:221::"),
            ("2001:db8:1c0:0:aa::", "2001:db8:1c0:2:21::"),
            ("2001:db8:122:c000:0:aa00::", "2001:db8:122:c000:2:2100::"),
            ("2001:db8:122:3c0:0:aa::", "2001:db8:122:3c0:0:221::"),
            ("2001:db8:122:344:c0:0:aa00::", "2001:db8:122:344:c0:2:2100::"),
            ("2001:db8:122:344::c000:ab", "2001:db8:122:344::c000:221"),
            ("64:ff9b::c000:aa", "64:ff9b::c000:221"),
        ] {
            let answer = Vec::from([known, "::ffff:1.2.3.4"].map(|a| SocketAddr::new(a.parse().unwrap(), 1)));
            let expected: SocketAddr = SocketAddr::new(expected.parse().unwrap(), 80);
            assert_eq!(through_nat64(target, 80, &answer), [expected], "{known}");
        }
        let itself = [SocketAddr::new(target.into(), 80)];
        let plain = Vec::from([SocketAddr::new(Ipv4Addr::new(192, 0, 0, 170).into(), 1)]);
        assert_eq!(through_nat64(target, 80, &plain), itself, "without NAT64");
        assert_eq!(through_nat64(target, 80, &[]), itself, "without an answer");
        assert!(has_route(Ipv4Addr::LOCALHOST.into()));
        let translation = "[64:ff9b::c000:221]:80".parse().unwrap();
        for server in ["192.0.2.33", "192.0.2.33:80", "https://192.0.2.33/x", "iperf3://192.0.2.33:80"] {
            assert!(is_translated(server, translation) && !is_translated(server, itself[0]), "{server}");
        }
        assert!(!is_translated("http://host/192.0.2.33", translation));
    }

    #[test]
    fn a_missing_family_is_named() {
        let message = |server, family| resolve_server(server, 1, Some(family)).unwrap_err().to_string();
        assert!(message("127.0.0.1", Family::V6).contains("no IPv6 address"));
        assert!(message("[::1]:9", Family::V4).contains("no IPv4 address"));
        assert!(resolve_server("", 1, None).is_err());
    }
}
