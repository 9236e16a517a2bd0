//! Sockets for load, and calls missing from std and socket2.
use super::option;
pub use crate::common_socket::*;
pub use crate::connection::*;
use socket2::{SockAddr, Socket};
use std::io;
use std::time::Duration;

/// Source: bsd/netinet/tcp.h.
const TCP_RXT_CONNDROPTIME: libc::c_int = 0x80;
const TCP_NOTSENT_LOWAT: libc::c_int = 0x201;

/// Lets other sockets with this option have the same port.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn share_port(socket: &Socket) -> io::Result<()> {
    socket.set_reuse_port(true)
}

/// Ends a TCP connection whose data is not acknowledged for so long, in seconds.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_user_timeout(socket: &Socket, patience: Duration) -> io::Result<()> {
    let seconds = libc::c_int::try_from(patience.as_secs()).unwrap_or(libc::c_int::MAX).max(1);
    option::set(socket, libc::IPPROTO_TCP, TCP_RXT_CONNDROPTIME, seconds)
}

/// Takes no more data from the program while so many bytes are unsent.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_unsent_limit(socket: &Socket, bytes: u32) -> io::Result<()> {
    option::set(socket, libc::IPPROTO_TCP, TCP_NOTSENT_LOWAT, bytes)
}

/// Whether programs can set the traffic class of what they send.
pub const SETS_CLASS: bool = true;

/// Sets the traffic class of sent packets: DSCP and ECN field. TCP sets the latter itself.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_class(socket: &Socket, is_ipv6: bool, class: u8) -> io::Result<()> {
    let (level, name) =
        if is_ipv6 { (libc::IPPROTO_IPV6, libc::IPV6_TCLASS) } else { (libc::IPPROTO_IP, libc::IP_TOS) };
    option::set(socket, level, name, libc::c_int::from(class))
}

/// Sets the traffic class of a socket of either family.
///
/// # Errors
/// As [`set_class`].
pub fn set_flow_class(socket: &Socket, class: u8) -> io::Result<()> {
    set_class(socket, socket.local_addr().as_ref().is_ok_and(SockAddr::is_ipv6), class)
}
