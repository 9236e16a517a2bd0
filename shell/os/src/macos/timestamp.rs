//! Datagrams with kernel timestamps of arrival, in wall time and to a microsecond. macOS timestamps
//! no departures.
use super::message;
use super::option;
pub use crate::batch::Batch;
pub use crate::received::{Departure, QueueEntry, Received, SentStamp, Stamping};
use fathom_bsd::control::Added;
use std::io;
use std::os::fd::BorrowedFd;

/// Whether the system timestamps arriving datagrams.
pub const STAMPS_ARRIVALS: bool = true;

/// Enables timestamps of arrivals.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn enable(socket: BorrowedFd<'_>, _stamping: Stamping) -> io::Result<()> {
    option::set(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMP, 1 as libc::c_int)
}

/// Reports the traffic class of arriving datagrams.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn enable_class(socket: BorrowedFd<'_>, is_ipv6: bool) -> io::Result<()> {
    let (level, name) = if is_ipv6 {
        (libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS)
    } else {
        (libc::IPPROTO_IP, libc::IP_RECVTOS)
    };
    option::set(socket, level, name, 1 as libc::c_int)
}

/// Reports the destination, the hop limit and the traffic class of arriving datagrams.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn enable_headers(socket: BorrowedFd<'_>, is_ipv6: bool) -> io::Result<()> {
    let (level, names) = if is_ipv6 {
        (libc::IPPROTO_IPV6, [libc::IPV6_RECVPKTINFO, libc::IPV6_RECVHOPLIMIT])
    } else {
        (libc::IPPROTO_IP, [libc::IP_PKTINFO, libc::IP_RECVTTL])
    };
    names.into_iter().try_for_each(|name| option::set(socket, level, name, 1 as libc::c_int))?;
    enable_class(socket, is_ipv6)
}

/// Receives one datagram, or available stream data. Does not block.
///
/// # Errors
/// See `recvmsg(2)`; `WouldBlock` if there is nothing.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Received> {
    let (length, from, Added { stamp, to, hop_limit, class }) = message::receive(socket, buffer)?;
    Ok(Received { length, from, stamp, to, hop_limit, class })
}

/// There is nothing in the error queue of a socket: there is no such queue.
///
/// # Errors
/// `WouldBlock`.
pub fn queue_entry(_socket: BorrowedFd<'_>, _buffer: &mut [u8]) -> io::Result<QueueEntry> {
    Err(io::ErrorKind::WouldBlock.into())
}
