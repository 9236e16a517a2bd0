//! Sockets for load, and calls missing from std and socket2.
pub use crate::connection::*;
use crate::option;
use fathom_units::{Bytes, Rate};
use rustix::fs::{MemfdFlags, memfd_create, sendfile};
use socket2::{Domain, Socket, Type};
use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// Bytes that are sent again and again, in a file that is in memory.
#[derive(Debug)]
pub struct MemoryFile(File);

impl MemoryFile {
    /// A file with `bytes`.
    ///
    /// # Errors
    /// See `memfd_create(2)` and `write(2)`.
    pub fn new(bytes: &[u8]) -> io::Result<MemoryFile> {
        let mut file = File::from(memfd_create("fathom-load", MemfdFlags::CLOEXEC)?);
        file.write_all(bytes)?;
        Ok(MemoryFile(file))
    }
    /// Sends up to `length` bytes from `offset` to `socket` without copying them through user
    /// space.
    ///
    /// # Errors
    /// See `sendfile(2)`.
    pub fn send(&self, socket: BorrowedFd<'_>, offset: u64, length: usize) -> io::Result<usize> {
        let mut at = offset;
        Ok(sendfile(socket, &self.0, Some(&mut at), length)?)
    }
}

/// Discards up to `length` bytes from a TCP socket without copying them. Waits for the first byte
/// if the socket blocks. Returns 0 at the end of the stream.
///
/// # Errors
/// See `recv(2)`.
pub fn discard(socket: BorrowedFd<'_>, length: usize) -> io::Result<usize> {
    // SAFETY: for TCP with MSG_TRUNC the kernel writes nothing, tcp(7), so it does not touch the
    // null buffer.
    let got = unsafe { libc::recv(socket.as_raw_fd(), std::ptr::null_mut(), length, libc::MSG_TRUNC) };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// Closes a connection with a reset; unsent data is discarded.
///
/// # Errors
/// See `setsockopt(2)`; the socket is closed in any case.
pub fn reset(socket: Socket) -> io::Result<()> {
    socket.set_linger(Some(Duration::ZERO))
}

/// Sets the congestion control of a TCP socket and returns the one that the kernel then reports.
///
/// # Errors
/// See `setsockopt(2)`: unknown, or not permitted (`net.ipv4.tcp_allowed_congestion_control`).
pub fn set_congestion_control(socket: &Socket, name: &str) -> io::Result<String> {
    socket.set_tcp_congestion(name.as_bytes())?;
    congestion_control(socket)
}

/// Congestion controls that this process may use, the default one first. Found by trying, because
/// the result depends on its privileges.
#[must_use]
pub fn congestion_controls() -> Vec<String> {
    let Ok(trial) = Socket::new(Domain::IPV4, Type::STREAM, None)
        .or_else(|_| Socket::new(Domain::IPV6, Type::STREAM, None))
    else {
        return Vec::new();
    };
    let default = congestion_control(&trial).ok();
    let list = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let list = list.unwrap_or_default();
    let usable = list.split_whitespace().filter(|name| Some(*name) != default.as_deref());
    let usable = usable.filter(|name| set_congestion_control(&trial, name).is_ok()).map(str::to_owned);
    default.clone().into_iter().chain(usable).collect()
}

/// Limits the receive window of a TCP socket, and so the data in flight from the sender.
///
/// # Errors
/// See `setsockopt(2)`; `InvalidInput` if the host does not permit a buffer of that size
/// (`net.core.rmem_max`).
pub fn set_receive_window(socket: &Socket, window: Bytes) -> io::Result<()> {
    let bytes = libc::c_int::try_from(window.get()).unwrap_or(libc::c_int::MAX);
    // Setting the buffer size disables its automatic growth, and with it that of the window clamp.
    // The kernel also counts memory overhead, up to several times a packet's bytes.
    let buffer = bytes.saturating_mul(4);
    option::set(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, buffer)
        .or_else(|_| option::set(socket, libc::SOL_SOCKET, libc::SO_RCVBUF, buffer))?;
    if u64::try_from(socket.recv_buffer_size()?).unwrap_or(0) < window.get().saturating_mul(2) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("a receive window of {window} exceeds sysctl net.core.rmem_max"),
        ));
    }
    option::set(socket, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, bytes)
}

/// Lets other sockets with this option have the same port. The kernel gives a datagram to the one
/// that is connected to its sender, if there is one.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn share_port(socket: &Socket) -> io::Result<()> {
    socket.set_reuse_port(true)
}

/// Ends a TCP connection whose data is not acknowledged for so long.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_user_timeout(socket: &Socket, patience: Duration) -> io::Result<()> {
    socket.set_tcp_user_timeout(Some(patience))
}

/// Takes no more data from the program while so many bytes are unsent.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_unsent_limit(socket: &Socket, bytes: u32) -> io::Result<()> {
    socket.set_tcp_notsent_lowat(bytes)
}

/// Enables pacing of a TCP socket, as for BBR, with any congestion control.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_paced(socket: &Socket) -> io::Result<()> {
    // Any maximum pacing rate except "none" (all ones) enables pacing; this is the highest.
    option::set(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, u32::MAX - 1)
}

/// Limits the rate at which a TCP socket sends.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_pacing_rate(socket: &Socket, rate: Rate) -> io::Result<()> {
    let bytes = u32::try_from(rate.as_bits_per_second() / 8).unwrap_or(u32::MAX - 1);
    option::set(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, bytes)
}

/// Sets the receive buffer to `bytes`: above the host's limit if permitted, otherwise up to the
/// limit.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_receive_buffer(socket: &Socket, bytes: u32) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    option::set(socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, bytes)
        .or_else(|_| option::set(socket, libc::SOL_SOCKET, libc::SO_RCVBUF, bytes))
}

/// Sets the send buffer to `bytes`: above the host's limit if permitted, otherwise up to the limit.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_send_buffer(socket: &Socket, bytes: u32) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    option::set(socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, bytes)
        .or_else(|_| option::set(socket, libc::SOL_SOCKET, libc::SO_SNDBUF, bytes))
}

/// Sets the IPv4 option `v4_name` or the IPv6 option `v6_name`.
fn set_of_family(
    socket: &Socket,
    v6: bool,
    [v4_name, v6_name]: [libc::c_int; 2],
    value: libc::c_int,
) -> io::Result<()> {
    let (level, name) = if v6 { (libc::IPPROTO_IPV6, v6_name) } else { (libc::IPPROTO_IP, v4_name) };
    option::set(socket, level, name, value)
}

/// Queues ICMP errors about a socket's packets on it, with the router's address.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn queue_errors(socket: &Socket, v6: bool) -> io::Result<()> {
    set_of_family(socket, v6, [libc::IP_RECVERR, libc::IPV6_RECVERR], 1)
}

/// Sets the six DSCP bits of sent packets.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_dscp(socket: &Socket, v6: bool, dscp: u8) -> io::Result<()> {
    set_class(socket, v6, dscp << 2)
}

/// Whether programs can set the traffic class of what they send.
pub const SETS_CLASS: bool = true;

/// Sets the traffic class of sent packets: DSCP and ECN field. TCP sets the latter itself.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_class(socket: &Socket, v6: bool, class: u8) -> io::Result<()> {
    set_of_family(socket, v6, [libc::IP_TOS, libc::IPV6_TCLASS], libc::c_int::from(class))
}

/// Sets the traffic class of a socket of either family.
///
/// # Errors
/// As [`set_class`].
pub fn set_flow_class(socket: &Socket, class: u8) -> io::Result<()> {
    set_class(socket, socket.domain()? == Domain::IPV6, class)
}

/// Sends on a TCP socket, as a packet that later data does not join. If more follows, whole
/// segments have no push flag: the receiver may acknowledge two at once, and join them before that.
///
/// # Errors
/// See `sendmsg(2)`.
pub fn send_piece(socket: &Socket, parts: &[IoSlice<'_>], more_follows: bool) -> io::Result<usize> {
    let more = if more_follows { libc::MSG_MORE } else { 0 };
    socket.send_vectored_with_flags(parts, libc::MSG_EOR | libc::MSG_NOSIGNAL | more)
}

/// Sets the flow label of sent IPv6 packets to 0, instead of one that the kernel chooses and a
/// program cannot read: routers divide flows, and queues among them, by it.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_flow_label_zero(socket: &Socket) -> io::Result<()> {
    // linux/in6.h
    const IPV6_AUTOFLOWLABEL: libc::c_int = 70;
    option::set(socket, libc::IPPROTO_IPV6, IPV6_AUTOFLOWLABEL, 0 as libc::c_int)
}

/// Disables fragmentation of sent IPv4 packets, whatever is known of the path MTU. This saves the
/// kernel the choice of an IP ID for reassembly. For packets that fit every path: up to 576 bytes
/// (RFC 791).
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_unfragmented(socket: &Socket) -> io::Result<()> {
    option::set(socket, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_PROBE)
}

/// Sets the hop limit (IPv4: TTL) of packets sent from now on.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_hop_limit(socket: &Socket, v6: bool, hops: u8) -> io::Result<()> {
    set_of_family(socket, v6, [libc::IP_TTL, libc::IPV6_UNICAST_HOPS], libc::c_int::from(hops))
}

/// The congestion control of a TCP socket.
///
/// # Errors
/// See `getsockopt(2)`.
pub fn congestion_control(socket: &Socket) -> io::Result<String> {
    let name = socket.tcp_congestion()?;
    Ok(String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn a_memory_file_arrives_whole_and_can_be_discarded() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n * 7 % 251) as u8).collect();
        let file = MemoryFile::new(&bytes).unwrap();
        let (near, mut far) = pair();
        let mut sent = 0;
        while sent < bytes.len() {
            sent += file.send(near.as_fd(), sent as u64, bytes.len() - sent).unwrap();
        }
        let mut head = vec![0; 1_000];
        far.read_exact(&mut head).unwrap();
        assert_eq!(head, bytes[..1_000]);
        drop(near);
        let mut rest = 0;
        loop {
            match discard(far.as_fd(), 1 << 20).unwrap() {
                0 => break,
                n => rest += n,
            }
        }
        assert_eq!(rest, 99_000);
    }

    #[test]
    fn a_reset_is_seen_as_one() {
        let (near, mut far) = pair();
        reset(near.into()).unwrap();
        let error = far.read(&mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }

    #[test]
    fn the_kernel_tells_its_congestion_control() {
        let (near, _far) = pair();
        let socket = Socket::from(near);
        assert_eq!(set_congestion_control(&socket, "reno").unwrap(), "reno");
        assert!(set_congestion_control(&socket, "no_such_thing").is_err());
        assert_eq!(congestion_control(&socket).unwrap(), "reno");
    }

    #[test]
    fn a_window_has_its_buffer() {
        let (near, _far) = pair();
        let socket = Socket::from(near);
        set_paced(&socket).unwrap();
        set_receive_window(&socket, Bytes(20_000)).unwrap();
        // Four times the window, which Linux doubles.
        assert_eq!(socket.recv_buffer_size().unwrap(), 160_000);
    }
}
