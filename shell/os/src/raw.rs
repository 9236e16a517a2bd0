//! Raw sockets for packets in a TCP flow of this host, which needs CAP_NET_RAW.
use socket2::{Domain, Protocol, SockAddr, SockFilter, Socket, Type};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

/// Longest packet that is received from the server: an acknowledgment with the longest headers of
/// IPv4 and TCP. Longer ones have data.
const LONGEST: u32 = 120;
/// Receive buffer in bytes: a few packets. Only the newest acknowledgments are of interest.
const BUFFER: usize = 8_192;
/// `ip(7)`: packets of this protocol are sent with the header that the program writes.
const IPPROTO_RAW: i32 = 255;

/// Sockets of the probes in a flow.
pub struct FlowSockets {
    /// Sends packets with their IP header.
    sender: Socket,
    /// Receives copies of the server's TCP packets without data, from the IP header on.
    pub acknowledgments: Socket,
    /// Receives copies of ICMP errors about expired TCP segments, from the IP header on.
    pub errors: Socket,
}

impl FlowSockets {
    /// Opens the sockets for flows to `server`.
    ///
    /// # Errors
    /// See `raw(7)`.
    pub fn open(server: Ipv4Addr) -> io::Result<FlowSockets> {
        let sender = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::from(IPPROTO_RAW)))?;
        let acknowledgments = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::TCP))?;
        acknowledgments.set_recv_buffer_size(BUFFER)?;
        acknowledgments.attach_filter(&small_packets_from(server))?;
        let errors = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4))?;
        errors.attach_filter(&EXPIRED_TCP)?;
        for socket in [&sender, &acknowledgments, &errors] {
            socket.set_nonblocking(true)?;
        }
        Ok(FlowSockets { sender, acknowledgments, errors })
    }
    /// Sends a packet, with its IP header, to `server`.
    ///
    /// # Errors
    /// See `sendto(2)`.
    pub fn send(&self, packet: &[u8], server: Ipv4Addr) -> io::Result<usize> {
        self.sender.send_to(packet, &SockAddr::from(SocketAddr::from((server, 0))))
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
fn small_packets_from(server: Ipv4Addr) -> [SockFilter; 6] {
    [
        load(libc::BPF_W | libc::BPF_ABS, 12),
        unless(libc::BPF_JEQ, server.to_bits(), 3),
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
