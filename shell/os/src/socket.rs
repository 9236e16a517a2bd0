//! Sockets for load and echo requests, and calls missing from std and socket2.
use crate::option;
use fathom_units::{Bytes, Rate};
use rustix::fs::{MemfdFlags, memfd_create, sendfile};
use socket2::{Domain, Protocol, Socket, Type};
use std::fmt;
use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// A socket that can send ICMP echo requests.
#[derive(Debug)]
pub struct EchoSocket {
    /// Non-blocking.
    pub socket: Socket,
    /// The kernel sets the identifier and delivers only matching replies. Otherwise this is a raw
    /// socket: the caller chooses the identifier and receives every ICMP packet of the host, for
    /// IPv4 with the IP header.
    pub kernel_matches: bool,
}

/// The command that lets every user open an echo socket.
pub const ALLOW_ECHO: &str = "sysctl -w net.ipv4.ping_group_range=\"0 2147483647\"";

/// Why no echo socket can be opened.
#[derive(Debug)]
pub enum EchoSocketError {
    /// Neither an unprivileged nor a raw socket is allowed.
    NotPermitted,
    /// Another error.
    Io(io::Error),
}

impl fmt::Display for EchoSocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EchoSocketError::NotPermitted => write!(
                f,
                "ICMP echo is not permitted (allow it with `{ALLOW_ECHO}`, \
                 or give the program CAP_NET_RAW)"
            ),
            EchoSocketError::Io(error) => write!(f, "ICMP socket: {error}"),
        }
    }
}
impl std::error::Error for EchoSocketError {}

/// Opens an unprivileged echo socket if `net.ipv4.ping_group_range` allows it, otherwise a raw one.
///
/// # Errors
/// If neither is possible.
pub fn echo_socket(v6: bool) -> Result<EchoSocket, EchoSocketError> {
    let (domain, protocol) =
        if v6 { (Domain::IPV6, Protocol::ICMPV6) } else { (Domain::IPV4, Protocol::ICMPV4) };
    let open = |kind| Socket::new(domain, kind, Some(protocol));
    let refused = |e: &io::Error| e.kind() == io::ErrorKind::PermissionDenied;
    let unprivileged = open(Type::DGRAM);
    let kernel_matches = unprivileged.is_ok();
    let socket = match unprivileged {
        Err(error) if refused(&error) => open(Type::RAW),
        other => other,
    };
    let reason = |e| if refused(&e) { EchoSocketError::NotPermitted } else { EchoSocketError::Io(e) };
    let socket = socket.map_err(reason)?;
    if !kernel_matches {
        only_replies_and_errors(&socket, v6).map_err(EchoSocketError::Io)?;
    }
    socket.set_nonblocking(true).map_err(EchoSocketError::Io)?;
    Ok(EchoSocket { socket, kernel_matches })
}

/// Opens a non-blocking raw socket that receives only ICMP timestamp replies (RFC 792), with the IP
/// header.
///
/// # Errors
/// See `socket(2)`: it needs CAP_NET_RAW.
pub fn timestamp_socket() -> io::Result<Socket> {
    const ANSWER: u32 = 14;
    let socket = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4))?;
    option::set(&socket, libc::SOL_RAW, ICMP_FILTER, !(1_u32 << ANSWER))?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// linux/icmp.h: a set bit blocks that type.
const ICMP_FILTER: libc::c_int = 1;

/// Filters echo requests, from others and its own on loopback, on a raw socket. They would be half
/// of all packets.
fn only_replies_and_errors(socket: &Socket, v6: bool) -> io::Result<()> {
    // linux/icmpv6.h: works like that of ICMP.
    const ICMPV6_FILTER: libc::c_int = 1;
    if v6 {
        let mut filter = [0_u32; 8];
        // Type 128: echo request.
        filter[128 / 32] = 1;
        option::set(socket, libc::IPPROTO_ICMPV6, ICMPV6_FILTER, filter)
    } else {
        option::set(socket, libc::SOL_RAW, ICMP_FILTER, 1_u32 << 8)
    }
}

/// Creates an in-memory file with `bytes`, for [`send_file`].
///
/// # Errors
/// See `memfd_create(2)` and `write(2)`.
pub fn memory_file(bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create("fathom-load", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    Ok(file)
}

/// Sends up to `length` bytes of `file` from `offset` to `socket` without copying them through user
/// space.
///
/// # Errors
/// See `sendfile(2)`.
pub fn send_file(
    socket: BorrowedFd<'_>,
    file: BorrowedFd<'_>,
    offset: u64,
    length: usize,
) -> io::Result<usize> {
    let mut at = offset;
    Ok(sendfile(socket, file, Some(&mut at), length)?)
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

/// Sets the traffic class of sent packets: DSCP and ECN field. TCP sets the latter itself.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn set_class(socket: &Socket, v6: bool, class: u8) -> io::Result<()> {
    set_of_family(socket, v6, [libc::IP_TOS, libc::IPV6_TCLASS], libc::c_int::from(class))
}

/// Sends on a TCP socket, as a packet that later data does not join.
///
/// # Errors
/// See `sendmsg(2)`.
pub fn send_piece(socket: &Socket, parts: &[IoSlice<'_>]) -> io::Result<usize> {
    socket.send_vectored_with_flags(parts, libc::MSG_EOR | libc::MSG_NOSIGNAL)
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
        let file = memory_file(&bytes).unwrap();
        let (near, mut far) = pair();
        let mut sent = 0;
        while sent < bytes.len() {
            sent += send_file(near.as_fd(), file.as_fd(), sent as u64, bytes.len() - sent).unwrap();
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

    #[test]
    fn the_refusal_names_the_setting() {
        assert!(EchoSocketError::NotPermitted.to_string().contains("net.ipv4.ping_group_range"));
    }
}
