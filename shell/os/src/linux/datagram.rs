//! Sends datagrams from a chosen local address.
use std::io;
use std::mem;
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Space for an IPv6 address and a traffic class, in 8-byte words for alignment.
const CONTROL_WORDS: usize = 8;

/// Sends a datagram with a traffic class (DSCP and ECN field) to `to` from the address `from` (its
/// port is ignored), on a UDP socket bound to all addresses. A host with several addresses must
/// reply from the address of the request, but the routing table may choose another.
///
/// # Errors
/// See `sendmsg(2)`; `InvalidInput` if the address families differ.
pub fn send_from(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    from: SocketAddr,
    to: SocketAddr,
    class: u8,
) -> io::Result<usize> {
    let class = libc::c_int::from(class);
    match (from, to) {
        (SocketAddr::V4(from), SocketAddr::V4(to)) => {
            // SAFETY: an in_pktinfo consists of integers; all zeros lets the kernel choose.
            let mut source: libc::in_pktinfo = unsafe { mem::zeroed() };
            source.ipi_spec_dst.s_addr = u32::from(*from.ip()).to_be();
            let class = (libc::IPPROTO_IP, libc::IP_TOS, class);
            send(socket, bytes, &mut v4(to), (libc::IPPROTO_IP, libc::IP_PKTINFO, source), class)
        }
        (SocketAddr::V6(from), SocketAddr::V6(to)) => {
            let source = libc::in6_pktinfo {
                ipi6_addr: libc::in6_addr { s6_addr: from.ip().octets() },
                ipi6_ifindex: from.scope_id() as _,
            };
            let class = (libc::IPPROTO_IPV6, libc::IPV6_TCLASS, class);
            send(socket, bytes, &mut v6(to), (libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, source), class)
        }
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn v4(address: SocketAddrV4) -> libc::sockaddr_in {
    // SAFETY: integers only.
    let mut raw: libc::sockaddr_in = unsafe { mem::zeroed() };
    raw.sin_family = libc::AF_INET as _;
    raw.sin_port = address.port().to_be();
    raw.sin_addr.s_addr = u32::from(*address.ip()).to_be();
    raw
}

fn v6(address: SocketAddrV6) -> libc::sockaddr_in6 {
    // SAFETY: integers only.
    let mut raw: libc::sockaddr_in6 = unsafe { mem::zeroed() };
    raw.sin6_family = libc::AF_INET6 as _;
    raw.sin6_port = address.port().to_be();
    raw.sin6_addr.s6_addr = address.ip().octets();
    raw.sin6_scope_id = address.scope_id();
    raw
}

/// Level, type and data of a control message.
type Control<T> = (libc::c_int, libc::c_int, T);

/// Writes a control message to the start of `control` and returns what is left.
fn put<T: Copy>(control: &mut [u64], (level, kind, data): Control<T>) -> &mut [u64] {
    // SAFETY: CMSG_SPACE and CMSG_LEN only calculate.
    let (space, length) = unsafe {
        (libc::CMSG_SPACE(size_of::<T>() as u32) as usize, libc::CMSG_LEN(size_of::<T>() as u32) as usize)
    };
    let (room, rest) = control.split_at_mut(space.div_ceil(size_of::<u64>()));
    let message = room.as_mut_ptr().cast::<libc::cmsghdr>();
    // SAFETY: `room` is aligned, and large enough for one message of this length: `split_at_mut`
    // panics otherwise.
    unsafe {
        (*message).cmsg_level = level;
        (*message).cmsg_type = kind;
        (*message).cmsg_len = length as _;
        libc::CMSG_DATA(message).cast::<T>().write_unaligned(data);
    }
    rest
}

/// Sends to `to`, a socket address of any family.
fn send<A, C: Copy>(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    to: &mut A,
    source: Control<C>,
    class: Control<libc::c_int>,
) -> io::Result<usize> {
    let mut control = [0_u64; CONTROL_WORDS];
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: a msghdr consists of pointers and integers; all zeros is an empty message.
    let mut header: libc::msghdr = unsafe { mem::zeroed() };
    header.msg_name = std::ptr::from_mut(to).cast();
    header.msg_namelen = size_of::<A>() as libc::socklen_t;
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    let left = put(put(&mut control, source), class).len();
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = ((CONTROL_WORDS - left) * size_of::<u64>()) as _;
    // SAFETY: `header` points to `to`, `part` (which points to `bytes`, only read) and `control`;
    // all outlive the call.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const header, 0) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timestamp::{enable_class, receive};
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    #[test]
    fn leaves_with_the_address_that_was_asked_for() {
        for (any, near, here) in
            [("0.0.0.0:0", "127.0.0.5:1", "127.0.0.1:0"), ("[::]:0", "[::1]:1", "[::1]:0")]
        {
            let (socket, other) = (UdpSocket::bind(any).unwrap(), UdpSocket::bind(here).unwrap());
            let near: SocketAddr = near.parse().unwrap();
            enable_class(other.as_fd(), near.is_ipv6()).unwrap();
            let sent = send_from(socket.as_fd(), b"hello", near, other.local_addr().unwrap(), 0xb9).unwrap();
            let mut buffer = [0; 9];
            let got = receive(other.as_fd(), &mut buffer).unwrap();
            assert_eq!((sent, &buffer[..got.length]), (5, &b"hello"[..]));
            // DSCP ef with ECT(1).
            assert_eq!((got.from.map(|from| from.ip()), got.class), (Some(near.ip()), Some(0xb9)));
        }
    }

    #[test]
    fn refuses_two_families() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let (v4, v6) = ("127.0.0.1:1".parse().unwrap(), "[::1]:1".parse().unwrap());
        let error = send_from(socket.as_fd(), b"x", v6, v4, 0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
