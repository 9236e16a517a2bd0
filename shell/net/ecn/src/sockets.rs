//! Raw sockets for IPv4, which need CAP_NET_RAW.
use crate::EcnError;
use fathom_ecn::Route;
use fathom_os::clock::wall_now;
use fathom_os::poll::{PollFd, wait};
use fathom_units::Duration;
use socket2::{Domain, Protocol, SockAddr, SockFilter, Socket, Type};
use std::io::{self, ErrorKind, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::AsFd;

/// `ip(7)`: packets of this protocol are sent with the header that the program writes.
const IPPROTO_RAW: i32 = 255;
/// Longest packet that is read: more than an ICMP error, and segments of data are only counted.
const PACKET_BYTES: usize = 65_536;
/// Packets that are read at once.
const BATCH: usize = 64;

/// The sockets of a test.
#[derive(Debug)]
pub(crate) struct Sockets {
    route: Route,
    sender: Socket,
    segments: Socket,
    errors: Socket,
    /// They keep the ports, and the kernel from resetting the connection.
    _ports: [Socket; 2],
    buffer: Vec<u8>,
}

impl Sockets {
    /// Opens the sockets of a test of this host and TCP port.
    pub(crate) fn open(host: SocketAddrV4) -> Result<Sockets, EcnError> {
        let open = |protocol| -> io::Result<Socket> {
            let socket = Socket::new(Domain::IPV4, Type::RAW, Some(protocol))?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let sender = open(Protocol::from(IPPROTO_RAW))?;
        let segments = open(Protocol::TCP)?;
        segments.attach_filter(&from_port(host.port()))?;
        let errors = open(Protocol::ICMPV4)?;
        let own = own_address(host).map_err(|source| EcnError::Send { host: *host.ip(), source })?;
        let ports = [silent_port(own)?, silent_port(own)?];
        let [source, connection] = [port(&ports[0])?, port(&ports[1])?];
        // Other programs have other ports; packets of an earlier test have another time.
        let token = (wall_now().0 >> 16) as u16 & 0x7fff;
        let route = Route { own, host: *host.ip(), port: host.port(), source, connection, token };
        let buffer = vec![0; PACKET_BYTES];
        Ok(Sockets { route, sender, segments, errors, _ports: ports, buffer })
    }
    pub(crate) const fn route(&self) -> Route {
        self.route
    }
    /// Sends a packet with its header.
    pub(crate) fn send(&self, packet: &[u8], to: Ipv4Addr) -> Result<(), EcnError> {
        let address = SockAddr::from(SocketAddr::new(IpAddr::V4(to), 0));
        match self.sender.send_to(packet, &address) {
            Ok(_) => Ok(()),
            // A full queue loses a probe, as a path does.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(()),
            Err(source) => Err(EcnError::Send { host: to, source }),
        }
    }
    /// Waits for packets, at most this long, and reads those that have arrived.
    pub(crate) fn receive(&mut self, limit: Duration, mut take: impl FnMut(&[u8])) -> Result<(), EcnError> {
        let mut ready = [&self.segments, &self.errors].map(|socket| PollFd::readable(socket.as_fd()));
        wait(&mut ready, Some(limit))?;
        for socket in [&self.segments, &self.errors] {
            for _ in 0..BATCH {
                let mut reader = socket;
                match reader.read(&mut self.buffer) {
                    Ok(bytes) => take(&self.buffer[..bytes]),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }
}

/// The address that this host uses for packets to a host.
fn own_address(host: SocketAddrV4) -> io::Result<Ipv4Addr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.connect((*host.ip(), 9))?;
    match socket.local_addr()?.ip() {
        IpAddr::V4(own) => Ok(own),
        IpAddr::V6(_) => Err(ErrorKind::AddrNotAvailable.into()),
    }
}

/// A port whose segments the kernel drops silently.
fn silent_port(own: Ipv4Addr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.attach_filter(&[accept(0)])?;
    socket.bind(&SocketAddr::new(IpAddr::V4(own), 0).into())?;
    socket.listen(1)?;
    Ok(socket)
}

fn port(socket: &Socket) -> io::Result<u16> {
    let address = socket.local_addr()?.as_socket_ipv4().ok_or(ErrorKind::AddrNotAvailable)?;
    Ok(address.port())
}

/// `BPF_RET | BPF_K` of <linux/bpf_common.h>, as the numbers below.
const fn accept(bytes: u32) -> SockFilter {
    SockFilter::new(0x06, 0, 0, bytes)
}

/// Accepts segments from this port.
const fn from_port(port: u16) -> [SockFilter; 5] {
    [
        // X is the length of the IP header: BPF_LDX | BPF_B | BPF_MSH.
        SockFilter::new(0xb1, 0, 0, 0),
        // The source port: BPF_LD | BPF_H | BPF_IND.
        SockFilter::new(0x48, 0, 0, 0),
        // BPF_JMP | BPF_JEQ | BPF_K.
        SockFilter::new(0x15, 0, 1, port as u32),
        accept(u32::MAX),
        accept(0),
    ]
}
