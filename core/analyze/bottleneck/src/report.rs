//! What is found out about queues.
use crate::aqm::Fingerprint;
use crate::buffer::Buffer;
use crate::clock::{Clock, NoClock};
use crate::delay_curve::DelayPoint;
use crate::episodes::Episode;
use crate::period::Oscillation;
use crate::rate::RateSpan;
use crate::shares::{DelayedFlow, FlowShare, LateProbes, ShortFlows};
use alloc::vec::Vec;
use fathom_capture::Address;
use fathom_flow::{End, FlowId};

/// One of the four ways between the capture point and the ends of a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Leg {
    /// From an end to the capture point.
    From(End),
    /// From the capture point to an end.
    To(End),
}

impl Leg {
    /// All four: from A on to B, and back.
    pub const ALL: [Leg; 4] = [Leg::From(End::A), Leg::To(End::B), Leg::From(End::B), Leg::To(End::A)];

    /// The end on its side of the capture point.
    pub const fn end(self) -> End {
        match self {
            Leg::From(end) | Leg::To(end) => end,
        }
    }
}

/// What a delay is counted from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Reference {
    /// The least that the flow itself saw, which includes its handshake.
    OwnLeast,
    /// The least that other flows or probes on the same path saw, which is less by so many ns.
    PathLeast {
        /// How much less.
        less_ns: f64,
    },
    /// The least that was seen, though the queue may have stood then: the capture began later than the flow. Delays are relative.
    Relative,
}

/// What waits on a leg while the flow lasts.
#[derive(Clone, PartialEq, Debug)]
pub struct LegDelay {
    /// Which leg.
    pub leg: Leg,
    /// 5th percentile over time, ns.
    pub p5_ns: f64,
    /// Median.
    pub p50_ns: f64,
    /// 95th percentile.
    pub p95_ns: f64,
    /// The most, but for spikes.
    pub max_ns: f64,
    /// What each of them may be off.
    pub error_ns: f64,
    /// What they are counted from.
    pub reference: Reference,
    /// Over time.
    pub over_time: Vec<DelayPoint>,
}

/// Why a delay is not given.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NoLeg {
    /// There is no clock of that end.
    NoClock(NoClock),
    /// The clock may be off by `error_ns`, and all that was seen varies by `effect_ns`.
    UncertainClock {
        /// What the clock may be off.
        error_ns: f64,
        /// How much delays vary.
        effect_ns: f64,
    },
    /// It leads to a sender whose own packets waited, so that its answers did, too.
    AcksQueued,
    /// Nothing went that way.
    Unseen,
}

/// Round trips from the capture point to an end and back, and what they are without a queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BaseRtt {
    /// Round trips that count (Karn).
    pub count: u64,
    /// The least of the flow, ns, and the frame of the answer.
    pub min_ns: f64,
    /// Its frame.
    pub min_frame: u64,
    /// The least on the path, by any flow or probe, ns: what the queue is counted from.
    pub base_ns: f64,
    /// The most, ns.
    pub max_ns: f64,
    /// Its frame.
    pub max_frame: u64,
    /// 5th, 50th and 95th percentile over time of what is above the base, ns.
    pub above_base_ns: [f64; 3],
    /// What the base is.
    pub reference: Reference,
}

/// Where the queue is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Location {
    /// On one leg.
    Leg(Leg),
    /// Between the capture point and an end, in one direction or the other: there are no timestamps to tell.
    RoundTrip(End),
}

/// Why there is no location.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum NoLocation {
    /// No leg waits for longer than it may be off.
    NoQueue {
        /// 95th percentile of the leg with the longest delay, ns.
        p95_ns: f64,
        /// What it may be off.
        error_ns: f64,
    },
    /// Two legs wait alike.
    Ambiguous {
        /// The one that waits most.
        first: Leg,
        /// And the next.
        second: Leg,
    },
    /// Too few round trips and no timestamps.
    Unseen,
}

/// A flow with enough packets to look into.
#[derive(Clone, PartialEq, Debug)]
pub struct QueueReport {
    /// Which flow.
    pub flow: FlowId,
    /// Address and port of A, then of B.
    pub ends: [(Address, u16); 2],
    /// First and last frame.
    pub frames: [u64; 2],
    /// Who sends in bulk, if one does.
    pub bulk: Option<End>,
    /// The end next to the capture point, if one answers within a millisecond.
    pub near: Option<End>,
    /// Clocks of A and of B.
    pub clocks: [Result<Clock, NoClock>; 2],
    /// Round trips to A and to B.
    pub round_trips: [Option<BaseRtt>; 2],
    /// What waits on each leg, in the order of [`Leg::ALL`].
    pub legs: [Result<LegDelay, NoLeg>; 4],
    /// Where its queue is.
    pub location: Result<Location, NoLocation>,
    /// From a hole in the bulk to its repair, median, ns: a round trip under load that needs no timestamps, on the receiver's side.
    pub hole_to_fill_ns: Option<f64>,
    /// Loss episodes of the bulk direction.
    pub episodes: Vec<Episode>,
    /// What it shares with others, as a place in [`Queues::bottlenecks`].
    pub bottleneck: Option<usize>,
}

/// Which bytes a rate was taken from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RateMethod {
    /// Bytes that were acknowledged while the queue stood; the headers of their packets are added.
    Acknowledged,
    /// IP packets as they arrived at the capture point from the queue.
    Arrived,
}

/// The rate of a bottleneck.
#[derive(Clone, PartialEq, Debug)]
pub struct BottleneckRate {
    /// In bits of IP packets, without times when the link stalled.
    pub ip: RateSpan,
    /// In bits of Ethernet frames without checksum, as Linux counts them: 14 bytes a packet more.
    pub frame_bits_per_second: f64,
    /// Between changes; one span if it is steady.
    pub spans: Vec<RateSpan>,
    /// Share of the time that lies far outside: stalls, and what came after them.
    pub stalled_ratio: f64,
    /// Which bytes were counted.
    pub method: RateMethod,
}

/// Why a bottleneck has no rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoRate {
    /// The queue did not stand for long enough.
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

/// A bottleneck, and all that passed it.
#[derive(Clone, PartialEq, Debug)]
pub struct Bottleneck {
    /// Where, as seen by the first of its flows.
    pub location: Location,
    /// Who sends through it: A or B of each flow.
    pub flows: Vec<(FlowId, End)>,
    /// The queue over time: what its flows waited.
    pub delays: Vec<DelayPoint>,
    /// Standing queue: its delay over time.
    pub standing: StandingDelay,
    /// The most, but for spikes: the 99.5th percentile of the most of equal times, ns.
    pub max_ns: f64,
    /// What each of them may be off.
    pub error_ns: f64,
    /// What delays are counted from.
    pub reference: Reference,
    /// Its rate.
    pub rate: Result<BottleneckRate, NoRate>,
    /// Its buffer; `None` without a rate.
    pub buffer: Option<Buffer>,
    /// Loss episodes of all flows together.
    pub episodes: Vec<Episode>,
    /// What swings it.
    pub oscillation: Oscillation,
    /// What manages it.
    pub fingerprint: Fingerprint,
    /// Who filled it, the most first.
    pub shares: Vec<FlowShare>,
    /// Who waited in it, the worst first.
    pub delayed_flows: Vec<DelayedFlow>,
    /// Probes outside TCP that waited in it.
    pub late_probes: Vec<LateProbes>,
    /// What it added to the first round trip of flows too short to look into.
    pub short_flows: Option<ShortFlows>,
}

/// The shortest and the longest of a value in a short time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// Middle of that time, ns since the capture began.
    pub at_ns: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
}

/// What one end of a flow sent, over time.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SentSeries {
    /// Bytes outstanding, as segments passed.
    pub outstanding: Vec<Spread>,
    /// Payload that was first acknowledged: end of the interval (ns since the capture began), and bit/s over it. Intervals follow each
    /// other, equally long but for the last; those without an ACK are there too.
    pub goodput: Vec<(f64, f64)>,
}

/// A flow over time.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowSeries {
    /// Which flow.
    pub flow: FlowId,
    /// Address and port of A, then of B.
    pub ends: [(Address, u16); 2],
    /// Round trips to A and to B that count (Karn), ns.
    pub round_trips: [Vec<Spread>; 2],
    /// What A and what B sent; empty for an end that sent little.
    pub sent: [SentSeries; 2],
}

/// All that was found out about queues in a capture.
#[derive(Clone, PartialEq, Debug)]
pub struct Queues {
    /// When the capture began: ns of its clock. All other times are since then.
    pub origin_ns: i64,
    /// Flows with enough packets to look into.
    pub flows: Vec<QueueReport>,
    /// Bottlenecks, that with the most bytes first.
    pub bottlenecks: Vec<Bottleneck>,
    /// What flows that filled or met a queue did over time, and the largest flows; the largest first.
    pub series: Vec<FlowSeries>,
}
