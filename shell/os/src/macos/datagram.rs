//! Sends datagrams from a chosen local address.
use super::message::send;
use crate::bsd::control::{
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
