//! ICMP echo by unprivileged sockets.
//!
//! They receive what all programs of the host are sent, and have no error queue: errors are among
//! the messages. So this sorts what arrives, and gives the same as the sockets of Linux.
use super::message;
use super::option;
pub use crate::echo_error::{ALLOW_ECHO, EchoSocketError};
use crate::mmsg::{IcmpRefusal, Inbox, Notice, Stored};
use crate::received::{QueueEntry, Received, Stamping};
use crate::socket::{set_class, set_dscp, set_hop_limit, set_receive_buffer, set_send_buffer};
use crate::timestamp::{Batch, enable};
use fathom_bsd::icmp::{Kind, kind, split_v4};
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Longest message.
const MOST_BYTES: usize = 65_535;
/// Replies or errors that wait for a call.
const MOST_WAITING: usize = 4_096;
/// The default of the kernel, 8,192 bytes, holds few replies.
const BUFFER_BYTES: u32 = 256 * 1024;

/// A socket that can send ICMP echo requests.
#[derive(Debug)]
pub struct EchoSocket {
    socket: Socket,
    /// The caller chooses the identifier, and receives the replies to other programs.
    pub kernel_matches: bool,
    is_ipv6: bool,
    /// A connected socket would not receive the errors of routers.
    peer: OnceLock<SocketAddr>,
    has_errors: AtomicBool,
    sorted: Mutex<Sorted>,
}

/// What has arrived, and where it arrives.
#[derive(Debug)]
struct Sorted {
    buffer: Vec<u8>,
    replies: VecDeque<(Stored, Vec<u8>)>,
    errors: VecDeque<(Stored, Vec<u8>)>,
}

/// Opens an echo socket, which every user may.
///
/// # Errors
/// See `socket(2)`.
pub fn echo_socket(is_ipv6: bool) -> Result<EchoSocket, EchoSocketError> {
    open(is_ipv6).map_err(EchoSocketError::Io)
}

fn open(is_ipv6: bool) -> io::Result<EchoSocket> {
    let (domain, protocol) =
        if is_ipv6 { (Domain::IPV6, Protocol::ICMPV6) } else { (Domain::IPV4, Protocol::ICMPV4) };
    let socket = Socket::new(domain, Type::DGRAM, Some(protocol))?;
    socket.set_nonblocking(true)?;
    // Without either, it receives less, or more.
    drop(set_receive_buffer(&socket, BUFFER_BYTES));
    if is_ipv6 {
        drop(only_replies_and_errors(&socket));
    }
    Ok(EchoSocket {
        socket,
        kernel_matches: false,
        is_ipv6,
        peer: OnceLock::new(),
        has_errors: AtomicBool::new(false),
        sorted: Mutex::new(Sorted {
            buffer: vec![0; MOST_BYTES],
            replies: VecDeque::new(),
            errors: VecDeque::new(),
        }),
    })
}

/// Keeps messages between neighbors away.
fn only_replies_and_errors(socket: &Socket) -> io::Result<()> {
    // bsd/netinet/icmp6.h: a set bit lets that type pass.
    const ICMP6_FILTER: libc::c_int = 18;
    let mut filter = [0_u32; 8];
    for icmp_type in [1, 2, 3, 4, 129] {
        filter[icmp_type / 32] |= 1 << (icmp_type % 32);
    }
    option::set(socket, libc::IPPROTO_ICMPV6, ICMP6_FILTER, filter)
}

impl EchoSocket {
    /// Limits the peer to this host.
    ///
    /// # Errors
    /// None.
    pub fn connect(&self, to: SocketAddr) -> io::Result<()> {
        let _ = self.peer.set(to);
        Ok(())
    }
    /// Prepares a burst of requests to a host, with this traffic class; the kernel keeps replies of
    /// `buffer_bytes`, or what it permits.
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
        self.enable(Stamping::Arrivals)
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
    /// None.
    pub fn queue_errors(&self) -> io::Result<()> {
        self.has_errors.store(true, Relaxed);
        Ok(())
    }
    /// Enables timestamps of arrivals, and reports the hop limit and the class of replies.
    ///
    /// # Errors
    /// See `setsockopt(2)`.
    pub fn enable(&self, stamping: Stamping) -> io::Result<()> {
        enable(self.as_fd(), stamping)?;
        // Those of IPv4 are in the header, which arrives with the message; the kernel refuses such
        // options for it.
        if !self.is_ipv6 {
            return Ok(());
        }
        [libc::IPV6_RECVHOPLIMIT, libc::IPV6_RECVTCLASS]
            .into_iter()
            .try_for_each(|name| option::set(&self.socket, libc::IPPROTO_IPV6, name, 1 as libc::c_int))
    }
    /// Sends a request to the connected host.
    ///
    /// # Errors
    /// See `sendto(2)`; `NotConnected` without a host.
    pub fn send(&self, request: &[u8]) -> io::Result<usize> {
        let to = self.peer.get().copied().ok_or(io::ErrorKind::NotConnected)?;
        self.send_to(request, to)
    }
    /// Sends a request to a host.
    ///
    /// # Errors
    /// See `sendto(2)`.
    pub fn send_to(&self, request: &[u8], to: SocketAddr) -> io::Result<usize> {
        self.socket.send_to(request, &to.into())
    }
    /// Is readable when there is a message.
    #[must_use]
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
    /// Takes a reply.
    ///
    /// # Errors
    /// See `recvmsg(2)`; `WouldBlock` if there is none.
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Received> {
        let Stored { length, from, stamp, hop_limit, class, .. } =
            self.take(buffer, |sorted| &mut sorted.replies)?;
        Ok(Received { length, from, stamp, to: None, hop_limit, class })
    }
    /// Takes an error, and the request that it is about.
    ///
    /// # Errors
    /// See `recvmsg(2)`; `WouldBlock` if there is none.
    pub fn queue_entry(&self, buffer: &mut [u8]) -> io::Result<QueueEntry> {
        let stored = self.take(buffer, |sorted| &mut sorted.errors)?;
        Ok(match stored.notice {
            Some(Notice::Refused(refusal)) => QueueEntry::Refused(refusal, stored.length),
            _ => QueueEntry::Other,
        })
    }
    /// Takes replies. Returns their number.
    ///
    /// # Errors
    /// See `recvmsg(2)`; `WouldBlock` if there are none.
    pub fn receive_batch(&self, batch: &mut Batch) -> io::Result<usize> {
        batch.fill(|buffer| self.receive(buffer))
    }
    /// Takes replies. Returns their number, which may be 0.
    ///
    /// # Errors
    /// See `recvmsg(2)`.
    pub fn receive_into(&self, inbox: &mut Inbox) -> io::Result<usize> {
        inbox.fill(|buffer| self.take(buffer, |sorted| &mut sorted.replies))
    }
    /// Takes errors. Returns their number, which may be 0.
    ///
    /// # Errors
    /// See `recvmsg(2)`.
    pub fn receive_errors_into(&self, inbox: &mut Inbox) -> io::Result<usize> {
        inbox.fill(|buffer| self.take(buffer, |sorted| &mut sorted.errors))
    }
    /// Takes the next message of a queue, and sorts what arrives until there is one. What is then
    /// in the other queue no longer makes the socket readable: callers take from both after each
    /// wait, and timestamps are those of arrival.
    fn take(
        &self,
        buffer: &mut [u8],
        queue: impl Fn(&mut Sorted) -> &mut VecDeque<(Stored, Vec<u8>)>,
    ) -> io::Result<Stored> {
        let mut sorted = self.sorted.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some((mut stored, bytes)) = queue(&mut sorted).pop_front() {
                stored.length = bytes.len().min(buffer.len());
                buffer[..stored.length].copy_from_slice(&bytes[..stored.length]);
                return Ok(stored);
            }
            self.sort(&mut sorted)?;
        }
    }
    /// Receives one message.
    fn sort(&self, sorted: &mut Sorted) -> io::Result<()> {
        let Sorted { buffer, replies, errors } = sorted;
        let (length, from, added) = message::receive(self.socket.as_fd(), buffer)?;
        let bytes = &buffer[..length.min(MOST_BYTES)];
        let packet = if self.is_ipv6 { None } else { split_v4(bytes) };
        let bytes = packet.map_or(bytes, |packet| packet.message);
        let hop_limit = packet.map_or(added.hop_limit, |packet| Some(packet.hop_limit));
        let class = packet.map_or(added.class, |packet| Some(packet.class));
        let stored = Stored { length: 0, from, stamp: added.stamp, notice: None, hop_limit, class };
        let is_peer = |ip: IpAddr| self.peer.get().is_none_or(|peer| peer.ip() == ip);
        let (queue, new) = match kind(bytes, self.is_ipv6) {
            Some(Kind::Reply) if from.is_some_and(|from| is_peer(from.ip())) => {
                (replies, (stored, bytes.to_vec()))
            }
            Some(Kind::Error { icmp_type, code, to, request })
                if self.has_errors.load(Relaxed) && is_peer(to) =>
            {
                let refusal = IcmpRefusal { by: from.map(|from| from.ip()), icmp_type, code };
                let (to, notice) = (Some(SocketAddr::new(to, 0)), Some(Notice::Refused(refusal)));
                (errors, (Stored { from: to, notice, ..stored }, request.to_vec()))
            }
            _ => return Ok(()),
        };
        if queue.len() == MOST_WAITING {
            queue.pop_front();
        }
        queue.push_back(new);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poll::{self, PollFd};
    use fathom_units::Duration;

    #[test]
    fn a_reply_has_the_data_of_its_request() {
        for (is_ipv6, to, kinds) in [(false, "127.0.0.1:0", [8, 0]), (true, "[::1]:0", [128, 129])] {
            let socket = echo_socket(is_ipv6).unwrap();
            socket.connect(to.parse().unwrap()).unwrap();
            socket.enable(Stamping::Both).unwrap();
            let mut buffer = [0; 64];
            assert_eq!(socket.receive(&mut buffer).unwrap_err().kind(), io::ErrorKind::WouldBlock);
            let mut request = [kinds[0], 0, 0, 0, 1, 2, 3, 4, b'd', b'e', b'p', b't'];
            if !is_ipv6 {
                // The sum of the words, and its complement.
                let words = request.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
                let sum = words.sum::<u32>();
                let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
                request[2..4].copy_from_slice(&sum.to_be_bytes());
            }
            assert_eq!(socket.send(&request).unwrap(), request.len());
            let reply = loop {
                let found = poll::wait(&mut [PollFd::readable(socket.as_fd())], Some(Duration::from_secs(5)));
                assert_eq!(found.unwrap(), 1, "{to}: no reply within 5 s");
                match socket.receive(&mut buffer) {
                    Ok(reply) if buffer[4..reply.length] == request[4..] => break reply,
                    _ => {}
                }
            };
            assert_eq!((buffer[0], reply.from), (kinds[1], Some(to.parse().unwrap())));
            assert!(reply.stamp.is_some() && reply.hop_limit.is_some(), "{reply:?}");
        }
    }
}
