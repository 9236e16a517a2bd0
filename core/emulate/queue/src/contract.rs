//! The interface between a queue discipline and its host.
pub use fathom_units::Ecn;
use fathom_units::{Bytes, Duration, Time};

/// One of the two endpoints of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum End {
    /// The sender.
    Source,
    /// The receiver.
    Destination,
}

/// A TCP segment that carries only an acknowledgment: no payload, no SYN, FIN, RST, URG or PSH.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PureAck {
    /// Hash of addresses, ports and protocol: equal for all ACKs of a connection.
    pub connection: u64,
    /// Cumulative acknowledgment; compared modulo 2^32.
    pub ack: u32,
    /// The TCP flags ECE, CWR and NS (or AccECN's three bits), unmodified: a change is a signal.
    pub ecn_flags: u8,
    /// SACK blocks, newest first; unused entries are empty ranges.
    pub sack: [(u32, u32); 4],
    /// TSval, if the timestamp option is present.
    pub timestamp: Option<u32>,
    /// It has options other than timestamp, SACK and padding; such an ACK is never filtered.
    pub other_options: bool,
}

/// A packet as a queue discipline sees it.
pub trait Packet {
    /// Size on the wire, including link-layer overhead. Buffer and link are charged this size.
    fn len(&self) -> Bytes;
    /// The ECN bits.
    fn ecn(&self) -> Ecn;
    /// Sets CE. Called only on a packet that is not [`Ecn::NotEct`].
    fn set_ce(&mut self);
    /// Hash of the flow identity, salted so that collisions differ between runs.
    fn flow_hash(&self, salt: u64) -> u64;
    /// Hash of the address of one endpoint, salted. Packets without addresses get a host per flow.
    fn host_hash(&self, end: End, salt: u64) -> u64 {
        let _ = end;
        self.flow_hash(salt)
    }
    /// Size of the IP packet, for disciplines that add their own link-layer overhead.
    fn ip_len(&self) -> Bytes {
        self.len()
    }
    /// The six DSCP bits (RFC 2474).
    fn dscp(&self) -> u8 {
        0
    }
    /// Sets the DSCP bits and leaves the ECN bits unchanged.
    fn set_dscp(&mut self, dscp: u8) {
        let _ = dscp;
    }
    /// The fields an ACK filter needs, if this is a pure ACK.
    fn pure_ack(&self) -> Option<PureAck> {
        None
    }
    /// True for a packet of zero bytes, which does not occur on a wire.
    fn is_empty(&self) -> bool {
        self.len() == Bytes::ZERO
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DropReason {
    /// The buffer was full.
    Overlimit,
    /// The AQM dropped it to signal congestion.
    Aqm,
    /// A later ACK of the same connection made it redundant.
    AckFilter,
    /// It exceeded the time to live of the queue (RFC 970).
    Expired,
    /// It is larger than the shaper's bucket and could never be sent.
    Oversize,
}

impl DropReason {
    /// All reasons, in the order of [`Ord`].
    pub const ALL: [DropReason; 5] = [
        DropReason::Overlimit,
        DropReason::Aqm,
        DropReason::AckFilter,
        DropReason::Expired,
        DropReason::Oversize,
    ];
}

/// Why a packet was marked CE.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MarkReason {
    /// The AQM marked it instead of dropping it.
    Aqm,
    /// Its sojourn exceeded a fixed threshold.
    Threshold,
}

/// The current contents of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Backlog {
    /// Wire bytes.
    pub bytes: Bytes,
    /// Packets.
    pub packets: u64,
}

/// Receives every packet that does not leave `dequeue` unchanged. No packet is dropped silently.
pub trait Sink<P> {
    /// `packet` was dropped after `sojourn` in the queue (zero if it was never queued).
    fn dropped(&mut self, packet: P, reason: DropReason, sojourn: Duration, now: Time);
    /// `packet` was marked and remains queued or is sent.
    fn marked(&mut self, packet: &P, reason: MarkReason, now: Time);
}

impl<P, S: Sink<P> + ?Sized> Sink<P> for &mut S {
    fn dropped(&mut self, packet: P, reason: DropReason, sojourn: Duration, now: Time) {
        (**self).dropped(packet, reason, sojourn, now);
    }
    fn marked(&mut self, packet: &P, reason: MarkReason, now: Time) {
        (**self).marked(packet, reason, now);
    }
}

/// A queue discipline. The current time is an argument and must not decrease.
pub trait Qdisc<P: Packet> {
    /// Queues `packet`, or drops it or other packets.
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>);
    /// Returns the next packet and its sojourn, after due drops and marks; `None` if none may go.
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)>;
    /// When to call `dequeue` again after `None` despite a backlog; `None` if it takes an arrival.
    fn next_ready(&self, now: Time) -> Option<Time> {
        let _ = now;
        None
    }
    /// What the queue holds now.
    fn backlog(&self) -> Backlog;
}
