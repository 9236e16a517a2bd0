//! Opens the TCP and UDP listeners.
use crate::config::{Config, ServerError};
use fathom_os::fd::AsFd;
use fathom_os::socket::{set_flow_label_zero, set_user_timeout, share_port};
use fathom_os::timestamp::{Stamping, enable, enable_headers};
use socket2::{Domain, Protocol, Socket, TcpKeepalive, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

/// Length of the accept queue: enough for many clients at once with 20 connections per second each.
const BACKLOG: i32 = 1024;
/// Attempts to find a port that is free for both TCP and UDP.
const PORT_ATTEMPTS: u32 = 16;

pub(crate) struct Listening {
    pub(crate) tcp: Vec<Socket>,
    /// Of iperf3.
    pub(crate) iperf3: Vec<Socket>,
    /// Of its streams of UDP.
    pub(crate) iperf3_udp: Vec<Socket>,
    #[cfg(feature = "web")]
    /// Of the web server.
    pub(crate) web: Vec<Socket>,
    pub(crate) udp: Vec<Socket>,
    pub(crate) irtt: Vec<Socket>,
    pub(crate) stamp: Vec<Socket>,
    pub(crate) port: u16,
    pub(crate) addresses: Vec<IpAddr>,
}

pub(crate) fn listen(config: &Config) -> Result<Listening, ServerError> {
    let mut attempts = 1..PORT_ATTEMPTS;
    loop {
        match listen_once(config) {
            Err(ServerError::Listen { error, .. })
                if config.port == 0
                    && error.kind() == io::ErrorKind::AddrInUse
                    && attempts.next().is_some() => {}
            outcome => return outcome,
        }
    }
}

fn listen_once(config: &Config) -> Result<Listening, ServerError> {
    let all = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
    let wanted: &[IpAddr] = if config.listen.is_empty() { &all } else { &config.listen };
    let mut listening = Listening {
        tcp: Vec::new(),
        iperf3: Vec::new(),
        iperf3_udp: Vec::new(),
        #[cfg(feature = "web")]
        web: Vec::new(),
        udp: Vec::new(),
        irtt: Vec::new(),
        stamp: Vec::new(),
        port: config.port,
        addresses: Vec::new(),
    };
    for ip in wanted.iter().filter(|ip| !config.listen.is_empty() || has_family(**ip)) {
        // The first socket may choose a free port; the others use the same one.
        let address = SocketAddr::new(*ip, listening.port);
        let refused = |transport| move |error| ServerError::Listen { address, transport, error };
        let tcp = tcp_listener(address, config).map_err(refused("TCP"))?;
        listening.port = port_of(&tcp).map_err(refused("TCP"))?;
        let same_port = SocketAddr::new(*ip, listening.port);
        let udp_refused = |error| ServerError::Listen { address: same_port, transport: "UDP", error };
        listening.udp.push(udp_socket(same_port).map_err(udp_refused)?);
        listening.tcp.push(tcp);
        if let Some(port) = config.iperf3_port {
            listening.iperf3.push(other_listener(*ip, port, config)?);
        }
        #[cfg(feature = "web")]
        if let Some(port) = config.web.as_ref().and_then(|web| web.port) {
            listening.web.push(other_listener(*ip, port, config)?);
        }
        for (port, sockets) in [
            (config.iperf3_port, &mut listening.iperf3_udp),
            (config.irtt_port, &mut listening.irtt),
            (config.stamp_port, &mut listening.stamp),
        ] {
            let Some(port) = port else { continue };
            let other = SocketAddr::new(*ip, port);
            let of_other = |error| ServerError::Listen { address: other, transport: "UDP", error };
            sockets.push(udp_socket(other).map_err(of_other)?);
        }
        listening.addresses.extend(reachable(*ip));
    }
    if listening.tcp.is_empty() {
        return Err(ServerError::NoFamily);
    }
    if listening.addresses.is_empty() {
        listening.addresses.push(Ipv4Addr::LOCALHOST.into());
    }
    Ok(listening)
}

fn other_listener(ip: IpAddr, port: u16, config: &Config) -> Result<Socket, ServerError> {
    let address = SocketAddr::new(ip, port);
    let refused = |error| ServerError::Listen { address, transport: "TCP", error };
    tcp_listener(address, config).map_err(refused)
}

/// A kernel without IPv6 (or IPv4) refuses the socket.
fn has_family(ip: IpAddr) -> bool {
    Socket::new(domain(ip), Type::DGRAM, None).is_ok()
}

fn domain(ip: IpAddr) -> Domain {
    if ip.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 }
}

fn socket(address: SocketAddr, kind: Type, protocol: Protocol) -> io::Result<Socket> {
    let socket = Socket::new(domain(address.ip()), kind, Some(protocol))?;
    // One socket per family, so that IPv4 addresses never appear as IPv4-mapped IPv6 addresses.
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// A listener; accepted sockets inherit its options.
fn tcp_listener(address: SocketAddr, config: &Config) -> io::Result<Socket> {
    let socket = socket(address, Type::STREAM, Protocol::TCP)?;
    socket.set_reuse_address(true)?;
    let patience = Duration::from_nanos(config.patience.as_nanos()).max(Duration::from_secs(2));
    let step = Duration::from_secs((patience.as_secs() / 3).max(1));
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(step).with_interval(step))?;
    set_user_timeout(&socket, patience)?;
    // Responses to pipelined requests must not wait for acknowledgments (Nagle).
    socket.set_tcp_nodelay(true)?;
    if address.is_ipv6() {
        // As the probes in its flows. An old kernel sets no label.
        let _ = set_flow_label_zero(&socket);
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket)
}

fn udp_socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = socket(address, Type::DGRAM, Protocol::UDP)?;
    // For the sockets of flows, see `datagrams::connected`.
    share_port(&socket)?;
    socket.bind(&address.into())?;
    // If the kernel refuses, the time of reading is used instead.
    let _ = enable(socket.as_fd(), Stamping::Arrivals);
    // Otherwise the kernel chooses the source of replies.
    let _ = enable_headers(socket.as_fd(), address.is_ipv6());
    Ok(socket)
}

fn port_of(socket: &Socket) -> io::Result<u16> {
    let address = socket.local_addr()?.as_socket();
    Ok(address.map_or(0, |a| a.port()))
}

/// `ip`; for the unspecified address, the source address that this host would use toward the
/// Internet. Nothing is sent.
fn reachable(ip: IpAddr) -> Option<IpAddr> {
    if !ip.is_unspecified() {
        return Some(ip);
    }
    // Documentation addresses (RFC 5737 and RFC 3849).
    let nobody: IpAddr = match ip {
        IpAddr::V4(_) => Ipv4Addr::new(192, 0, 2, 1).into(),
        IpAddr::V6(_) => Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into(),
    };
    let socket = UdpSocket::bind(SocketAddr::new(ip, 0)).ok()?;
    socket.connect(SocketAddr::new(nobody, 9)).ok()?;
    Some(socket.local_addr().ok()?.ip())
}
