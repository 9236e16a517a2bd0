//! Datagrams with control messages.
use fathom_bsd::control::{Added, read};
use socket2::SockAddr;
use std::io;
use std::mem;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Space for everything that the kernel adds, in 8-byte words for alignment.
const CONTROL_WORDS: usize = 32;

/// An empty message whose data is `part`.
fn header(part: &mut libc::iovec) -> libc::msghdr {
    // SAFETY: a msghdr consists of pointers and integers; all zeros is an empty message.
    let mut header: libc::msghdr = unsafe { mem::zeroed() };
    header.msg_iov = part;
    header.msg_iovlen = 1;
    header
}

/// Receives one datagram, or available stream data: its length, its sender, and what the kernel
/// adds. Does not block.
///
/// # Errors
/// See `recvmsg(2)`; `WouldBlock` if there is nothing.
pub(super) fn receive(
    socket: BorrowedFd<'_>,
    buffer: &mut [u8],
) -> io::Result<(usize, Option<SocketAddr>, Added)> {
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut control = [0_u64; CONTROL_WORDS];
    let mut header = header(&mut part);
    header.msg_control = control.as_mut_ptr().cast();
    header.msg_controllen = size_of_val(&control) as libc::socklen_t;
    let fill = |storage: *mut socket2::SockAddrStorage, room: *mut libc::socklen_t| {
        header.msg_name = storage.cast();
        // SAFETY: `try_init` passes valid pointers: the second to the size of the first.
        header.msg_namelen = unsafe { *room };
        // SAFETY: `header` points to `part`, which points to `buffer`, to `control` and to the
        // storage; all outlive the call.
        let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_DONTWAIT) };
        let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
        // SAFETY: as above.
        unsafe { *room = header.msg_namelen };
        Ok(length)
    };
    // SAFETY: the kernel fills the storage with an address, as long as it says; nothing stays
    // all zeros, which is an address of no family.
    let (length, from) = unsafe { SockAddr::try_init(fill) }?;
    let filled = (header.msg_controllen as usize).min(size_of_val(&control));
    // SAFETY: all bytes of the integers are initialized, and bytes need no alignment.
    let control = unsafe { core::slice::from_raw_parts(control.as_ptr().cast::<u8>(), filled) };
    Ok((length, from.as_socket(), read(control)))
}

/// Sends a datagram with control messages.
///
/// # Errors
/// See `sendmsg(2)`.
pub(super) fn send(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    to: SocketAddr,
    control: &[u8],
) -> io::Result<usize> {
    let to = SockAddr::from(to);
    // In words, for alignment.
    let mut words = [0_u64; CONTROL_WORDS];
    for (word, part) in words.iter_mut().zip(control.chunks(8)) {
        let mut whole = [0; 8];
        whole[..part.len()].copy_from_slice(part);
        *word = u64::from_ne_bytes(whole);
    }
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let mut header = header(&mut part);
    header.msg_name = to.as_ptr().cast_mut().cast();
    header.msg_namelen = to.len();
    header.msg_control = words.as_mut_ptr().cast();
    header.msg_controllen = control.len().min(size_of_val(&words)) as libc::socklen_t;
    // SAFETY: `header` points to `to`, `part` (which points to `bytes`, only read) and `words`; all
    // outlive the call.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const header, 0) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}
