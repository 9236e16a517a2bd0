//! Sends datagrams of a socket that is bound to all addresses.
use crate::fd::BorrowedFd;
use socket2::SockRef;
use std::io;
use std::net::SocketAddr;

/// Sends a datagram to `to`. The routing table chooses the address that it comes from, and its
/// traffic class is 0: Windows ignores what programs set.
///
/// # Errors
/// See `sendto`; `InvalidInput` if the address families differ.
pub fn send_from(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    from: SocketAddr,
    to: SocketAddr,
    _class: u8,
) -> io::Result<usize> {
    if from.is_ipv6() != to.is_ipv6() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    SockRef::from(&socket).send_to(bytes, &to.into())
}
