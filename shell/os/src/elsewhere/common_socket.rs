//! Functions of sockets that Windows and macOS have in common.
use crate::fd::BorrowedFd;
use crate::socket::set_class;
use fathom_units::Rate;
use socket2::{SockRef, Socket};
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::time::Duration;

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

/// Closes a connection with a reset; unsent data is discarded.
///
/// # Errors
/// See `setsockopt`; the socket is closed in any case.
pub fn reset(socket: Socket) -> io::Result<()> {
    socket.set_linger(Some(Duration::ZERO))
}

/// Refuses: the system has one congestion control for all connections.
///
/// # Errors
/// Always.
pub fn set_congestion_control(_socket: &Socket, _name: &str) -> io::Result<String> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Refuses: the system does not say which one it has.
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
pub fn set_pacing_rate(_socket: &Socket, _rate: Rate) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Sets the receive buffer to `bytes`, or to a half, a quarter and so on: as much as is permitted.
///
/// # Errors
/// See `setsockopt`.
pub fn set_receive_buffer(socket: &Socket, bytes: u32) -> io::Result<()> {
    most_permitted(bytes, |bytes| socket.set_recv_buffer_size(bytes))
}

/// Sets the send buffer, as [`set_receive_buffer`].
///
/// # Errors
/// See `setsockopt`.
pub fn set_send_buffer(socket: &Socket, bytes: u32) -> io::Result<()> {
    most_permitted(bytes, |bytes| socket.set_send_buffer_size(bytes))
}

/// macOS refuses what is larger than its limit.
fn most_permitted(bytes: u32, set: impl Fn(usize) -> io::Result<()>) -> io::Result<()> {
    const LEAST: usize = 64 * 1024;
    let mut bytes = bytes as usize;
    loop {
        match set(bytes) {
            Err(_) if bytes / 2 >= LEAST => bytes /= 2,
            done => return done,
        }
    }
}

/// Does nothing: the system queues no ICMP errors.
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

/// Sends on a TCP socket.
///
/// # Errors
/// See `sendmsg`.
pub fn send_piece(socket: &Socket, parts: &[IoSlice<'_>], _more_follows: bool) -> io::Result<usize> {
    socket.send_vectored(parts)
}

/// Does nothing: the system sets the flow label.
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
