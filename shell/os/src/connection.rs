//! Calls for TCP connections that are the same on Linux and macOS.
use socket2::Socket;
use std::io;
use std::net::{Shutdown, SocketAddr};

/// Ends a connection, and the calls of other threads that are blocked on it.
///
/// # Errors
/// See `shutdown(2)`.
pub fn end_calls(socket: &Socket) -> io::Result<()> {
    socket.shutdown(Shutdown::Both)
}

/// Starts to connect a non-blocking socket. It becomes writable when the attempt ends; `take_error`
/// returns the result.
///
/// # Errors
/// See `connect(2)`, if it fails immediately.
pub fn start_connect(socket: &Socket, address: SocketAddr) -> io::Result<()> {
    match socket.connect(&address.into()) {
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(()),
        other => other,
    }
}

/// Sets the maximum segment size that a TCP socket announces, and its own.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_segment_bytes(socket: &Socket, bytes: u16) -> io::Result<()> {
    socket.set_tcp_mss(bytes.into())
}

/// The maximum segment size of a TCP connection.
///
/// # Errors
/// See `getsockopt(2)`.
pub fn segment_bytes(socket: &Socket) -> io::Result<u32> {
    socket.tcp_mss()
}
