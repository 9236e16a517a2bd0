//! Results about queues.
use crate::aqm::Fingerprint;
use crate::buffer::Buffer;
use crate::clock::{Clock, NoClock};
use crate::delay_curve::DelayPoint;
use crate::episodes::Episode;
use crate::period::Oscillation;
use crate::probed::{DatagramFlow, ProbedQueue};
use crate::shares::{DelayedFlow, FlowShare, LateProbes, ShortFlows};
use alloc::vec::Vec;
use fathom_capacity::RateSpan;
use fathom_capture::Address;
use fathom_flow::{End, FlowId};

/// One of the four parts of a flow's path: between the capture point and an end, in one direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Leg {
    /// From an end to the capture point.
    From(End),
    /// From the capture point to an end.
    To(End),
}

impl Leg {
    /// All legs: from A to B, and back.
    pub const ALL: [Leg; 4] = [Leg::From(End::A), Leg::To(End::B), Leg::From(End::B), Leg::To(End::A)];

    /// The end of this leg's side of the capture point.
    pub const fn end(self) -> End {
        match self {
            Leg::From(end) | Leg::To(end) => end,
        }
    }
}

/// Reference point of a delay.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reference {
    /// The minimum of the flow itself, including its handshake.
    OwnLeast,
    /// The minimum of other flows or probes on the same path.
    PathLeast {
        /// Difference to the flow's own minimum, ns.
        less_ns: f64,
    },
    /// The observed minimum, possibly with a queue, because the flow started before the capture.
    Relative,
}

/// Queueing delay of a leg during the flow.
#[derive(Clone, PartialEq, Debug)]
pub struct LegDelay {
    /// The leg.
    pub leg: Leg,
    /// 5th percentile over time, ns.
    pub p5_ns: f64,
    /// Median, ns.
    pub p50_ns: f64,
    /// 95th percentile, ns.
    pub p95_ns: f64,
    /// Maximum without spikes, ns.
    pub max_ns: f64,
    /// Error of each value, ns.
    pub error_ns: f64,
    /// Reference of these delays.
    pub reference: Reference,
    /// Delay over time.
    pub over_time: Vec<DelayPoint>,
}

/// Why the delay of a leg is unknown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NoLeg {
    /// The clock of that end is unknown.
    NoClock(NoClock),
    /// The error of the clock exceeds the variation of the delay.
    UncertainClock {
        /// Error of the clock, ns.
        error_ns: f64,
        /// Variation of the delay, ns.
        effect_ns: f64,
    },
    /// The leg leads to a sender with queued packets, so its answers queued too.
    AcksQueued,
    /// No packet was captured in that direction.
    Unseen,
}

/// Round-trip time to an end, and its value without queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BaseRtt {
    /// Number of unambiguous samples (Karn).
    pub count: u64,
    /// Minimum of the flow, ns.
    pub min_ns: f64,
    /// Frame number of the minimum.
    pub min_frame: u64,
    /// Minimum of the path over all flows and probes, ns; queueing delay is relative to it.
    pub base_ns: f64,
    /// Maximum, ns.
    pub max_ns: f64,
    /// Frame number of the maximum.
    pub max_frame: u64,
    /// 5th, 50th and 95th percentile over time of the delay above the base, ns.
    pub above_base_ns: [f64; 3],
    /// Reference of the base.
    pub reference: Reference,
}

/// Location of a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Location {
    /// On one leg.
    Leg(Leg),
    /// Between the capture point and an end, in an unknown direction for lack of timestamps.
    RoundTrip(End),
}

/// Why the location is unknown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NoLocation {
    /// No leg has a delay above its error.
    NoQueue {
        /// 95th percentile of the leg with the longest delay, ns.
        p95_ns: f64,
        /// Its error, ns.
        error_ns: f64,
    },
    /// Two legs have similar delays.
    Ambiguous {
        /// The leg with the largest delay.
        first: Leg,
        /// The next one.
        second: Leg,
    },
    /// Too few round trips and no timestamps.
    Unseen,
}

/// Results for a flow with enough packets.
#[derive(Clone, PartialEq, Debug)]
pub struct QueueReport {
    /// The flow.
    pub flow: FlowId,
    /// Address and port of A and B.
    pub ends: [(Address, u16); 2],
    /// Numbers of the first and last frame.
    pub frames: [u64; 2],
    /// The end that sends bulk data, if there is one.
    pub bulk: Option<End>,
    /// The end next to the capture point, if any: it responds within a millisecond.
    pub near: Option<End>,
    /// Timestamp clocks of A and B.
    pub clocks: [Result<Clock, NoClock>; 2],
    /// Round-trip times to A and B.
    pub round_trips: [Option<BaseRtt>; 2],
    /// Queueing delay of each leg, in the order of [`Leg::ALL`].
    pub legs: [Result<LegDelay, NoLeg>; 4],
    /// Location of its queue.
    pub location: Result<Location, NoLocation>,
    /// Median time from a hole in the bulk data to its retransmission, ns: near the receiver, the
    /// round-trip time under load without timestamps.
    pub hole_to_fill_ns: Option<f64>,
    /// Loss episodes of the bulk direction.
    pub episodes: Vec<Episode>,
    /// Its bottleneck, as an index into [`Queues::bottlenecks`].
    pub bottleneck: Option<usize>,
}

/// How the bytes of a rate were counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateMethod {
    /// Bytes acknowledged while a queue was present, plus their packet headers.
    Acknowledged,
    /// IP packets as they arrived at the capture point from the queue.
    Arrived,
}

/// Rate of a bottleneck.
#[derive(Clone, PartialEq, Debug)]
pub struct BottleneckRate {
    /// In bits of IP packets, without stalls of the link.
    pub ip: RateSpan,
    /// In bits of Ethernet frames without checksum, as Linux counts them: 14 more bytes per packet.
    pub frame_bits_per_second: f64,
    /// Rates between changes; one span if the rate is steady.
    pub spans: Vec<RateSpan>,
    /// Share of the time with outliers: stalls, and the bursts after them.
    pub stalled_ratio: f64,
    /// How bytes were counted.
    pub method: RateMethod,
}

/// Why the rate of a bottleneck is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoRate {
    /// No queue was present for long enough.
    NoStandingQueue,
}

/// Percentiles over time of the delay of a standing queue, ns.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct StandingDelay {
    /// 5th percentile.
    pub p5_ns: f64,
    /// Median.
    pub p50_ns: f64,
    /// 90th percentile.
    pub p90_ns: f64,
    /// 95th percentile.
    pub p95_ns: f64,
}

/// A bottleneck with all traffic through it.
#[derive(Clone, PartialEq, Debug)]
pub struct Bottleneck {
    /// Location, as seen by the first of its flows.
    pub location: Location,
    /// Flows through it, and the sending end of each.
    pub flows: Vec<(FlowId, End)>,
    /// Queueing delay over time.
    pub delays: Vec<DelayPoint>,
    /// Percentiles of the queueing delay.
    pub standing: StandingDelay,
    /// Maximum without spikes, ns: the 99.5th percentile of the maxima of equal intervals.
    pub max_ns: f64,
    /// Error of each delay.
    pub error_ns: f64,
    /// Reference of the delays.
    pub reference: Reference,
    /// Rate.
    pub rate: Result<BottleneckRate, NoRate>,
    /// Buffer; `None` if the rate is unknown.
    pub buffer: Option<Buffer>,
    /// Loss episodes of all flows.
    pub episodes: Vec<Episode>,
    /// Oscillation.
    pub oscillation: Oscillation,
    /// Queue management.
    pub fingerprint: Fingerprint,
    /// Flows that filled the queue, the largest first.
    pub shares: Vec<FlowShare>,
    /// Flows that were delayed, the most delayed first.
    pub delayed_flows: Vec<DelayedFlow>,
    /// Probes that were delayed.
    pub late_probes: Vec<LateProbes>,
    /// Delay that the queue added to the first round trip of short flows.
    pub short_flows: Option<ShortFlows>,
}

/// Minimum and maximum of a value in a short interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// Center of the interval, ns since the start of the capture.
    pub at_ns: f64,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
}

/// Data sent by one end of a flow over time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SentSeries {
    /// Bytes in flight at each segment.
    pub outstanding: Vec<Spread>,
    /// Goodput by acknowledgments: end of the interval (ns since the start of the capture), and
    /// bit/s during it. Intervals are contiguous, including those without an ACK, and equally long
    /// except for the last.
    pub goodput: Vec<(f64, f64)>,
}

/// Time series of a flow.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowSeries {
    /// The flow.
    pub flow: FlowId,
    /// Address and port of A and B.
    pub ends: [(Address, u16); 2],
    /// Unambiguous round-trip times (Karn) to A and B, ns.
    pub round_trips: [Vec<Spread>; 2],
    /// Data sent by A and B; empty for an end that sent little.
    pub sent: [SentSeries; 2],
}

/// All results about queues in a capture.
#[derive(Clone, PartialEq, Debug)]
pub struct Queues {
    /// Start of the capture in ns of its clock. All other times are relative to it.
    pub origin_ns: i64,
    /// Flows with enough packets for the analysis.
    pub flows: Vec<QueueReport>,
    /// Bottlenecks, the one with the most bytes first.
    pub bottlenecks: Vec<Bottleneck>,
    /// Time series of the largest flows and of those that filled or met a queue; largest first.
    pub series: Vec<FlowSeries>,
    /// Queues that no TCP flow filled, seen by probes; the one with the longest delay first.
    pub probed: Vec<ProbedQueue>,
    /// UDP flows, each in one direction, the one with the most bytes first.
    pub datagrams: Vec<DatagramFlow>,
}
