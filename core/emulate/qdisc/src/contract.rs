//! The contract between a queue discipline and its host.
use fathom_units::{Bytes, Duration, Time};

/// The two ECN bits of an IP header. Source: RFC 3168 section 5.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Ecn {
    /// 00: the sender does not take part.
    #[default]
    NotEct,
    /// 01: L4S, RFC 9331.
    Ect1,
    /// 10.
    Ect0,
    /// 11: congestion experienced.
    Ce,
}

/// One of the two ends of a packet's way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum End {
    /// Where it comes from.
    Source,
    /// Where it goes.
    Destination,
}

/// A TCP segment that carries nothing but an acknowledgement: no payload, no SYN, FIN, RST, URG or PSH.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PureAck {
    /// Hash of addresses, ports and protocol: ACKs with the same belong to one connection.
    pub connection: u64,
    /// Cumulative acknowledgement; compared modulo 2^32.
    pub ack: u32,
    /// The TCP flags ECE, CWR and NS (or AccECN's three bits) as they are: a change is a signal.
    pub ecn_flags: u8,
    /// Selective acknowledgements, newest first; empty ranges where there are fewer.
    pub sack: [(u32, u32); 4],
    /// TSval, if there is a timestamp option.
    pub timestamp: Option<u32>,
    /// It has options besides timestamp, SACK and padding; such an ACK is never filtered.
    pub other_options: bool,
}

/// Whose rules hold where the RFC and Linux differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Variant {
    /// The RFC's.
    #[default]
    Rfc,
    /// Those of Linux 6.12.
    Linux,
}

/// A packet as a queue discipline sees it.
pub trait Packet {
    /// Size on the wire, link-layer overhead included: what the buffer and the link are charged.
    fn len(&self) -> Bytes;
    /// Its ECN bits.
    fn ecn(&self) -> Ecn;
    /// Sets CE. Called only on a packet that is not [`Ecn::NotEct`].
    fn set_ce(&mut self);
    /// Hash of what identifies its flow, salted so that collisions differ between runs.
    fn flow_hash(&self, salt: u64) -> u64;
    /// Hash of the address of one of its ends, salted likewise. Packets without addresses have one host per flow.
    fn host_hash(&self, end: End, salt: u64) -> u64 {
        let _ = end;
        self.flow_hash(salt)
    }
    /// Size of the IP packet, without link-layer overhead: for disciplines that count an overhead of their own.
    fn ip_len(&self) -> Bytes {
        self.len()
    }
    /// The six DSCP bits (RFC 2474).
    fn dscp(&self) -> u8 {
        0
    }
    /// Sets the DSCP bits and leaves ECN alone.
    fn set_dscp(&mut self, dscp: u8) {
        let _ = dscp;
    }
    /// What an ACK filter looks at, if this is a TCP segment without payload that only acknowledges.
    fn pure_ack(&self) -> Option<PureAck> {
        None
    }
    /// True for a packet without bytes; none exists on a wire.
    fn is_empty(&self) -> bool {
        self.len() == Bytes::ZERO
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum DropReason {
    /// The buffer had no room.
    Overlimit,
    /// The algorithm chose it, to signal congestion.
    Aqm,
    /// A later ACK of the same connection made it needless.
    AckFilter,
    /// Its time to live ended in the queue (RFC 970).
    Expired,
    /// It is larger than the shaper's bucket and could never leave.
    Oversize,
}

impl DropReason {
    /// All of them, in the order of [`Ord`].
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
    /// The algorithm chose it instead of a drop.
    Aqm,
    /// Its sojourn exceeded a fixed threshold.
    Threshold,
}

/// What is in a queue now.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Backlog {
    /// Wire bytes.
    pub bytes: Bytes,
    /// Packets.
    pub packets: u64,
}

/// Is told of everything that does not come out of `dequeue` as it went in. Nothing is dropped silently.
pub trait Sink<P> {
    /// `packet` was dropped after `sojourn` in the queue (zero if it never entered).
    fn dropped(&mut self, packet: P, reason: DropReason, sojourn: Duration, now: Time);
    /// `packet` was marked and goes on.
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

/// A queue discipline. Time is an argument; the caller's clock must not run backwards.
pub trait Qdisc<P: Packet> {
    /// Takes `packet` in, or drops it or others.
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>);
    /// The next packet to send with its sojourn, after any drops and marks that are due; `None` if none may go now.
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)>;
    /// When to ask again after `dequeue` gave `None` although there is backlog (shapers); `None` if only an arrival helps.
    fn next_ready(&self, now: Time) -> Option<Time> {
        let _ = now;
        None
    }
    /// What is held now.
    fn backlog(&self) -> Backlog;
}
