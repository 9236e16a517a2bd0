//! Sockets for load, and calls missing from std and socket2.
use crate::fd::BorrowedFd;
use fathom_units::Rate;
use socket2::{SockRef, Socket};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::{Shutdown, SocketAddr};
use std::os::windows::io::AsRawSocket;
use std::time::Duration;
use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::Networking::WinSock::{IPPROTO_TCP, SOCKET, TCP_MAXRT, WSAEWOULDBLOCK, setsockopt};
use windows_sys::Win32::System::IO::CancelIoEx;

/// Bytes that are read into a buffer on the stack and discarded.
const DISCARDED_BYTES: usize = 64 * 1024;

/// Bytes that are sent again and again.
#[derive(Debug)]
pub struct MemoryFile(Vec<u8>);

impl MemoryFile {
    /// A file with `bytes`.
    ///
    /// # Errors
    /// None.
    pub fn new(bytes: &[u8]) -> io::Result<MemoryFile> {
        Ok(MemoryFile(bytes.to_vec()))
    }
    /// Sends up to `length` bytes from `offset` to `socket`.
    ///
    /// # Errors
    /// See `send`.
    pub fn send(&self, socket: BorrowedFd<'_>, offset: u64, length: usize) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.0.len());
        let end = start.saturating_add(length).min(self.0.len());
        SockRef::from(&socket).send(&self.0[start..end])
    }
}

/// Discards up to `length` bytes from a TCP socket. Waits for the first byte if the socket blocks.
/// Returns 0 at the end of the stream.
///
/// # Errors
/// See `recv`.
pub fn discard(socket: BorrowedFd<'_>, length: usize) -> io::Result<usize> {
    let mut buffer = [MaybeUninit::<u8>::uninit(); DISCARDED_BYTES];
    SockRef::from(&socket).recv(&mut buffer[..length.min(DISCARDED_BYTES)])
}

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

/// Closes a connection with a reset; unsent data is discarded.
///
/// # Errors
/// See `setsockopt`; the socket is closed in any case.
pub fn reset(socket: Socket) -> io::Result<()> {
    socket.set_linger(Some(Duration::ZERO))
}

/// Refuses: Windows has one congestion control for all connections.
///
/// # Errors
/// Always.
pub fn set_congestion_control(_socket: &Socket, _name: &str) -> io::Result<String> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Windows does not tell programs its congestion control.
///
/// # Errors
/// Always.
pub fn congestion_control(_socket: &Socket) -> io::Result<String> {
    Err(io::ErrorKind::Unsupported.into())
}

/// None that a program could choose.
#[must_use]
pub const fn congestion_controls() -> Vec<String> {
    Vec::new()
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
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Windows has no such limit: it takes as much as the send buffer holds.
///
/// # Errors
/// None.
pub const fn set_unsent_limit(_socket: &Socket, _bytes: u32) -> io::Result<()> {
    Ok(())
}

/// Refuses.
///
/// # Errors
/// Always.
pub fn set_pacing_rate(_socket: &Socket, _rate: Rate) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Sets the receive buffer to `bytes`.
///
/// # Errors
/// See `setsockopt`.
pub fn set_receive_buffer(socket: &Socket, bytes: u32) -> io::Result<()> {
    socket.set_recv_buffer_size(bytes as usize)
}

/// Sets the send buffer to `bytes`.
///
/// # Errors
/// See `setsockopt`.
pub fn set_send_buffer(socket: &Socket, bytes: u32) -> io::Result<()> {
    socket.set_send_buffer_size(bytes as usize)
}

/// Does nothing: there are no ICMP errors to queue.
///
/// # Errors
/// None.
pub const fn queue_errors(_socket: &Socket, _is_ipv6: bool) -> io::Result<()> {
    Ok(())
}

/// Sets the six DSCP bits of sent packets.
///
/// # Errors
/// As [`set_class`].
pub fn set_dscp(socket: &Socket, is_ipv6: bool, dscp: u8) -> io::Result<()> {
    set_class(socket, is_ipv6, dscp << 2)
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

/// Sends on a TCP socket.
///
/// # Errors
/// See `WSASend`.
pub fn send_piece(socket: &Socket, parts: &[IoSlice<'_>]) -> io::Result<usize> {
    socket.send_vectored(parts)
}

/// Windows sets no flow label.
///
/// # Errors
/// None.
pub const fn set_flow_label_zero(_socket: &Socket) -> io::Result<()> {
    Ok(())
}

/// Sets the hop limit (IPv4: TTL) of packets sent from now on.
///
/// # Errors
/// See `setsockopt`.
pub fn set_hop_limit(socket: &Socket, is_ipv6: bool, hops: u8) -> io::Result<()> {
    if is_ipv6 { socket.set_unicast_hops_v6(hops.into()) } else { socket.set_ttl_v4(hops.into()) }
}
