//! What arrives on sockets of datagrams: the same on every system.
use fathom_units::WallTime;
use std::net::{IpAddr, SocketAddr};

/// Which packets of a socket the kernel timestamps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stamping {
    /// Arriving packets.
    Arrivals,
    /// Arriving packets, and departing ones twice: entering the host's queue, and leaving it for
    /// the device.
    Both,
}

/// A received datagram or part of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Received {
    /// Bytes written to the buffer; 0 is the end of a stream.
    pub length: usize,
    /// The sender; `None` for a stream.
    pub from: Option<SocketAddr>,
    /// Kernel timestamp of arrival; for a stream, of the last byte.
    pub stamp: Option<WallTime>,
    /// Address of this host to which it was sent, with port 0, after `enable_headers`.
    pub to: Option<SocketAddr>,
    /// Its TTL or hop limit, after `enable_headers`.
    pub hop_limit: Option<u8>,
    /// Its traffic class (DSCP and ECN field), after `enable_headers` or `enable_class`.
    pub class: Option<u8>,
}

/// The moment of a departure timestamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Departure {
    /// The packet entered the host's queue of the interface.
    Queued,
    /// The packet was handed to the device.
    Sent,
}

/// Timestamp of a sent packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SentStamp {
    /// Number of the packet among those sent on the socket since timestamps were enabled, from 0.
    pub id: u32,
    /// The moment.
    pub departure: Departure,
    /// The time.
    pub stamp: WallTime,
}

/// An entry of a socket's error queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueEntry {
    /// A timestamp.
    Stamp(SentStamp),
    /// An ICMP error, after [`crate::socket::queue_errors`], and the bytes of the packet that were
    /// written to the buffer.
    Refused(IcmpRefusal, usize),
    /// Anything else.
    Other,
}

/// An ICMP error from a router or host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IcmpRefusal {
    /// Its sender; `None` if unknown.
    pub by: Option<IpAddr>,
    /// Type of the message.
    pub icmp_type: u8,
    /// Code of the message.
    pub code: u8,
}

/// Meaning of an error queue entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The packet entered the queue of its interface; the time is the entry's timestamp.
    Queued,
    /// An ICMP error.
    Refused(IcmpRefusal),
    /// Something else.
    Other,
}

/// A received message.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedMessage<'b> {
    /// The datagram; for an error queue entry, as much of the original packet as was kept.
    pub bytes: &'b [u8],
    /// The sender; for an error queue entry, the destination of the original packet.
    pub from: Option<SocketAddr>,
    /// The kernel's timestamp.
    pub stamp: Option<WallTime>,
    /// Meaning of the error queue entry.
    pub notice: Option<Notice>,
    /// TTL or hop limit on arrival, after [`crate::timestamp::enable_headers`]; for an error queue
    /// entry, that of the ICMP error.
    pub hop_limit: Option<u8>,
    /// Traffic class (DSCP and ECN field), after [`crate::timestamp::enable_class`].
    pub class: Option<u8>,
}

/// An ICMP error about a packet in the flow of another socket.
#[derive(Clone, Copy, Debug)]
pub struct FlowError<'b> {
    /// Its sender.
    pub router: IpAddr,
    /// From the ICMP header on.
    pub message: &'b [u8],
    /// When it arrived.
    pub stamp: Option<WallTime>,
}
