//! What several captures show of their path.
use crate::clock::Clock;
use crate::order::Evidence;
use alloc::vec::Vec;
use core::fmt;

/// One capture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CaptureSummary {
    /// Its packets.
    pub packets: u64,
    /// Those of them that nothing tells from others, and that are not looked for.
    pub unmarked: u64,
    /// Super-packets, joined by offload, which are looked for as the segments of the wire.
    pub super_packets: u64,
    /// Those that were looked for and found in another capture.
    pub found_elsewhere: u64,
    /// When the first was stamped, ns since 1970.
    pub first: i64,
    /// When the last was.
    pub last: i64,
}

/// Delays from one capture to the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Delays {
    /// Packets of which the delay is known.
    pub count: u64,
    /// The least delay, ns. Without synchronised clocks half the least round trip between the two captures; it is known to
    /// [`Clock::error_ns`].
    pub min_ns: f64,
    /// Above the least delay, in the middle, ns: independent of the clocks' offset, as are those that follow.
    pub p50_ns: f64,
    /// Above the least delay, 95 of 100 packets had no more.
    pub p95_ns: f64,
    /// Above the least delay, 99 of 100 packets had no more.
    pub p99_ns: f64,
    /// Above the least delay, the most.
    pub max_ns: f64,
}

/// A packet that passed one capture and not the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Loss {
    /// Its frame in the capture that has it.
    pub frame: u32,
    /// When it passed there.
    pub at: i64,
    /// Bytes of its IP packet.
    pub ip_bytes: u32,
    /// Delay above the least of the packet before it in this direction.
    pub before_ns: Option<f64>,
    /// Of the one after it.
    pub after_ns: Option<f64>,
}

/// Packets whose DSCP and ECN bits changed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Remark {
    /// DSCP and ECN before.
    pub from: (u8, u8),
    /// DSCP and ECN after.
    pub to: (u8, u8),
    /// How many.
    pub packets: u64,
}

/// What happens between two captures that follow each other on the path, in one direction.
#[derive(Clone, PartialEq, Debug)]
pub struct Hop {
    /// The capture that packets pass first.
    pub from: usize,
    /// The next.
    pub to: usize,
    /// What tells that it is the next.
    pub evidence: Evidence,
    /// Their clocks.
    pub clock: Clock,
    /// Packets in both.
    pub matched: u64,
    /// Packets in the first, and in none after it.
    pub lost: u64,
    /// Bytes of these.
    pub lost_bytes: u64,
    /// The first 65536 of them.
    pub losses: Vec<Loss>,
    /// Packets in the first and in a later capture, but not in the second: that capture lost them, not the network.
    pub uncaptured: u64,
    /// Packets in the second that none before it has, of hosts that it has: the first capture lost them, or they came from between.
    pub appeared: u64,
    /// Packets that could not be found in the second, as it did not run when they passed it.
    pub unjudged: u64,
    /// Further copies of packets that the first has once.
    pub duplicated: u64,
    /// Packets that arrived after one of their flow that had passed the first capture later (RFC 4737 section 3).
    pub reordered: u64,
    /// Delays; `None` if no packet is known beyond doubt in both.
    pub delays: Option<Delays>,
    /// DSCP and ECN before and after, also where they are the same; the most frequent first.
    pub remarks: Vec<Remark>,
    /// By how much the hop limit fell, and of how many packets; the most frequent first.
    pub hop_limits: Vec<(i16, u64)>,
    /// Flows whose addresses or ports are others in the second: a NAT is between.
    pub translated_flows: u64,
}

/// One direction.
#[derive(Clone, PartialEq, Debug)]
pub struct PathDirection {
    /// Captures in the order in which packets pass them.
    pub captures: Vec<usize>,
    /// From each to the next.
    pub hops: Vec<Hop>,
}

/// The path.
#[derive(Clone, PartialEq, Debug)]
pub struct PathReport {
    /// Each capture, in the order they were given.
    pub captures: Vec<CaptureSummary>,
    /// The direction of the most packets, then the other.
    pub directions: [PathDirection; 2],
    /// One of so many packets was looked at: 1 means all.
    pub one_of: u64,
}

/// Why there is no path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoPath {
    /// Fewer than two captures.
    OneCapture,
    /// No packet is in two of them, beyond doubt.
    NothingInCommon {
        /// Packets of each.
        packets: Vec<u64>,
    },
}

impl fmt::Display for NoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPath::OneCapture => write!(f, "a path needs at least two captures"),
            NoPath::NothingInCommon { packets } => write!(
                f,
                "no packet is in two of the captures (they have {packets:?} packets): are they of one path and one time? \
                 A NAT between them is seen through, a proxy is not"
            ),
        }
    }
}
impl core::error::Error for NoPath {}
