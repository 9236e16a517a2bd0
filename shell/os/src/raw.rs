//! Raw sockets for packets in a TCP flow of this host, which needs CAP_NET_RAW.
use crate::mmsg::Inbox;
use crate::timestamp::{Stamping, enable};
use fathom_units::WallTime;
use socket2::{Domain, Protocol, SockAddr, SockFilter, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

/// Packets that are read at once, and longest one: an ICMP error quotes a request.
const BATCH: usize = 32;
const PACKET_BYTES: usize = 256;
/// Longest packet that is received from the peer: an acknowledgment with the longest headers of
/// IPv4 and TCP. Longer ones have data.
const LONGEST: u32 = 120;
/// Receive buffer in bytes: a few packets. Only the newest acknowledgments are of interest.
const BUFFER: usize = 8_192;
/// `ip(7)`: packets of this protocol are sent with the header that the program writes.
const IPPROTO_RAW: i32 = 255;

/// Sockets of the probes in flows to a peer.
#[derive(Debug)]
pub struct FlowSockets {
    peer: Ipv4Addr,
    /// Sends packets with their IP header.
    sender: Socket,
    /// Receives copies of the peer's TCP packets without data, from the IP header on.
    acknowledgments: Socket,
    /// Receives copies of ICMP errors about expired TCP segments, from the IP header on.
    errors: Socket,
    inbox: Inbox,
}

impl FlowSockets {
    /// Opens the sockets for flows to `peer`.
    ///
    /// # Errors
    /// See `raw(7)`.
    pub fn open(peer: Ipv4Addr) -> io::Result<FlowSockets> {
        let sender = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::from(IPPROTO_RAW)))?;
        let acknowledgments = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::TCP))?;
        acknowledgments.set_recv_buffer_size(BUFFER)?;
        acknowledgments.attach_filter(&small_packets_from(peer))?;
        let errors = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4))?;
        errors.attach_filter(&EXPIRED_TCP)?;
        enable(errors.as_fd(), Stamping::Arrivals)?;
        for socket in [&sender, &acknowledgments, &errors] {
            socket.set_nonblocking(true)?;
        }
        Ok(FlowSockets { peer, sender, acknowledgments, errors, inbox: Inbox::new(BATCH, PACKET_BYTES) })
    }
    /// Sends a packet, with its IP header, to the peer.
    ///
    /// # Errors
    /// See `sendto(2)`.
    pub fn send(&self, packet: &[u8]) -> io::Result<usize> {
        self.sender.send_to(packet, &SockAddr::from(SocketAddr::from((self.peer, 0))))
    }
    /// Reads some of the peer's packets. They are copies of few of them: a full batch is enough.
    pub fn read_acknowledgments(&mut self, mut take: impl FnMut(&[u8])) {
        if self.inbox.receive(self.acknowledgments.as_fd()).is_ok() {
            self.inbox.iter().for_each(|message| take(message.bytes));
        }
    }
    /// Reads some ICMP errors, with the times of their arrival.
    pub fn read_errors(&mut self, mut take: impl FnMut(&[u8], Option<WallTime>)) {
        if self.inbox.receive(self.errors.as_fd()).is_ok() {
            self.inbox.iter().for_each(|message| take(message.bytes, message.stamp));
        }
    }
    /// Is readable when there are ICMP errors.
    #[must_use]
    pub fn errors(&self) -> BorrowedFd<'_> {
        self.errors.as_fd()
    }
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

/// The source address and the total length of the IP header.
fn small_packets_from(peer: Ipv4Addr) -> [SockFilter; 6] {
    [
        load(libc::BPF_W | libc::BPF_ABS, 12),
        unless(libc::BPF_JEQ, peer.to_bits(), 3),
        load(libc::BPF_H | libc::BPF_ABS, 2),
        SockFilter::new((libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K) as u16, 1, 0, LONGEST),
        accept(u32::MAX),
        accept(0),
    ]
}

/// ICMP type 11 (time exceeded) that quotes a packet of protocol 6 (TCP).
const EXPIRED_TCP: [SockFilter; 7] = [
    // X: length of the IP header.
    SockFilter::new((libc::BPF_LDX | libc::BPF_B | libc::BPF_MSH) as u16, 0, 0, 0),
    load(libc::BPF_B | libc::BPF_IND, 0),
    unless(libc::BPF_JEQ, 11, 3),
    load(libc::BPF_B | libc::BPF_IND, 8 + 9),
    unless(libc::BPF_JEQ, 6, 1),
    accept(u32::MAX),
    accept(0),
];
