//! Raw sockets for packets in a TCP flow of this host, which needs CAP_NET_RAW.
use crate::mmsg::Inbox;
pub use crate::received::FlowError;
use crate::timestamp::{Stamping, enable};
use socket2::{Domain, Protocol, SockAddr, SockFilter, Socket, Type};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

/// Packets that are read at once, and longest one: an ICMP error quotes a request.
const BATCH: usize = 32;
const PACKET_BYTES: usize = 256;
/// Longest header of TCP, and of IPv4. A longer packet has data.
const LONGEST_HEADER: u32 = 60;
/// Receive buffer in bytes: a few packets. Only the newest acknowledgments are of interest.
const BUFFER: usize = 8_192;
/// `ip(7)`: packets of this protocol are sent with the header that the program writes.
const IPPROTO_RAW: i32 = 255;
const TCP: u32 = 6;

/// Sockets of the probes in flows to a peer.
#[derive(Debug)]
pub struct FlowSockets {
    host: IpAddr,
    peer: IpAddr,
    /// Sends packets with their IP header.
    sender: Socket,
    /// Receives copies of the peer's TCP packets without data.
    acknowledgments: Socket,
    /// Receives copies of ICMP errors about expired TCP segments.
    errors: Socket,
    inbox: Inbox,
}

impl FlowSockets {
    /// Opens the sockets for flows to `peer`, from `host`, or from the address that this host uses
    /// for new flows to `peer`.
    ///
    /// # Errors
    /// See `raw(7)`; if `peer` is not reachable.
    pub fn open(host: Option<IpAddr>, peer: IpAddr) -> io::Result<FlowSockets> {
        let (is_ipv6, to) = (peer.is_ipv6(), SocketAddr::new(peer, 0));
        let open = |protocol| Socket::new(Domain::for_address(to), Type::RAW, Some(protocol));
        let sender = open(Protocol::from(IPPROTO_RAW))?;
        let acknowledgments = open(Protocol::TCP)?;
        acknowledgments.set_recv_buffer_size(BUFFER)?;
        // A raw socket of IPv4 receives the IP header, too.
        let headers = if is_ipv6 { 1 } else { 2 };
        acknowledgments.attach_filter(&no_longer_than(headers * LONGEST_HEADER))?;
        if let Some(host) = host {
            acknowledgments.bind(&SocketAddr::new(host, 0).into())?;
        }
        acknowledgments.connect(&to.into())?;
        let own = acknowledgments.local_addr()?.as_socket().ok_or(io::ErrorKind::AddrNotAvailable)?.ip();
        let errors = open(if is_ipv6 { Protocol::ICMPV6 } else { Protocol::ICMPV4 })?;
        errors.attach_filter(&if is_ipv6 { EXPIRED_TCP_V6 } else { EXPIRED_TCP_V4 })?;
        enable(errors.as_fd(), Stamping::Arrivals)?;
        for socket in [&sender, &acknowledgments, &errors] {
            socket.set_nonblocking(true)?;
        }
        let inbox = Inbox::new(BATCH, PACKET_BYTES);
        Ok(FlowSockets { host: own, peer, sender, acknowledgments, errors, inbox })
    }
    /// The address of this host.
    #[must_use]
    pub const fn host(&self) -> IpAddr {
        self.host
    }
    /// Sends a packet, with its IP header, to the peer.
    ///
    /// # Errors
    /// See `sendto(2)`.
    pub fn send(&self, packet: &[u8]) -> io::Result<usize> {
        self.sender.send_to(packet, &SockAddr::from(SocketAddr::new(self.peer, 0)))
    }
    /// Reads some of the peer's segments. They are copies of few of them: a full batch is enough.
    pub fn read_acknowledgments(&mut self, mut take: impl FnMut(&[u8])) {
        if self.inbox.receive(self.acknowledgments.as_fd()).is_ok() {
            let segments = self.inbox.iter().filter_map(|packet| after_header(packet.bytes, self.peer));
            segments.for_each(&mut take);
        }
    }
    /// Reads some ICMP errors.
    pub fn read_errors(&mut self, mut take: impl FnMut(FlowError<'_>)) {
        if self.inbox.receive(self.errors.as_fd()).is_ok() {
            let errors = self.inbox.iter().filter_map(|packet| {
                let message = after_header(packet.bytes, self.peer)?;
                Some(FlowError { router: packet.from?.ip(), message, stamp: packet.stamp })
            });
            errors.for_each(&mut take);
        }
    }
    /// Is readable when there are ICMP errors.
    #[must_use]
    pub fn errors(&self) -> BorrowedFd<'_> {
        self.errors.as_fd()
    }
}

/// What follows the IP header, which a raw socket of IPv6 does not give.
fn after_header(bytes: &[u8], peer: IpAddr) -> Option<&[u8]> {
    if peer.is_ipv6() { Some(bytes) } else { bytes.get(usize::from(bytes.first()? & 0x0f) * 4..) }
}

const fn load(code: u32, at: u32) -> SockFilter {
    SockFilter::new((libc::BPF_LD | code) as u16, 0, 0, at)
}

/// Jumps `jf` instructions if the comparison with `k` is false.
const fn unless(code: u32, k: u32, jf: u8) -> SockFilter {
    SockFilter::new((libc::BPF_JMP | code | libc::BPF_K) as u16, 0, jf, k)
}

const fn accept(bytes: u32) -> SockFilter {
    SockFilter::new((libc::BPF_RET | libc::BPF_K) as u16, 0, 0, bytes)
}

const fn no_longer_than(limit: u32) -> [SockFilter; 4] {
    [
        load(libc::BPF_W | libc::BPF_LEN, 0),
        SockFilter::new((libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K) as u16, 1, 0, limit),
        accept(u32::MAX),
        accept(0),
    ]
}

/// X is the length of the IP header.
const EXPIRED_TCP_V4: [SockFilter; 7] =
    expired_tcp(SockFilter::new((libc::BPF_LDX | libc::BPF_B | libc::BPF_MSH) as u16, 0, 0, 0), 11, 8 + 9);
/// X is 0: there is no IP header.
const EXPIRED_TCP_V6: [SockFilter; 7] =
    expired_tcp(SockFilter::new((libc::BPF_LDX | libc::BPF_W | libc::BPF_IMM) as u16, 0, 0, 0), 3, 8 + 6);

/// An ICMP message of this type that quotes a packet of TCP.
const fn expired_tcp(set_x: SockFilter, icmp_type: u32, protocol_at: u32) -> [SockFilter; 7] {
    [
        set_x,
        load(libc::BPF_B | libc::BPF_IND, 0),
        unless(libc::BPF_JEQ, icmp_type, 3),
        load(libc::BPF_B | libc::BPF_IND, protocol_at),
        unless(libc::BPF_JEQ, TCP, 1),
        accept(u32::MAX),
        accept(0),
    ]
}
