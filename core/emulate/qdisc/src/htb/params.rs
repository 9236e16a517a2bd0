//! What an HTB is made of.
use crate::{Ecn, Packet, Spec};
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use fathom_units::{Bytes, Rate};

/// Flows are told apart by their hash, cut to so many values.
pub(crate) const FLOWS: u64 = 1024;

/// Parameters of [`crate::Htb`].
#[derive(Clone, PartialEq, Debug)]
pub struct HtbParams {
    /// Class of the packets that match none. Without one they are not shaped: they go before all others, as in Linux.
    pub default: Option<u16>,
    /// Parents before their children.
    pub classes: Vec<HtbClass>,
}

/// One class of an HTB: a leaf with a queue, or a class of other classes.
#[derive(Clone, PartialEq, Debug)]
pub struct HtbClass {
    /// Its number, above 0.
    pub id: u16,
    /// The class that it borrows from; none for one at the top, which cannot borrow.
    pub parent: Option<u16>,
    /// What it may send whatever the others do.
    pub rate: Rate,
    /// What it may send at most, borrowed or not; as a rule the same as `rate`.
    pub ceil: Rate,
    /// What it may send at once at any rate after a pause; default 1600 bytes.
    pub burst: Bytes,
    /// The same for `ceil`; default 1600 bytes.
    pub cburst: Bytes,
    /// Of those that may borrow the classes with the lowest number go first; 0 to 7, default 0.
    pub prio: u8,
    /// Bytes that it sends in its turn where several borrow from one class; default rate / `r2q` within 1000 to 200000
    /// bytes. With less than a packet it sends a packet.
    pub quantum: Bytes,
    /// Which packets it takes, if any of these says so.
    pub matches: Vec<HtbMatch>,
    /// Its queue; none for a class of other classes.
    pub queue: Option<Spec>,
}

/// A test of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HtbMatch {
    /// It has this DSCP.
    Dscp(u8),
    /// The hash of its flow, modulo 1024, is among these.
    Flow(RangeInclusive<u64>),
    /// It is ECT(1), or CE, which may have been ECT(1) (RFC 9331 section 5.1).
    Ect1,
}

impl HtbMatch {
    pub(super) fn holds<P: Packet>(&self, packet: &P, salt: u64) -> bool {
        match self {
            HtbMatch::Dscp(dscp) => packet.dscp() == *dscp,
            HtbMatch::Flow(flows) => flows.contains(&(packet.flow_hash(salt) % FLOWS)),
            HtbMatch::Ect1 => matches!(packet.ecn(), Ecn::Ect1 | Ecn::Ce),
        }
    }
}
