//! Sockets for ICMP echo.
pub use crate::echo_error::{ALLOW_ECHO, EchoSocketError};
use crate::mmsg::Inbox;
use crate::option;
use crate::received::{QueueEntry, Received, Stamping};
use crate::socket::{queue_errors, set_class, set_dscp, set_hop_limit, set_receive_buffer, set_send_buffer};
use crate::timestamp::{Batch, enable, enable_headers, queue_entry, receive};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

/// A socket that can send ICMP echo requests.
#[derive(Debug)]
pub struct EchoSocket {
    /// Non-blocking.
    pub socket: Socket,
    /// The kernel sets the identifier and delivers only matching replies. Otherwise this is a raw
    /// socket: the caller chooses the identifier and receives every ICMP packet of the host, for
    /// IPv4 with the IP header.
    pub kernel_matches: bool,
    is_ipv6: bool,
}

impl EchoSocket {
    /// Limits the peer to this host.
    ///
    /// # Errors
    /// See `connect(2)`.
    pub fn connect(&self, to: SocketAddr) -> io::Result<()> {
        self.socket.connect(&to.into())
    }
    /// Prepares a burst of requests to a host, with this traffic class: a full queue of this host
    /// makes the sender wait, and the kernel keeps replies of `buffer_bytes`, or what it permits.
    ///
    /// # Errors
    /// See `setsockopt(2)`.
    pub fn prepare_burst(&self, to: SocketAddr, class: u8, buffer_bytes: u32) -> io::Result<()> {
        self.connect(to)?;
        set_class(&self.socket, self.is_ipv6, class)?;
        self.socket.set_nonblocking(false)?;
        // Smaller ones lose replies only while the reader does not run.
        drop(set_receive_buffer(&self.socket, buffer_bytes));
        drop(set_send_buffer(&self.socket, buffer_bytes));
        enable(self.as_fd(), Stamping::Arrivals)
    }
    /// Sets the DSCP of requests.
    ///
    /// # Errors
    /// See `setsockopt(2)`.
    pub fn set_dscp(&self, dscp: u8) -> io::Result<()> {
        set_dscp(&self.socket, self.is_ipv6, dscp)
    }
    /// Sets the hop limit (IPv4: TTL) of requests sent from now on.
    ///
    /// # Errors
    /// See `setsockopt(2)`.
    pub fn set_hop_limit(&self, hops: u8) -> io::Result<()> {
        set_hop_limit(&self.socket, self.is_ipv6, hops)
    }
    /// Queues ICMP errors about requests.
    ///
    /// # Errors
    /// See `setsockopt(2)`.
    pub fn queue_errors(&self) -> io::Result<()> {
        queue_errors(&self.socket, self.is_ipv6)
    }
    /// Enables timestamps, and reports the hop limit and the class of replies.
    ///
    /// # Errors
    /// See `setsockopt(2)`.
    pub fn enable(&self, stamping: Stamping) -> io::Result<()> {
        enable(self.socket.as_fd(), stamping)?;
        enable_headers(self.socket.as_fd(), self.is_ipv6)
    }
    /// Sends a request to the connected host.
    ///
    /// # Errors
    /// See `send(2)`. An ICMP error about an earlier request is an error, too, and then nothing is
    /// sent.
    pub fn send(&self, request: &[u8]) -> io::Result<usize> {
        self.socket.send(request)
    }
    /// Sends a request to a host.
    ///
    /// # Errors
    /// As [`EchoSocket::send`].
    pub fn send_to(&self, request: &[u8], to: SocketAddr) -> io::Result<usize> {
        self.socket.send_to(request, &to.into())
    }
    /// Is readable when there is a reply or an error.
    #[must_use]
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
    /// As [`receive`].
    ///
    /// # Errors
    /// As [`receive`].
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Received> {
        receive(self.as_fd(), buffer)
    }
    /// As [`queue_entry`].
    ///
    /// # Errors
    /// As [`queue_entry`].
    pub fn queue_entry(&self, buffer: &mut [u8]) -> io::Result<QueueEntry> {
        queue_entry(self.as_fd(), buffer)
    }
    /// As [`Batch::receive`].
    ///
    /// # Errors
    /// As [`Batch::receive`].
    pub fn receive_batch(&self, batch: &mut Batch) -> io::Result<usize> {
        batch.receive(self.as_fd())
    }
    /// As [`Inbox::receive`].
    ///
    /// # Errors
    /// As [`Inbox::receive`].
    pub fn receive_into(&self, inbox: &mut Inbox) -> io::Result<usize> {
        inbox.receive(self.as_fd())
    }
    /// As [`Inbox::receive_errors`].
    ///
    /// # Errors
    /// As [`Inbox::receive_errors`].
    pub fn receive_errors_into(&self, inbox: &mut Inbox) -> io::Result<usize> {
        inbox.receive_errors(self.as_fd())
    }
}

/// Opens an unprivileged echo socket if `net.ipv4.ping_group_range` allows it, otherwise a raw one.
///
/// # Errors
/// If neither is possible.
pub fn echo_socket(is_ipv6: bool) -> Result<EchoSocket, EchoSocketError> {
    let (domain, protocol) =
        if is_ipv6 { (Domain::IPV6, Protocol::ICMPV6) } else { (Domain::IPV4, Protocol::ICMPV4) };
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
        only_replies_and_errors(&socket, is_ipv6).map_err(EchoSocketError::Io)?;
    }
    socket.set_nonblocking(true).map_err(EchoSocketError::Io)?;
    Ok(EchoSocket { socket, kernel_matches, is_ipv6 })
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
fn only_replies_and_errors(socket: &Socket, is_ipv6: bool) -> io::Result<()> {
    // linux/icmpv6.h: works like that of ICMP.
    const ICMPV6_FILTER: libc::c_int = 1;
    if is_ipv6 {
        let mut filter = [0_u32; 8];
        // Type 128: echo request.
        filter[128 / 32] = 1;
        option::set(socket, libc::IPPROTO_ICMPV6, ICMPV6_FILTER, filter)
    } else {
        option::set(socket, libc::SOL_RAW, ICMP_FILTER, 1_u32 << 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_names_the_setting() {
        assert!(EchoSocketError::NotPermitted.to_string().contains("net.ipv4.ping_group_range"));
    }
}
