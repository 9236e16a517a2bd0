//! What a capture shows in addition to its time series: flows, queues on the path, and what could
//! not be determined.
//!
//! These are results without sentences; `fathom-diagnose` makes findings from them. Files of schema
//! version 1 contain sentences and lists in some places; [`v1`] reads them.
mod defect;
mod v1;

pub use defect::CaptureDefect;

use crate::Process;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// Results of one or more captures of a path.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Capture {
    /// Captured files or interface.
    pub sources: Vec<CaptureSource>,
    /// Number of TCP flows.
    pub flow_count: u64,
    /// The flows with the most bytes, largest first.
    pub flows: Vec<CapturedFlow>,
    /// UDP flows with the most bytes, each in one direction, largest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub datagrams: Vec<DatagramFlow>,
    /// Requests and responses of protocols other than TCP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<CapturedAnswers>,
    /// Queues, the one with the longest delay first.
    pub queues: Vec<CapturedQueue>,
    /// Hops from each capture of a path to the next, in both directions; empty for one capture.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<CapturedHop>,
    /// The first few bulk flows for which the location of the queueing delay is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownQueue>,
}

/// A captured file or interface.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CaptureSource {
    /// Path of the file or name of the interface.
    pub name: String,
    /// Number of frames.
    pub frames: u64,
    /// Bytes of these frames on the wire.
    pub wire_bytes: u64,
    /// Time from the first to the last frame.
    pub duration_s: f64,
    /// Frames for all hosts of the link, where it shows them.
    #[serde(default, skip_serializing_if = "FrameCount::is_zero")]
    pub broadcast: FrameCount,
    /// Frames for groups of hosts.
    #[serde(default, skip_serializing_if = "FrameCount::is_zero")]
    pub multicast: FrameCount,
    /// Frames with VLAN tags, by the identifier of the outer VLAN.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub vlans: Vec<VlanCount>,
    /// Defects of the capture.
    #[serde(default, deserialize_with = "crate::note::list", skip_serializing_if = "Vec::is_empty")]
    pub defects: Vec<CaptureDefect>,
}

/// Some frames of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FrameCount {
    /// Their number.
    pub frames: u64,
    /// Their bytes on the wire.
    pub wire_bytes: u64,
}

impl FrameCount {
    /// Whether there is none.
    pub fn is_zero(&self) -> bool {
        self.frames == 0
    }
    /// Adds a frame.
    pub fn add(&mut self, wire_bytes: u64) {
        self.frames += 1;
        self.wire_bytes += wire_bytes;
    }
}

/// Frames of a VLAN.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct VlanCount {
    /// Identifier of the VLAN, 1 to 4094.
    pub id: u16,
    /// Its frames.
    pub count: FrameCount,
}

/// A TCP flow.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CapturedFlow {
    /// Number of the flow, in the order of first packets, from 1.
    pub number: u32,
    /// Address and port of the initiator and of the responder.
    pub ends: [String; 2],
    /// The process of this host that has this socket, in a capture of an interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Process>,
    /// Numbers of its first and last frame.
    pub frames: [u64; 2],
    /// Start relative to the start of the capture.
    pub start_s: f64,
    /// Time from its first to its last frame.
    pub duration_s: f64,
    /// Data sent by each end.
    pub sent: [CapturedSide; 2],
}

/// UDP packets from one socket to another.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct DatagramFlow {
    /// Address and port of the sender.
    pub from: String,
    /// Address and port of the receiver.
    pub to: String,
    /// The process of this host that has this socket, in a capture of an interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Process>,
    /// Number of packets.
    pub packets: u64,
    /// Bytes of these IP packets.
    pub ip_bytes: u64,
    /// Start relative to the start of the capture.
    pub start_s: f64,
    /// Time from its first to its last packet.
    pub duration_s: f64,
}

impl DatagramFlow {
    /// Mean rate of its IP packets; 0 for a single packet.
    pub fn bits_per_second(&self) -> f64 {
        if self.duration_s > 0.0 { 8.0 * self.ip_bytes as f64 / self.duration_s } else { 0.0 }
    }
}

/// Data sent by one end of a flow, with its retransmissions, delays and limits.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CapturedSide {
    /// Number of segments, including those without payload.
    pub packets: u64,
    /// Payload; retransmitted bytes count once.
    pub payload_bytes: u64,
    /// Payload divided by the time from its first to its last byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput_bits_per_second: Option<f64>,
    /// Retransmitted segments by cause.
    pub retransmissions: Retransmissions,
    /// Number of segments that arrived out of order.
    pub reordered_packets: u64,
    /// Number of packets marked CE.
    pub ce_packets: u64,
    /// Most bytes in flight: sent, but neither acknowledged nor selectively acknowledged.
    #[serde(alias = "most_outstanding_bytes")]
    pub max_outstanding_bytes: u64,
    /// Round-trip times between the capture point and the other end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<RoundTrips>,
    /// What limited the sender: receive window, congestion control or application.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

/// Retransmitted segments by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Retransmissions {
    /// Fast retransmissions, triggered by duplicate ACKs or SACK.
    pub fast_packets: u64,
    /// Retransmissions by RACK or tail loss probes.
    pub probe_packets: u64,
    /// Retransmissions after a timeout (RTO).
    pub timeout_packets: u64,
    /// Spurious retransmissions: the original had arrived.
    pub spurious_packets: u64,
    /// Retransmissions with an unknown cause.
    pub unknown_packets: u64,
}

impl Retransmissions {
    /// Number of retransmissions of all causes.
    pub const fn packets(&self) -> u64 {
        self.fast_packets
            + self.probe_packets
            + self.timeout_packets
            + self.spurious_packets
            + self.unknown_packets
    }
}

/// Round-trip times of a flow.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RoundTrips {
    /// Number of unambiguous samples: the response identifies the transmission it answers.
    pub count: u64,
    /// Minimum.
    pub min_s: f64,
    /// Median.
    pub p50_s: f64,
    /// 95th percentile.
    pub p95_s: f64,
    /// Maximum.
    pub max_s: f64,
}

/// What limited a sender, as shares of the time, 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Share of the time with a full receive window.
    pub window_ratio: f64,
    /// Share of the time with unsent data and room in the receive window.
    pub congestion_ratio: f64,
    /// Share of the time with no data to send.
    pub application_ratio: f64,
}

/// A value with its uncertainty.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimated value.
    pub value: f64,
    /// Error in either direction.
    pub error: f64,
}

/// Position of a queue on the path, relative to the capture point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueuePlace {
    /// In the sending host, which is the host that captured.
    InSender,
    /// Between the sender and the capture point.
    BeforeCapture,
    /// Between the capture point and the receiver.
    AfterCapture,
    /// Somewhere on the round trip; the part is unknown.
    RoundTrip,
}

/// How a queue is managed, inferred from its drops and delays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueManagement {
    /// Drops only when the buffer is full.
    TailDrop,
    /// Drops at random, with a probability that grows with the queue.
    Red,
    /// Keeps the standing delay at a target.
    Codel,
    /// Other flows do not wait behind the flow that fills the queue.
    FairQueueing,
    /// No drops or marks were seen.
    NoneSeen,
}

/// A queue on the captured path.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CapturedQueue {
    /// Position on the path.
    pub place: QueuePlace,
    /// Host that sends the packets.
    pub from: String,
    /// Host that receives the packets.
    pub to: String,
    /// Queueing delay during the load.
    #[serde(alias = "delay_s")]
    pub delay: DelayPercentiles,
    /// Queueing delay of the other parts of the path during the same time.
    #[serde(default, alias = "elsewhere_s", skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<PartDelay>,
    /// Round-trip time without queues; `None` if the path was never seen empty. Delays are then
    /// relative to the smallest delay seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_rtt_s: Option<f64>,
    /// Rate of the link that drains the queue, counting IP packets and their Ethernet headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bits_per_second: Option<Estimate>,
    /// Size of the buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_bytes: Option<Estimate>,
    /// The queue was seen to overflow, so `buffer_bytes` is not a lower bound.
    #[serde(default)]
    pub was_full: bool,
    /// Number of packets lost in the queue.
    pub lost_packets: u64,
    /// Number of packets that the queue marked.
    pub marked_packets: u64,
    /// Number of loss episodes.
    pub episodes: u64,
    /// Queueing delay when packets were lost or marked.
    #[serde(default, alias = "delay_at_loss_s", skip_serializing_if = "Option::is_none")]
    pub delay_at_loss: Option<DelayAtLoss>,
    /// Inferred queue management.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub management: Option<ManagementEstimate>,
    /// Oscillation of the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swing: Option<Swing>,
    /// Flows that filled the queue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filled_by: Vec<FlowShare>,
    /// Flows that waited in the queue without filling it.
    #[serde(default, alias = "suffered", skip_serializing_if = "Vec::is_empty")]
    pub delayed: Vec<DelayedFlows>,
    /// Requests and responses of protocols other than TCP that waited in the queue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<CapturedProbes>,
    /// How probes showed the delay, if no TCP flow filled the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probed: Option<ProbedDelay>,
    /// Number of delay samples.
    pub samples: u64,
    /// Numbers of frames that show the queue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<u64>,
    /// Alternative explanations of the observed delay.
    #[serde(default, alias = "because", skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<QueueAlternative>,
}

/// The probes that showed a delay, and the UDP flows that sent at that time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProbedDelay {
    /// Kind of the probes.
    pub kind: ProbeKind,
    /// Host that sent the probes.
    pub from: String,
    /// Host that answered.
    pub to: String,
    /// Minimum response time in the whole capture.
    pub min_s: f64,
    /// Number of probes without a response in the whole capture.
    pub unanswered: u64,
    /// Probes were also answered without load, so the minimum is that of an empty path.
    pub is_base_idle: bool,
    /// UDP flows that sent while probes waited, largest first; empty if none explains the delay.
    pub loads: Vec<DatagramLoad>,
}

/// A UDP flow that sent while probes waited.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct DatagramLoad {
    /// Address and port of the sender.
    pub from: String,
    /// Address and port of the receiver.
    pub to: String,
    /// The process of this host that has this socket, in a capture of an interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Process>,
    /// Its rate in IP packets while probes waited; its mean rate if none waited.
    pub bits_per_second: f64,
    /// Its share of the bytes of all UDP flows in this direction, 0 to 1.
    pub bytes_ratio: f64,
    /// It was captured after the queue, so the rate is that of the arrivals.
    pub is_arriving: bool,
}

/// Percentiles of a delay over time.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "v1::Delay")]
pub struct DelayPercentiles {
    /// 5th percentile.
    pub p5_s: f64,
    /// Median.
    pub median_s: f64,
    /// 90th percentile. Schema version 1 lacks it; the 95th percentile, which is not smaller,
    /// replaces it.
    pub p90_s: f64,
    /// 95th percentile.
    pub p95_s: f64,
    /// Maximum.
    pub max_s: f64,
}

/// The path between the capture point and a host, in one direction: `10.0.0.1 to capture`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PathPart {
    /// The host at the end of this part.
    pub host: String,
    /// Direction relative to the capture point.
    pub direction: PartDirection,
}

/// Direction of a part of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartDirection {
    /// From the host to the capture point.
    ToCapture,
    /// From the capture point to the host.
    FromCapture,
}

impl fmt::Display for PathPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.direction {
            PartDirection::ToCapture => write!(f, "{} to capture", self.host),
            PartDirection::FromCapture => write!(f, "capture to {}", self.host),
        }
    }
}

/// Delay of one part of a path.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "v1::PartDelay")]
pub struct PartDelay {
    /// The part of the path.
    pub part: PathPart,
    /// 95th percentile.
    pub p95_s: f64,
}

/// Queueing delay when packets were lost or marked.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "v1::DelayAtLoss")]
pub struct DelayAtLoss {
    /// 10th percentile.
    pub p10_s: f64,
    /// Median.
    pub median_s: f64,
    /// 90th percentile.
    pub p90_s: f64,
}

/// Inferred queue management with its confidence.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "v1::Management")]
pub struct ManagementEstimate {
    /// Kind of management.
    pub kind: QueueManagement,
    /// Confidence, 0 to 1.
    pub confidence_ratio: f64,
}

/// Share of a flow in a queue.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "v1::FlowShare")]
pub struct FlowShare {
    /// Number of the flow.
    pub flow: u32,
    /// Share of the bytes in the queue, 0 to 1.
    pub bytes_ratio: f64,
}

/// Flows that waited in a queue without filling it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "v1::DelayedFlows")]
pub struct DelayedFlows {
    /// The delayed flows.
    pub who: DelayedParty,
    /// Delay that the queue added to their round-trip times, 95th percentile.
    pub added_p95_s: f64,
}

/// The flows that waited.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DelayedParty {
    /// One flow.
    Flow {
        /// Number of the flow.
        number: u32,
        /// Address and port of both ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ends: Option<[String; 2]>,
    },
    /// A UDP flow.
    Datagrams {
        /// Address and port of the sender.
        from: String,
        /// Address and port of the receiver.
        to: String,
    },
    /// The first exchange of flows with only a few packets.
    ShortFlows {
        /// Number of flows.
        count: u64,
    },
}

/// An alternative explanation of the delay attributed to a queue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "v1::Alternative")]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum QueueAlternative {
    /// The timestamp clock of a host is not steady.
    UnsteadyClock {
        /// The host.
        host: String,
        /// Estimated rate of its timestamp clock.
        hertz: f64,
        /// Number of packets that fit this rate.
        packets: u64,
        /// Error within which they fit.
        error_s: f64,
    },
    /// The data acknowledged while the queue was present may have bypassed the link that drains it.
    AcknowledgedElsewhere,
    /// The data that arrived while the queue was present may have bypassed the link that drains it.
    ArrivedElsewhere,
    /// The queue may be in the sender instead of beyond it, or the other way round.
    SenderOrNextHop,
    /// A sentence from a file of schema version 1.
    Text {
        /// The sentence.
        text: String,
    },
}

/// A bulk flow for which the location of the queueing delay is unknown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "v1::Unknown")]
pub struct UnknownQueue {
    /// Number of the flow; 0 if a file of schema version 1 does not say.
    pub flow: u32,
    /// Reason.
    pub reason: UnknownReason,
}

/// Why the location of a queueing delay is unknown.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum UnknownReason {
    /// No part of the path shows a delay above the clock error.
    NoQueue {
        /// 95th percentile of the delay of the slowest part.
        p95_s: f64,
        /// Clock error.
        error_s: f64,
    },
    /// Two parts of the path have similar delays.
    SeveralParts {
        /// The two parts with the largest delay, largest first.
        parts: [PathPart; 2],
    },
    /// The flow has no TCP timestamps.
    NoTimestamps,
    /// The TCP timestamps contain too few ticks.
    TooFewTicks {
        /// Number of ticks.
        ticks: f64,
        /// Time from the first to the last tick.
        duration_s: f64,
    },
    /// The timestamp clock restarted.
    RestartedClock {
        /// Number of the frame with the restart.
        frame: u64,
    },
    /// Several rates of the timestamp clock fit.
    AmbiguousClock {
        /// Lowest rate that fits.
        min_hertz: f64,
        /// Highest rate that fits.
        max_hertz: f64,
    },
    /// The clock error may exceed the variation of the delay.
    UncertainClock {
        /// Clock error.
        error_s: f64,
        /// Variation of the delay.
        variation_s: f64,
    },
    /// The ACKs of the flow queued behind its own data.
    AcksQueued,
    /// No packet was seen in that direction.
    NothingSeen,
    /// Too few round trips were measured, and there are no TCP timestamps.
    TooFewRoundTrips,
    /// A sentence from a file of schema version 1.
    Text {
        /// The sentence.
        text: String,
    },
}

/// Requests of one kind, of protocols other than TCP.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CapturedAnswers {
    /// Kind of the requests.
    pub kind: ProbeKind,
    /// Number of requests; retransmitted requests count once.
    pub asked: u64,
    /// Number of requests without a response.
    pub unanswered: u64,
    /// Response times of requests that were sent once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<RoundTrips>,
}

/// Requests of protocols other than TCP that were answered while a queue was present.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CapturedProbes {
    /// Kind of the requests.
    pub kind: ProbeKind,
    /// Host that sent the requests.
    pub from: String,
    /// Host that was queried.
    pub to: String,
    /// Number of responses that arrived while the queue was present.
    pub answers: u64,
    /// Number of requests without a response in the whole capture.
    pub unanswered: u64,
    /// Minimum response time in the whole capture.
    #[serde(alias = "least_s")]
    pub min_s: f64,
    /// Maximum response time while the queue was present.
    #[serde(alias = "most_s")]
    pub max_s: f64,
    /// Delay added by the queue, 95th percentile.
    pub added_p95_s: f64,
}

/// Kind of request, of protocols other than TCP.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeKind {
    /// An ICMP echo.
    Echo,
    /// A DNS query over UDP.
    Dns,
    /// A QUIC handshake.
    QuicHandshake,
    /// A transition of the QUIC spin bit, only a hint because endpoints may disable it.
    QuicSpin,
}

/// Oscillation of a queue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Swing {
    /// Period.
    pub period_s: f64,
    /// Name of the congestion control that oscillates with this period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// Period predicted for this congestion control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_s: Option<f64>,
}

/// The path from one capture to the next, in one direction.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CapturedHop {
    /// The capture that packets pass first, and the next one.
    pub captures: [String; 2],
    /// Number of packets found in both captures.
    pub matched_packets: u64,
    /// Lost packets: in the first capture and in no later one.
    pub lost_packets: u64,
    /// Frame numbers of the first lost packets, in the first capture.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_frames: Vec<u64>,
    /// Packets missing from the second capture but present in a later one.
    pub uncaptured_packets: u64,
    /// Packets only in the second capture, missed by the first or from in between.
    #[serde(default)]
    pub appeared_packets: u64,
    /// Packets of the first capture sent while the second was not running.
    #[serde(default)]
    pub unjudged_packets: u64,
    /// Number of flows with addresses or ports rewritten by a NAT in between.
    #[serde(default)]
    pub translated_flows: u64,
    /// Packets that arrived after later ones.
    pub reordered_packets: u64,
    /// Additional copies of packets.
    pub duplicated_packets: u64,
    /// Minimum delay; without synchronized clocks, half the minimum round-trip time.
    #[serde(default, alias = "least_delay_s", skip_serializing_if = "Option::is_none")]
    pub min_delay_s: Option<Estimate>,
    /// Delay above the minimum.
    #[serde(default, alias = "delay_s", skip_serializing_if = "Option::is_none")]
    pub delay: Option<HopDelay>,
    /// Second clock minus first clock at the start of the capture.
    pub clock_offset_s: f64,
    /// How much faster the second clock runs, as a ratio.
    pub clock_skew_ratio: f64,
    /// A clock was set during the capture, so delays are unreliable.
    #[serde(default)]
    pub is_clock_set: bool,
    /// Changes of DSCP and ECN.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarked: Vec<Remarking>,
    /// Number of routers passed, from the decrease of the hop limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routers: Option<i16>,
}

/// Delay from one capture to the next, above the minimum.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "v1::HopDelay")]
pub struct HopDelay {
    /// Median.
    pub median_s: f64,
    /// 95th percentile.
    pub p95_s: f64,
    /// Maximum.
    pub max_s: f64,
}

/// Packets with DSCP or ECN bits that changed from one capture to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "v1::Remarking")]
pub struct Remarking {
    /// Marking before.
    pub from: IpMarking,
    /// Marking after.
    pub to: IpMarking,
    /// Number of packets.
    pub packets: u64,
}

/// DSCP and ECN of an IP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct IpMarking {
    /// DSCP (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// ECN codepoint (RFC 3168): 0 is Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
}
