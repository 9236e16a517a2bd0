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

/// A queue discipline. Time is an argument; the caller's clock must not run backwards.
pub trait Qdisc<P: Packet> {
    /// Takes `packet` in, or drops it or others.
    fn enqueue(&mut self, packet: P, now: Time, sink: &mut impl Sink<P>);
    /// The next packet to send with its sojourn, after any drops and marks that are due; `None` if none may go now.
    fn dequeue(&mut self, now: Time, sink: &mut impl Sink<P>) -> Option<(P, Duration)>;
    /// When to ask again after `dequeue` gave `None` although there is backlog (shapers); `None` if only an arrival helps.
    fn next_ready(&self, now: Time) -> Option<Time>;
    /// What is held now.
    fn backlog(&self) -> Backlog;
}
