//! Sends datagrams from a chosen local address.
use super::message::send;
use fathom_bsd::control::{
    IP_PKTINFO, IPPROTO_IP, IPPROTO_IPV6, IPV6_PKTINFO, IPV6_TCLASS, put, source_v4, source_v6,
};
use std::io;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;

/// Sends a datagram with a traffic class (DSCP and ECN field) to `to` from the address `from` (its
/// port is ignored), on a UDP socket bound to all addresses. A host with several addresses must
/// reply from the address of the request, but the routing table may choose another.
///
/// # Errors
/// See `sendmsg(2)`; `InvalidInput` if the address families differ.
pub fn send_from(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    from: SocketAddr,
    to: SocketAddr,
    class: u8,
) -> io::Result<usize> {
    let class = u32::from(class).to_le_bytes();
    let mut control = Vec::with_capacity(64);
    match (from, to) {
        (SocketAddr::V4(from), SocketAddr::V4(_)) => {
            put(&mut control, IPPROTO_IP, IP_PKTINFO, &source_v4(*from.ip()));
            put(&mut control, IPPROTO_IP, libc::IP_TOS, &class);
        }
        (SocketAddr::V6(from), SocketAddr::V6(_)) => {
            put(&mut control, IPPROTO_IPV6, IPV6_PKTINFO, &source_v6(from));
            put(&mut control, IPPROTO_IPV6, IPV6_TCLASS, &class);
        }
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    }
    send(socket, bytes, to, &control)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::wall_now;
    use crate::poll::{self, PollFd};
    use crate::timestamp::{Stamping, enable, enable_headers, receive};
    use fathom_units::Duration;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    #[test]
    fn a_datagram_has_its_address_class_and_time() {
        for (any, here) in [("0.0.0.0:0", "127.0.0.1:0"), ("[::]:0", "[::1]:0")] {
            let (socket, other) = (UdpSocket::bind(any).unwrap(), UdpSocket::bind(here).unwrap());
            let here: SocketAddr = here.parse().unwrap();
            enable(other.as_fd(), Stamping::Arrivals).unwrap();
            enable_headers(other.as_fd(), here.is_ipv6()).unwrap();
            let before = wall_now();
            // DSCP ef with ECT(1).
            let sent = send_from(socket.as_fd(), b"hello", here, other.local_addr().unwrap(), 0xb9).unwrap();
            poll::wait(&mut [PollFd::readable(other.as_fd())], Some(Duration::from_secs(5))).unwrap();
            let mut buffer = [0; 9];
            let got = receive(other.as_fd(), &mut buffer).unwrap();
            assert_eq!((sent, &buffer[..got.length]), (5, &b"hello"[..]));
            assert_eq!((got.from.map(|from| from.ip()), got.class), (Some(here.ip()), Some(0xb9)));
            assert_eq!((got.to, got.hop_limit), (Some(here), Some(64)));
            // Timestamps have microseconds.
            assert!(
                got.stamp.is_some_and(|stamp| stamp.0 + 1_000 > before.0 && stamp <= wall_now()),
                "{got:?}"
            );
        }
    }
}
