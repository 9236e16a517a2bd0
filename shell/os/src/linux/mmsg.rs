//! Receives many datagrams, or many error queue entries about sent packets, per system call. The
//! buffers are reused.
//!
//! Written by hand because rustix lacks recvmmsg(2).
pub use crate::received::{IcmpRefusal, Notice, ReceivedMessage};
use crate::timestamp::{CONTROL_WORDS, address, class, control, hop_limit, software_stamp};
use std::io;
use std::mem;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

#[derive(Clone, Copy)]
struct Slot {
    address: libc::sockaddr_storage,
    control: [u64; CONTROL_WORDS],
}

/// Buffers to receive several datagrams per call.
pub struct Inbox {
    size: usize,
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    parts: Vec<libc::iovec>,
    headers: Vec<libc::mmsghdr>,
    received: usize,
}

impl std::fmt::Debug for Inbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inbox").field("received", &self.received).finish_non_exhaustive()
    }
}

// SAFETY: the pointers in `parts` and `headers` refer to heap blocks of the vectors next to them.
// These are never resized, and moving the inbox does not move them.
unsafe impl Send for Inbox {}

impl Inbox {
    /// Buffers for `count` datagrams of up to `size` bytes; longer ones are truncated.
    #[must_use]
    pub fn new(count: usize, size: usize) -> Self {
        let size = size.max(1);
        // SAFETY: integers only, for which all zeros is valid.
        let empty: Slot = unsafe { mem::zeroed() };
        let mut inbox = Inbox {
            size,
            bytes: vec![0; count * size],
            slots: vec![empty; count],
            parts: Vec::with_capacity(count),
            headers: Vec::with_capacity(count),
            received: 0,
        };
        for bytes in inbox.bytes.chunks_exact_mut(size) {
            inbox.parts.push(libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: size });
        }
        for (slot, part) in inbox.slots.iter_mut().zip(&mut inbox.parts) {
            // SAFETY: a msghdr consists of pointers and integers; all zeros is an empty message.
            let mut header: libc::msghdr = unsafe { mem::zeroed() };
            header.msg_name = (&raw mut slot.address).cast();
            header.msg_iov = part;
            header.msg_iovlen = 1;
            header.msg_control = slot.control.as_mut_ptr().cast();
            inbox.headers.push(libc::mmsghdr { msg_hdr: header, msg_len: 0 });
        }
        inbox
    }
    /// Replaces the contents with waiting datagrams. Returns their number, which may be 0.
    ///
    /// # Errors
    /// See `recvmmsg(2)`.
    pub fn receive(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        self.take(socket, libc::MSG_DONTWAIT)
    }
    /// Replaces the contents with error queue entries. Returns their number, which may be 0.
    ///
    /// # Errors
    /// See `recvmmsg(2)`.
    pub fn receive_errors(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        self.take(socket, libc::MSG_DONTWAIT | libc::MSG_ERRQUEUE)
    }
    /// Whether the last call used all buffers, so that more may be waiting.
    #[must_use]
    pub fn was_full(&self) -> bool {
        self.received == self.headers.len()
    }
    fn take(&mut self, socket: BorrowedFd<'_>, flags: libc::c_int) -> io::Result<usize> {
        // Restore the fields that the kernel overwrote.
        for header in self.headers.iter_mut().take(self.received) {
            header.msg_hdr.msg_flags = 0;
        }
        for header in &mut self.headers {
            header.msg_hdr.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
            header.msg_hdr.msg_controllen = (CONTROL_WORDS * 8) as _;
        }
        self.received = 0;
        let room = self.headers.len() as libc::c_uint;
        // SAFETY: `headers` holds `room` entries that point to `parts`, `slots` and `bytes`, none
        // of which is ever resized.
        let count = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                self.headers.as_mut_ptr(),
                room,
                flags as _,
                std::ptr::null_mut(),
            )
        };
        match usize::try_from(count) {
            Ok(count) => self.received = count,
            Err(_) => {
                let error = io::Error::last_os_error();
                if !matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) {
                    return Err(error);
                }
            }
        }
        Ok(self.received)
    }
    /// The messages of the last call.
    pub fn iter(&self) -> impl Iterator<Item = ReceivedMessage<'_>> {
        let slots = self.headers.iter().zip(&self.slots).take(self.received);
        slots.zip(self.bytes.chunks_exact(self.size)).map(|((header, slot), bytes)| {
            let has_name = header.msg_hdr.msg_namelen > 0;
            ReceivedMessage {
                bytes: bytes.get(..header.msg_len as usize).unwrap_or(bytes),
                from: if has_name { address(&slot.address) } else { None },
                stamp: software_stamp(&header.msg_hdr),
                notice: notice(&header.msg_hdr),
                hop_limit: hop_limit(&header.msg_hdr),
                class: class(&header.msg_hdr),
            }
        })
    }
}

/// `struct sock_extended_err` and the address after it, with space for either family.
#[derive(Clone, Copy)]
#[repr(C)]
struct ErrorWithV4 {
    error: libc::sock_extended_err,
    offender: libc::sockaddr_in,
}
#[derive(Clone, Copy)]
#[repr(C)]
struct ErrorWithV6 {
    error: libc::sock_extended_err,
    offender: libc::sockaddr_in6,
}

pub(crate) fn notice(header: &libc::msghdr) -> Option<Notice> {
    // linux/errqueue.h and linux/net_tstamp.h.
    const ORIGIN_ICMP: u8 = 2;
    const ORIGIN_ICMP6: u8 = 3;
    const ORIGIN_TIMESTAMPING: u8 = 4;
    const TSTAMP_SCHED: u32 = 1;
    let (v4, v6) = ((libc::SOL_IP, libc::IP_RECVERR), (libc::SOL_IPV6, libc::IPV6_RECVERR));
    let error: libc::sock_extended_err = control(header, &[v4, v6])?;
    let by = match error.ee_origin {
        ORIGIN_TIMESTAMPING if error.ee_info == TSTAMP_SCHED => return Some(Notice::Queued),
        ORIGIN_ICMP => {
            let told: Option<ErrorWithV4> = control(header, &[v4]);
            let named = told.map(|t| t.offender).filter(|o| libc::c_int::from(o.sin_family) == libc::AF_INET);
            named.map(|o| IpAddr::V4(u32::from_be(o.sin_addr.s_addr).into()))
        }
        ORIGIN_ICMP6 => {
            let told: Option<ErrorWithV6> = control(header, &[v6]);
            let named =
                told.map(|t| t.offender).filter(|o| libc::c_int::from(o.sin6_family) == libc::AF_INET6);
            named.map(|o| IpAddr::V6(o.sin6_addr.s6_addr.into()))
        }
        _ => return Some(Notice::Other),
    };
    Some(Notice::Refused(IcmpRefusal { by, icmp_type: error.ee_type, code: error.ee_code }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timestamp::{Stamping, enable, enable_with_packets, send_stamped};
    use socket2::SockAddr;
    use std::net::{SocketAddr, UdpSocket};
    use std::os::fd::AsFd;

    fn sockets(any: &str) -> (UdpSocket, UdpSocket) {
        (UdpSocket::bind(any).unwrap(), UdpSocket::bind(any).unwrap())
    }

    #[test]
    fn all_that_is_there_comes_in_one_call() {
        for any in ["127.0.0.1:0", "[::1]:0"] {
            let (sender, receiver) = sockets(any);
            let to = receiver.local_addr().unwrap();
            for letter in [&[0_u8][..], &[2, 2, 2]] {
                sender.send_to(letter, to).unwrap();
            }
            let mut inbox = Inbox::new(3, 2);
            assert_eq!(inbox.receive(receiver.as_fd()).unwrap(), 2);
            let from = sender.local_addr().ok();
            let got: Vec<_> = inbox.iter().map(|l| (l.bytes.to_vec(), l.from, l.notice)).collect();
            // The second datagram has 3 bytes and is truncated.
            assert_eq!(got, [(vec![0], from, None), (vec![2, 2], from, None)]);
            assert!(!inbox.was_full());
            assert_eq!(inbox.receive(receiver.as_fd()).unwrap(), 0);
            assert_eq!(inbox.iter().count(), 0);
        }
    }

    #[test]
    fn the_stamp_of_leaving_comes_with_the_packet() {
        let (sender, receiver) = sockets("127.0.0.1:0");
        enable_with_packets(sender.as_fd()).unwrap();
        sender.send_to(b"the packet itself", receiver.local_addr().unwrap()).unwrap();
        let mut inbox = Inbox::new(4, 200);
        assert_eq!(inbox.receive_errors(sender.as_fd()).unwrap(), 1);
        let letter = inbox.iter().next().unwrap();
        assert_eq!(letter.notice, Some(Notice::Queued));
        assert!(letter.stamp.is_some() && letter.bytes.ends_with(b"the packet itself"), "{letter:?}");
    }

    #[test]
    fn only_what_is_asked_to_be_stamped_is() {
        for any in ["127.0.0.1:0", "[::1]:0"] {
            let (sender, receiver) = sockets(any);
            enable(sender.as_fd(), Stamping::Arrivals).unwrap();
            let to = receiver.local_addr().unwrap();
            for letter in [b"one", b"two"] {
                sender.send_to(letter, to).unwrap();
                send_stamped(sender.as_fd(), letter, &to.into()).unwrap();
            }
            let mut inbox = Inbox::new(8, 200);
            assert_eq!(inbox.receive_errors(sender.as_fd()).unwrap(), 2);
            for (letter, bytes) in inbox.iter().zip([b"one", b"two"]) {
                assert_eq!(letter.notice, Some(Notice::Queued));
                assert!(letter.stamp.is_some() && letter.bytes.ends_with(bytes), "{letter:?}");
            }
            assert_eq!(inbox.receive(receiver.as_fd()).unwrap(), 4);
            let nowhere: SockAddr = SocketAddr::new(to.ip(), 0).into();
            let refused = send_stamped(sender.as_fd(), b"x", &nowhere).unwrap_err();
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput);
        }
    }
}
