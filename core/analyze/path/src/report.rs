//! Results of comparing several captures.
use crate::clock::Clock;
use crate::order::Evidence;
use alloc::vec::Vec;
use core::fmt;

/// Summary of one capture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CaptureSummary {
    /// Number of packets.
    pub packets: u64,
    /// Number of packets that cannot be identified and are not searched.
    pub unmarked: u64,
    /// Number of super-packets created by offload; they are split into wire segments.
    pub super_packets: u64,
    /// Number of searched packets that were found in another capture.
    pub found_elsewhere: u64,
    /// Time of the first packet, ns since 1970.
    pub first: i64,
    /// Time of the last packet, ns since 1970.
    pub last: i64,
}

/// Delays from one capture to the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Delays {
    /// Number of packets with a known delay.
    pub count: u64,
    /// Minimum delay, ns. Without synchronized clocks, half the minimum round-trip time between the
    /// captures, with an error of [`Clock::error_ns`].
    pub min_ns: f64,
    /// Median above the minimum, ns. Independent of the clock offset, like the following values.
    pub p50_ns: f64,
    /// 95th percentile above the minimum, ns.
    pub p95_ns: f64,
    /// 99th percentile above the minimum, ns.
    pub p99_ns: f64,
    /// Maximum above the minimum, ns.
    pub max_ns: f64,
}

/// A packet that passed one capture and was lost before the next.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Loss {
    /// Frame number in the capture that contains it.
    pub frame: u32,
    /// Capture time, ns.
    pub at: i64,
    /// Size of the IP packet.
    pub ip_bytes: u32,
    /// Delay above the minimum of the previous packet in this direction.
    pub before_ns: Option<f64>,
    /// Delay above the minimum of the next packet in this direction.
    pub after_ns: Option<f64>,
}

/// Packets with a given change of DSCP and ECN.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Remark {
    /// DSCP and ECN before.
    pub from: (u8, u8),
    /// DSCP and ECN after.
    pub to: (u8, u8),
    /// Number of packets.
    pub packets: u64,
}

/// Results for two consecutive captures on the path, in one direction.
#[derive(Clone, PartialEq, Debug)]
pub struct Hop {
    /// Index of the capture that packets pass first.
    pub from: usize,
    /// Index of the next capture.
    pub to: usize,
    /// Evidence for this order.
    pub evidence: Evidence,
    /// Relation of their clocks.
    pub clock: Clock,
    /// Number of packets in both.
    pub matched: u64,
    /// Number of lost packets: in the first capture and in no later one.
    pub lost: u64,
    /// Bytes of the lost packets.
    pub lost_bytes: u64,
    /// The first 65536 lost packets.
    pub losses: Vec<Loss>,
    /// Number of packets that the second capture missed: in the first and a later one.
    pub uncaptured: u64,
    /// Number of packets in the second that no earlier capture contains, of hosts that occur in the
    /// first: the first missed them, or they entered the path in between.
    pub appeared: u64,
    /// Number of packets sent while the second capture was not running.
    pub unjudged: u64,
    /// Number of additional copies of packets that the first contains once.
    pub duplicated: u64,
    /// Number of packets that arrived after a later one of their flow (RFC 4737 section 3).
    pub reordered: u64,
    /// Delays; `None` if no packet was identified unambiguously in both.
    pub delays: Option<Delays>,
    /// DSCP and ECN before and after, including unchanged ones; the most frequent first.
    pub remarks: Vec<Remark>,
    /// Decrease of the hop limit and number of packets; the most frequent first.
    pub hop_limits: Vec<(i16, u64)>,
    /// Number of flows with addresses or ports translated by a NAT in between.
    pub translated_flows: u64,
}

/// Results for one direction.
#[derive(Clone, PartialEq, Debug)]
pub struct PathDirection {
    /// Captures in the order in which packets pass them.
    pub captures: Vec<usize>,
    /// Hops from each capture to the next.
    pub hops: Vec<Hop>,
}

/// Results for the path.
#[derive(Clone, PartialEq, Debug)]
pub struct PathReport {
    /// Captures in the order in which they were given.
    pub captures: Vec<CaptureSummary>,
    /// The direction with the most packets, then the other.
    pub directions: [PathDirection; 2],
    /// One packet in this number was analyzed; 1 means all.
    pub one_of: u64,
}

/// Why no path was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoPath {
    /// Fewer than two captures were given.
    OneCapture,
    /// No packet was identified unambiguously in two captures.
    NothingInCommon {
        /// Number of packets of each capture.
        packets: Vec<u64>,
    },
}

impl fmt::Display for NoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPath::OneCapture => write!(f, "a path needs at least two captures"),
            NoPath::NothingInCommon { packets } => write!(
                f,
                "no packet occurs in two of the captures ({packets:?} packets): are they from one path and time? \
                 A NAT between them is supported, a proxy is not"
            ),
        }
    }
}
impl core::error::Error for NoPath {}
