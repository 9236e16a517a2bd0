//! The parameters of HTB.
use crate::{Ecn, Packet, Spec};
use alloc::vec::Vec;
use core::ops::RangeInclusive;
use fathom_units::{Bytes, Rate};

/// Matches by flow use the flow's hash modulo this.
pub(crate) const FLOWS: u64 = 1024;

/// Parameters of [`crate::Htb`].
#[derive(Clone, PartialEq, Debug)]
pub struct HtbParams {
    /// Class of unmatched packets. Without one they go unshaped and first, as in Linux.
    pub default: Option<u16>,
    /// The classes, parents before their children.
    pub classes: Vec<HtbClass>,
}

/// A class of an HTB: a leaf with a queue, or an inner class.
#[derive(Clone, PartialEq, Debug)]
pub struct HtbClass {
    /// The class number, above 0.
    pub id: u16,
    /// The class to borrow from; `None` at the top, where a class cannot borrow.
    pub parent: Option<u16>,
    /// The guaranteed rate.
    pub rate: Rate,
    /// The maximum rate including borrowing; by default equal to `rate`.
    pub ceil: Rate,
    /// Bytes that it may send at once after a pause; default 1600 bytes.
    pub burst: Bytes,
    /// The same for `ceil`; default 1600 bytes.
    pub cburst: Bytes,
    /// Among borrowing classes the lowest number goes first; 0 to 7, default 0.
    pub prio: u8,
    /// DRR quantum among the borrowers of a class, in bytes; default rate / `r2q`, limited to 1000
    /// to 200000 bytes. With less than a packet it sends one packet.
    pub quantum: Bytes,
    /// The class takes packets that match any of these.
    pub matches: Vec<HtbMatch>,
    /// The queue of a leaf; `None` for an inner class.
    pub queue: Option<Spec>,
}

/// A test of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HtbMatch {
    /// The DSCP is this.
    Dscp(u8),
    /// The flow's hash, modulo 1024, is in this range.
    Flow(RangeInclusive<u64>),
    /// The packet is ECT(1), or CE, which may have been ECT(1) (RFC 9331 section 5.1).
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
