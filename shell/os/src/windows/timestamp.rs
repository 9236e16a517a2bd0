//! Datagrams as they arrive. Windows timestamps none here: their time is that of reading.
pub use crate::batch::Batch;
use crate::clock::wall_now;
use crate::fd::BorrowedFd;
use crate::poll::{self, PollFd};
pub use crate::received::{Departure, QueueEntry, Received, SentStamp, Stamping};
use fathom_units::Duration;
use socket2::SockRef;
use std::io;
use std::mem::MaybeUninit;
use windows_sys::Win32::Networking::WinSock::WSAEMSGSIZE;

/// Whether the system timestamps arriving datagrams.
pub const STAMPS_ARRIVALS: bool = false;

/// Does nothing.
///
/// # Errors
/// None.
pub const fn enable(_socket: BorrowedFd<'_>, _stamping: Stamping) -> io::Result<()> {
    Ok(())
}

/// Does nothing: the traffic class of arriving datagrams is unknown.
///
/// # Errors
/// None.
pub const fn enable_class(_socket: BorrowedFd<'_>, _is_ipv6: bool) -> io::Result<()> {
    Ok(())
}

/// Does nothing: the headers of arriving datagrams are unknown.
///
/// # Errors
/// None.
pub const fn enable_headers(_socket: BorrowedFd<'_>, _is_ipv6: bool) -> io::Result<()> {
    Ok(())
}

/// Receives one datagram, or available stream data. Does not block.
///
/// # Errors
/// See `recvfrom`; `WouldBlock` if there is nothing.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Received> {
    if poll::wait(&mut [PollFd::readable(socket)], Some(Duration::ZERO))? == 0 {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    let room = buffer.len();
    // SAFETY: bytes that are initialized may be seen as such that may be not; nothing but
    // initialized bytes is written to them.
    let into = unsafe { &mut *(core::ptr::from_mut(buffer) as *mut [MaybeUninit<u8>]) };
    let (length, from) = match SockRef::from(&socket).recv_from(into) {
        // A longer datagram: its begin is there.
        Err(error) if error.raw_os_error() == Some(WSAEMSGSIZE) => (room, None),
        got => got.map(|(length, from)| (length, from.as_socket()))?,
    };
    Ok(Received { length, from, stamp: Some(wall_now()), to: None, hop_limit: None, class: None })
}

/// There is nothing in the error queue of a socket: there is no such queue.
///
/// # Errors
/// `WouldBlock`.
pub fn queue_entry(_socket: BorrowedFd<'_>, _buffer: &mut [u8]) -> io::Result<QueueEntry> {
    Err(io::ErrorKind::WouldBlock.into())
}
