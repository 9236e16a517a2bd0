//! Sockets, queried from sock_diag(7). Those of TCP: how much they have sent and received, and have
//! not sent.
use crate::exchange::list;
use fathom_audit::Tree;
use fathom_os::dump::Part;
use fathom_tc::attributes;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Source: linux/sock_diag.h, linux/inet_diag.h, linux/netlink.h.
mod number {
    pub(super) const SOCK_DIAG_BY_FAMILY: u16 = 20;
    pub(super) const REQUEST_DUMP: u16 = 0x301;
    pub(super) const INET_DIAG_INFO: u16 = 2;
    pub(super) const TCP: u8 = 6;
    pub(super) const UDP: u8 = 17;
    pub(super) const FAMILIES: [u8; 2] = [2, 10];
}

/// All states except listening (10), whose queues hold connections, not bytes.
const STATES: u32 = 0xfff & !(1 << 10);

/// Bytes of `struct inet_diag_req_v2`, whose last 48 identify a socket, and of
/// `struct inet_diag_msg`.
const REQUEST_BYTES: usize = 56;
const MESSAGE_BYTES: usize = 72;

/// Offsets in `struct tcp_info`, whose older versions are shorter.
mod offset {
    pub(super) const BYTES_ACKED: usize = 120;
    pub(super) const BYTES_RECEIVED: usize = 128;
    pub(super) const NOTSENT_BYTES: usize = 144;
}

/// A protocol whose sockets the kernel lists.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Transport {
    /// TCP (6).
    Tcp,
    /// UDP (17).
    Udp,
}

/// A socket that does not listen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Socket {
    /// Identifies it while it lives.
    pub(crate) cookie: u64,
    /// Identifies the file by which processes own it; 0 if none does.
    pub(crate) inode: u32,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
}

/// A TCP connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Connection {
    pub(crate) socket: Socket,
    /// Payload that was acknowledged, and that arrived, since it exists.
    pub(crate) acked_bytes: u64,
    pub(crate) received_bytes: u64,
}

/// The connections of this namespace.
pub(crate) fn connections() -> io::Result<Vec<Connection>> {
    each(Transport::Tcp, connection)
}

/// The sockets of this namespace.
pub(crate) fn sockets(transport: Transport) -> io::Result<Vec<Socket>> {
    each(transport, socket)
}

fn each<T>(transport: Transport, read: impl Fn(&[u8]) -> Option<T>) -> io::Result<Vec<T>> {
    let mut all = Vec::new();
    for family in number::FAMILIES {
        let answer = list(Part::Sockets, &request(family, transport))?;
        all.extend(answer.iter().filter_map(|part| read(&part.body)));
    }
    Ok(all)
}

/// Adds the largest amount of unsent data in a single socket of this namespace.
///
/// # Errors
/// If the kernel does not list its sockets.
pub fn add_unsent(tree: &mut Tree) -> io::Result<()> {
    let most = each(Transport::Tcp, unsent)?.into_iter().max().unwrap_or(0);
    tree.insert("replies/tcp", format!("notsent_bytes {most}\n").into_bytes());
    Ok(())
}

fn request(family: u8, transport: Transport) -> Vec<u8> {
    let length = 16 + REQUEST_BYTES as u32;
    let protocol = match transport {
        Transport::Tcp => number::TCP,
        Transport::Udp => number::UDP,
    };
    let mut bytes = Vec::from(length.to_ne_bytes());
    bytes.extend(number::SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes.extend(number::REQUEST_DUMP.to_ne_bytes());
    // Sequence number, and the kernel as receiver.
    bytes.extend([0; 8]);
    bytes.extend([family, protocol, 1 << (number::INET_DIAG_INFO - 1), 0]);
    bytes.extend(STATES.to_ne_bytes());
    bytes.resize(length as usize, 0);
    bytes
}

fn unsent(body: &[u8]) -> Option<u32> {
    bytes_at(info(body)?, offset::NOTSENT_BYTES).map(u32::from_ne_bytes)
}

/// `struct tcp_info` of a socket.
fn info(body: &[u8]) -> Option<&[u8]> {
    let found =
        attributes(body.get(MESSAGE_BYTES..)?).find(|found| found.number == number::INET_DIAG_INFO)?;
    Some(found.value)
}

/// A connection, from its socket and the attributes after it.
fn connection(body: &[u8]) -> Option<Connection> {
    let info = info(body)?;
    Some(Connection {
        socket: socket(body)?,
        acked_bytes: u64::from_ne_bytes(bytes_at(info, offset::BYTES_ACKED)?),
        received_bytes: u64::from_ne_bytes(bytes_at(info, offset::BYTES_RECEIVED)?),
    })
}

/// A socket, from its `struct inet_diag_msg`. Addresses and ports are in network byte order, all
/// else is in that of the host.
fn socket(body: &[u8]) -> Option<Socket> {
    let is_v4 = *body.first()? == number::FAMILIES[0];
    let address = |at| {
        let v4 = |bytes: [u8; 4]| IpAddr::from(Ipv4Addr::from(bytes));
        let v6 = |bytes: [u8; 16]| IpAddr::from(Ipv6Addr::from(bytes)).to_canonical();
        if is_v4 { bytes_at(body, at).map(v4) } else { bytes_at(body, at).map(v6) }
    };
    let end = |port_at, address_at| {
        let port = u16::from_be_bytes(bytes_at(body, port_at)?);
        Some(SocketAddr::new(address(address_at)?, port))
    };
    Some(Socket {
        cookie: u64::from_ne_bytes(bytes_at(body, 44)?),
        inode: u32::from_ne_bytes(bytes_at(body, 68)?),
        local: end(4, 8)?,
        remote: end(6, 24)?,
    })
}

fn bytes_at<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn connections_count_their_bytes() {
        for host in ["127.0.0.1", "::1"] {
            let listener = TcpListener::bind((host, 0)).unwrap();
            let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut far, _) = listener.accept().unwrap();
            near.write_all(&[7; 1_000]).unwrap();
            far.read_exact(&mut [0; 1_000]).unwrap();
            let all = connections().unwrap();
            let of = |stream: &TcpStream| {
                let inode = crate::processes::socket_of(stream);
                *all.iter().find(|one| Some(one.socket.inode) == inode).expect("the connection is listed")
            };
            let (local, remote) = (near.local_addr().unwrap(), near.peer_addr().unwrap());
            assert_eq!((of(&near).socket.local, of(&near).socket.remote), (local, remote));
            assert_eq!((of(&near).received_bytes, of(&far).received_bytes), (0, 1_000));
            // The SYN counts as a byte; the acknowledgment of the data may still be delayed.
            let acked = of(&near).acked_bytes;
            assert!([0, 1, 1_000, 1_001].contains(&acked), "{acked}");
        }
    }

    #[test]
    fn sockets_of_udp_are_listed() {
        let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
        let inode = crate::processes::socket_of(&socket);
        let all = sockets(Transport::Udp).unwrap();
        let found = all.iter().find(|one| Some(one.inode) == inode).expect("the socket is listed");
        assert_eq!(found.local, socket.local_addr().unwrap());
    }

    #[test]
    fn short_messages_are_no_connections() {
        let whole = [&[2_u8; MESSAGE_BYTES][..], &[0x94, 0, 2, 0], &[9; 144]].concat();
        assert!(connection(&whole).is_some(), "a tcp_info that ends before notsent_bytes");
        for length in [0, 1, 71, 72, 76, 76 + 135] {
            assert_eq!(connection(&whole[..length]), None, "{length} bytes");
        }
    }
}
