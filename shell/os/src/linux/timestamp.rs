//! Datagrams with kernel timestamps of arrival and departure.
//!
//! The kernel timestamps in wall time. The caller converts to monotonic time with a reading of both
//! clocks right after the call.
//!
//! Written by hand because neither socket2 nor rustix parses these control messages.
use crate::mmsg::notice;
use crate::option;
use crate::received::Notice;
pub use crate::received::{Departure, QueueEntry, Received, SentStamp, Stamping};
use fathom_units::WallTime;
use socket2::SockAddr;
use std::io;
use std::mem;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, BorrowedFd};

/// Space for a timestamp and an extended error with its address, in 8-byte words for alignment.
pub(crate) const CONTROL_WORDS: usize = 32;

/// Whether the system timestamps arriving datagrams.
pub const STAMPS_ARRIVALS: bool = true;

/// Enables timestamps for both directions like [`enable`], but departure timestamps come with the
/// packet itself, so that a failed send cannot disturb the packet numbering. Only entry into the
/// host's queue is timestamped.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn enable_with_packets(socket: BorrowedFd<'_>) -> io::Result<()> {
    let arrivals = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    set_flags(socket, arrivals | libc::SOF_TIMESTAMPING_TX_SCHED)
}

/// Enables timestamps on a socket.
///
/// # Errors
/// See `setsockopt(2)`.
pub fn enable(socket: BorrowedFd<'_>, stamping: Stamping) -> io::Result<()> {
    let arrivals = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    let departures = libc::SOF_TIMESTAMPING_TX_SCHED
        | libc::SOF_TIMESTAMPING_TX_SOFTWARE
        | libc::SOF_TIMESTAMPING_OPT_ID
        | libc::SOF_TIMESTAMPING_OPT_TSONLY;
    let flags = match stamping {
        Stamping::Arrivals => arrivals,
        Stamping::Both => arrivals | departures,
    };
    set_flags(socket, flags)
}

/// Sends one datagram on a socket with arrival timestamps, and timestamps its entry into the host's
/// queue. The timestamp arrives in the error queue, with the packet. Does not block.
///
/// # Errors
/// See `sendmsg(2)`.
pub fn send_stamped(socket: BorrowedFd<'_>, bytes: &[u8], to: &SockAddr) -> io::Result<()> {
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let mut wish = [0_u64; 4];
    // SAFETY: a msghdr consists of pointers and integers; all zeros is an empty message.
    let mut header: libc::msghdr = unsafe { mem::zeroed() };
    header.msg_name = to.as_ptr().cast_mut().cast();
    header.msg_namelen = to.len();
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = wish.as_mut_ptr().cast();
    // SAFETY: CMSG_SPACE and CMSG_LEN only calculate; 24 bytes on 64-bit machines, 16 on 32-bit
    // ones.
    let (space, length) = unsafe {
        let size = size_of::<libc::c_uint>() as u32;
        (libc::CMSG_SPACE(size), libc::CMSG_LEN(size))
    };
    header.msg_controllen = space as _;
    // SAFETY: the control buffer is large enough for a message of four bytes, aligned, and not
    // referenced elsewhere.
    unsafe {
        let message = libc::CMSG_FIRSTHDR(&raw const header);
        (*message).cmsg_level = libc::SOL_SOCKET;
        (*message).cmsg_type = libc::SO_TIMESTAMPING;
        (*message).cmsg_len = length as _;
        libc::CMSG_DATA(message).cast::<libc::c_uint>().write_unaligned(libc::SOF_TIMESTAMPING_TX_SCHED);
    }
    // SAFETY: `header` points to `to`, `part`, `bytes` and `wish`; all outlive the call and none is
    // written.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const header, libc::MSG_DONTWAIT) };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Does nothing on a kernel without timestamps: datagrams arrive without them.
fn set_flags(socket: BorrowedFd<'_>, flags: libc::c_uint) -> io::Result<()> {
    match option::set(socket, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags) {
        Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => Ok(()),
        done => done,
    }
}

fn received(length: usize, from: Option<SocketAddr>, header: &libc::msghdr) -> Received {
    let (stamp, to) = (software_stamp(header), destination(header));
    Received { length, from, stamp, to, hop_limit: hop_limit(header), class: class(header) }
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
    let options = if is_ipv6 {
        [libc::IPV6_RECVPKTINFO, libc::IPV6_RECVHOPLIMIT]
    } else {
        [libc::IP_PKTINFO, libc::IP_RECVTTL]
    };
    let level = if is_ipv6 { libc::IPPROTO_IPV6 } else { libc::IPPROTO_IP };
    options.into_iter().try_for_each(|name| option::set(socket, level, name, 1 as libc::c_int))?;
    enable_class(socket, is_ipv6)
}

/// Receives one datagram, or available stream data. Does not block.
///
/// # Errors
/// See `recvmsg(2)`; `WouldBlock` if there is nothing.
pub fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Received> {
    let mut slot = Slot::default();
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut header = slot.header(&mut part);
    // SAFETY: `header` points to `part`, which points to `buffer`, and to `slot`; all outlive the
    // call.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_DONTWAIT) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    Ok(received(length, address(&slot.address), &header))
}

/// Takes one entry from the socket's error queue, and the packet that it is about.
///
/// # Errors
/// See `recvmsg(2)`; `WouldBlock` if the queue is empty.
pub fn queue_entry(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<QueueEntry> {
    let mut slot = Slot::default();
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut header = slot.header(&mut part);
    // SAFETY: `header` points to `part`, which is `buffer`, and to `slot`; all outlive the call.
    let length = unsafe {
        libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_ERRQUEUE | libc::MSG_DONTWAIT)
    };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    if let Some(((id, departure), stamp)) = departure(&header).zip(software_stamp(&header)) {
        return Ok(QueueEntry::Stamp(SentStamp { id, departure, stamp }));
    }
    Ok(match notice(&header) {
        Some(Notice::Refused(refusal)) => QueueEntry::Refused(refusal, length),
        _ => QueueEntry::Other,
    })
}

/// Buffers that the kernel fills in addition to the data.
#[derive(Clone, Copy)]
struct Slot {
    address: libc::sockaddr_storage,
    control: [u64; CONTROL_WORDS],
}

impl Default for Slot {
    fn default() -> Self {
        // SAFETY: both consist of integers, for which all zeros is valid.
        unsafe { mem::zeroed() }
    }
}

impl Slot {
    fn header(&mut self, part: &mut libc::iovec) -> libc::msghdr {
        // SAFETY: a msghdr consists of pointers and integers; all zeros is an empty message.
        let mut header: libc::msghdr = unsafe { mem::zeroed() };
        header.msg_name = (&raw mut self.address).cast();
        header.msg_namelen = size_of_val(&self.address) as libc::socklen_t;
        header.msg_iov = part;
        header.msg_iovlen = 1;
        header.msg_control = self.control.as_mut_ptr().cast();
        header.msg_controllen = size_of_val(&self.control) as _;
        header
    }
}

/// The first control message of `header` with one of these levels and types and enough data for a
/// `T`.
pub(crate) fn control<T: Copy>(header: &libc::msghdr, wanted: &[(libc::c_int, libc::c_int)]) -> Option<T> {
    // SAFETY: the kernel filled `header`, and the caller still holds its control buffer.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !next.is_null() {
        // SAFETY: CMSG_FIRSTHDR and CMSG_NXTHDR return null or a complete header in the control
        // buffer.
        let message = unsafe { &*next };
        // SAFETY: CMSG_LEN only calculates.
        let enough = message.cmsg_len as usize >= unsafe { libc::CMSG_LEN(size_of::<T>() as u32) } as usize;
        if enough && wanted.contains(&(message.cmsg_level, message.cmsg_type)) {
            // SAFETY: the data has at least the size of `T`, as just checked; `T` consists of
            // integers; it may be unaligned.
            return Some(unsafe { libc::CMSG_DATA(next).cast::<T>().read_unaligned() });
        }
        // SAFETY: as for CMSG_FIRSTHDR.
        next = unsafe { libc::CMSG_NXTHDR(header, next) };
    }
    None
}

/// The TTL or hop limit in the header of a datagram.
pub(crate) fn hop_limit(header: &libc::msghdr) -> Option<u8> {
    let levels = [(libc::IPPROTO_IP, libc::IP_TTL), (libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT)];
    control::<libc::c_int>(header, &levels)?.try_into().ok()
}

/// The traffic class in the header of a datagram.
pub(crate) fn class(header: &libc::msghdr) -> Option<u8> {
    let v6 = || control::<libc::c_int>(header, &[(libc::IPPROTO_IPV6, libc::IPV6_TCLASS)])?.try_into().ok();
    control(header, &[(libc::IPPROTO_IP, libc::IP_TOS)]).or_else(v6)
}

/// The software timestamp: the first of the three times of `struct scm_timestamping`.
pub(crate) fn software_stamp(header: &libc::msghdr) -> Option<WallTime> {
    let stamps: [libc::timespec; 3] = control(header, &[(libc::SOL_SOCKET, libc::SO_TIMESTAMPING)])?;
    let seconds = u64::try_from(stamps[0].tv_sec).ok().filter(|s| *s > 0)?;
    Some(WallTime(seconds * 1_000_000_000 + u64::try_from(stamps[0].tv_nsec).ok()?))
}

/// The address in the header of a datagram. That of a link (fe80::/10) has the interface.
fn destination(header: &libc::msghdr) -> Option<SocketAddr> {
    if let Some(v4) = control::<libc::in_pktinfo>(header, &[(libc::IPPROTO_IP, libc::IP_PKTINFO)]) {
        let ip = Ipv4Addr::from(u32::from_be(v4.ipi_spec_dst.s_addr));
        return Some(SocketAddrV4::new(ip, 0).into());
    }
    let v6: libc::in6_pktinfo = control(header, &[(libc::IPPROTO_IPV6, libc::IPV6_PKTINFO)])?;
    let ip = Ipv6Addr::from(v6.ipi6_addr.s6_addr);
    let scope = if ip.is_unicast_link_local() { v6.ipi6_ifindex } else { 0 };
    Some(SocketAddrV6::new(ip, 0, 0, scope as _).into())
}

fn departure(header: &libc::msghdr) -> Option<(u32, Departure)> {
    // linux/errqueue.h: SO_EE_ORIGIN_TIMESTAMPING; linux/net_tstamp.h: SCM_TSTAMP_SND,
    // SCM_TSTAMP_SCHED.
    const ORIGIN_TIMESTAMPING: u8 = 4;
    const TSTAMP_SND: u32 = 0;
    const TSTAMP_SCHED: u32 = 1;
    let levels = [(libc::SOL_IP, libc::IP_RECVERR), (libc::SOL_IPV6, libc::IPV6_RECVERR)];
    let error: libc::sock_extended_err = control(header, &levels)?;
    let departure = match error.ee_info {
        TSTAMP_SND => Departure::Sent,
        TSTAMP_SCHED => Departure::Queued,
        _ => return None,
    };
    (error.ee_origin == ORIGIN_TIMESTAMPING).then_some((error.ee_data, departure))
}

pub(crate) fn address(storage: &libc::sockaddr_storage) -> Option<SocketAddr> {
    let start = std::ptr::from_ref(storage);
    match libc::c_int::from(storage.ss_family) {
        libc::AF_INET => {
            // SAFETY: a sockaddr_storage is at least as large and as aligned as any address; the
            // family gives the type.
            let v4 = unsafe { start.cast::<libc::sockaddr_in>().read() };
            let ip = Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr));
            Some(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let v6 = unsafe { start.cast::<libc::sockaddr_in6>().read() };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            Some(SocketAddrV6::new(ip, u16::from_be(v6.sin6_port), 0, v6.sin6_scope_id).into())
        }
        _ => None,
    }
}

/// Buffers to receive several datagrams per call.
pub struct Batch {
    size: usize,
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    received: Vec<Received>,
}

impl std::fmt::Debug for Batch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Batch")
            .field("size", &self.size)
            .field("received", &self.received)
            .finish_non_exhaustive()
    }
}

impl Batch {
    /// Buffers for `count` datagrams of up to `size` bytes; longer ones are truncated.
    #[must_use]
    pub fn new(count: usize, size: usize) -> Self {
        let size = size.max(1);
        Batch {
            size,
            bytes: vec![0; count * size],
            slots: vec![Slot::default(); count],
            received: Vec::new(),
        }
    }
    /// Replaces the contents with waiting datagrams. Does not block. Returns their number.
    ///
    /// # Errors
    /// See `recvmmsg(2)`; `WouldBlock` if there are none.
    pub fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        self.received.clear();
        self.slots.fill(Slot::default());
        let parts = self.bytes.chunks_exact_mut(self.size);
        let mut parts: Vec<libc::iovec> =
            parts.map(|b| libc::iovec { iov_base: b.as_mut_ptr().cast(), iov_len: b.len() }).collect();
        let mut headers: Vec<libc::mmsghdr> = self
            .slots
            .iter_mut()
            .zip(&mut parts)
            .map(|(slot, part)| libc::mmsghdr { msg_hdr: slot.header(part), msg_len: 0 })
            .collect();
        let (fd, room) = (socket.as_raw_fd(), headers.len() as libc::c_uint);
        // SAFETY: `headers` holds `room` entries that point to `parts`, `slots` and `bytes`; all
        // outlive the call.
        let count = unsafe {
            libc::recvmmsg(fd, headers.as_mut_ptr(), room, libc::MSG_DONTWAIT as _, std::ptr::null_mut())
        };
        let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
        for (header, slot) in headers.iter().zip(&self.slots).take(count) {
            let from = address(&slot.address);
            self.received.push(received(header.msg_len as usize, from, &header.msg_hdr));
        }
        Ok(count)
    }
    /// The datagrams of the last call.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Received)> {
        let pairs = self.bytes.chunks_exact(self.size).zip(&self.received);
        pairs.map(|(bytes, received)| (&bytes[..received.length.min(bytes.len())], *received))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::wall_now;
    use crate::poll::{self, PollFd};
    use fathom_units::Duration;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    fn pair(any: &str) -> (UdpSocket, UdpSocket) {
        let (a, b) = (UdpSocket::bind(any).unwrap(), UdpSocket::bind(any).unwrap());
        a.connect(b.local_addr().unwrap()).unwrap();
        (a, b)
    }
    fn wait_for(socket: &UdpSocket) {
        let found =
            poll::wait(&mut [PollFd::readable(socket.as_fd())], Some(Duration::from_secs(5))).unwrap();
        assert_eq!(found, 1, "nothing arrived in 5 s");
    }

    #[test]
    fn arrivals_and_departures_are_stamped_between_send_and_receipt() {
        for any in ["127.0.0.1:0", "[::1]:0"] {
            let (sender, receiver) = pair(any);
            enable(sender.as_fd(), Stamping::Both).unwrap();
            enable(receiver.as_fd(), Stamping::Arrivals).unwrap();
            // The kernel starts to timestamp arrivals some time after the first socket enables it.
            let mut stamped = 0;
            for n in 0_u32.. {
                let before = wall_now();
                sender.send(&[7; 64]).unwrap();
                wait_for(&receiver);
                let mut buffer = [0; 100];
                let got = receive(receiver.as_fd(), &mut buffer).unwrap();
                let after = wall_now();
                assert_eq!((got.length, got.from), (64, sender.local_addr().ok()));
                let within =
                    |stamp| assert!(before <= stamp && stamp <= after, "{before:?} {stamp:?} {after:?}");
                got.stamp.into_iter().for_each(within);
                stamped += u32::from(got.stamp.is_some());
                let entries = std::iter::from_fn(|| queue_entry(sender.as_fd(), &mut []).ok());
                let sent: Vec<SentStamp> = entries
                    .filter_map(|entry| match entry {
                        QueueEntry::Stamp(sent) => Some(sent),
                        _ => None,
                    })
                    .collect();
                sent.iter().for_each(|s| within(s.stamp));
                let queued = sent.iter().find(|s| s.departure == Departure::Queued).map(|s| s.id);
                assert_eq!(queued, Some(n), "{any}: {sent:?}");
                if stamped == 3 {
                    break;
                }
                assert!(n < 100_000, "no stamps of arrival");
            }
        }
    }

    #[test]
    fn a_batch_holds_all_that_waits() {
        let (sender, receiver) = pair("127.0.0.1:0");
        let mut batch = Batch::new(4, 64);
        let nothing = batch.receive(receiver.as_fd()).unwrap_err();
        assert_eq!(nothing.kind(), io::ErrorKind::WouldBlock);
        for n in 1..=3_u8 {
            sender.send(&vec![n; usize::from(n) * 30]).unwrap();
        }
        wait_for(&receiver);
        assert_eq!(batch.receive(receiver.as_fd()).unwrap(), 3);
        let seen: Vec<_> = batch.iter().map(|(bytes, r)| (bytes.len(), bytes[0], r.from)).collect();
        let from = sender.local_addr().ok();
        // The third datagram had 90 bytes and was truncated.
        assert_eq!(seen, [(30, 1, from), (60, 2, from), (64, 3, from)]);
    }

    #[test]
    fn headers_tell_the_destination_and_the_hop_limit() {
        for (any, to, hops) in [("0.0.0.0:0", "127.0.0.5", 17), ("[::]:0", "::1", 18)] {
            let socket = UdpSocket::bind(any).unwrap();
            let to: std::net::IpAddr = to.parse().unwrap();
            enable_headers(socket.as_fd(), to.is_ipv6()).unwrap();
            let sender = UdpSocket::bind(any).unwrap();
            if to.is_ipv6() {
                socket2::SockRef::from(&sender).set_unicast_hops_v6(hops).unwrap();
            } else {
                sender.set_ttl(hops).unwrap();
            }
            sender.send_to(b"x", SocketAddr::new(to, socket.local_addr().unwrap().port())).unwrap();
            poll::wait(&mut [PollFd::readable(socket.as_fd())], Some(Duration::from_secs(5))).unwrap();
            let got = receive(socket.as_fd(), &mut [0; 8]).unwrap();
            assert_eq!((got.to, got.hop_limit), (Some(SocketAddr::new(to, 0)), Some(hops as u8)));
        }
    }
}
