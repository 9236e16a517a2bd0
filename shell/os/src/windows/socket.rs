//! Sockets for load, and calls missing from std and socket2.
pub use crate::common_socket::*;
use socket2::Socket;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::os::windows::io::AsRawSocket;
use std::time::Duration;
use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::Networking::WinSock::{
    IPPROTO_TCP, SOCKET, TCP_MAXRT, WSAENOPROTOOPT, WSAEWOULDBLOCK, setsockopt,
};
use windows_sys::Win32::System::IO::CancelIoEx;

/// Ends a connection, and the calls of other threads that are blocked on it: later calls fail at
/// once, and those that wait are cancelled.
///
/// # Errors
/// See `shutdown`.
pub fn end_calls(socket: &Socket) -> io::Result<()> {
    let ended = socket.shutdown(Shutdown::Both);
    // SAFETY: a socket is a handle of a file, and open as long as `socket`. No request is
    // given, so all are cancelled.
    unsafe { CancelIoEx(socket.as_raw_socket() as HANDLE, core::ptr::null()) };
    ended
}

/// Starts to connect a non-blocking socket. It becomes writable when the attempt ends; `take_error`
/// returns the result.
///
/// # Errors
/// See `connect`, if it fails immediately.
pub fn start_connect(socket: &Socket, address: SocketAddr) -> io::Result<()> {
    match socket.connect(&address.into()) {
        Err(error) if error.raw_os_error() == Some(WSAEWOULDBLOCK) => Ok(()),
        other => other,
    }
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn set_segment_bytes(_socket: &Socket, _bytes: u16) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Windows does not tell the maximum segment size of a connection.
///
/// # Errors
/// Always.
pub fn segment_bytes(_socket: &Socket) -> io::Result<u32> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Lets other sockets with this option have the same port.
///
/// # Errors
/// See `setsockopt`.
pub fn share_port(socket: &Socket) -> io::Result<()> {
    socket.set_reuse_address(true)
}

/// Ends a TCP connection whose data is not acknowledged for so long.
///
/// # Errors
/// See `setsockopt`, `TCP_MAXRT`.
pub fn set_user_timeout(socket: &Socket, patience: Duration) -> io::Result<()> {
    let seconds = u32::try_from(patience.as_secs()).unwrap_or(u32::MAX).max(1).to_ne_bytes();
    // SAFETY: the option is four bytes long, which the call reads.
    let failed =
        unsafe { setsockopt(socket.as_raw_socket() as SOCKET, IPPROTO_TCP, TCP_MAXRT, seconds.as_ptr(), 4) };
    let error = io::Error::last_os_error();
    // Where the option is unknown, as in wine, the system ends the connection later.
    if failed == 0 || error.raw_os_error() == Some(WSAENOPROTOOPT) { Ok(()) } else { Err(error) }
}

/// Windows has no such limit: it takes as much as the send buffer holds.
///
/// # Errors
/// None.
pub const fn set_unsent_limit(_socket: &Socket, _bytes: u32) -> io::Result<()> {
    Ok(())
}

/// Whether programs can set the traffic class of what they send.
pub const SETS_CLASS: bool = false;

/// Sets the traffic class of sent packets: DSCP and ECN field.
///
/// # Errors
/// If it is not 0: Windows ignores what programs set (it has policies for DSCP).
pub fn set_class(_socket: &Socket, _is_ipv6: bool, class: u8) -> io::Result<()> {
    if class == 0 { Ok(()) } else { Err(no_class()) }
}

/// Sets the traffic class of a socket of either family.
///
/// # Errors
/// As [`set_class`].
pub fn set_flow_class(socket: &Socket, class: u8) -> io::Result<()> {
    set_class(socket, false, class)
}

pub(crate) fn no_class() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "Windows sends no DSCP that a program sets")
}
