//! What a capture shows beside its series: its flows, the queues on its path, and what could not be known.
//!
//! Results, not findings: there is no sentence in them. `fathom-diagnose` puts them into words. Files of schema version 1 had sentences
//! and lists in some places; [`v1`] reads them.
mod defect;
mod v1;

pub use defect::CaptureDefect;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// What one or more captures of a path show.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Capture {
    /// The files or the interface.
    pub sources: Vec<CaptureSource>,
    /// TCP flows in all.
    pub flow_count: u64,
    /// Those with most bytes, the largest first.
    pub flows: Vec<CapturedFlow>,
    /// Questions and answers apart from TCP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<CapturedAnswers>,
    /// Queues, that with the longest delay first.
    pub queues: Vec<CapturedQueue>,
    /// From each capture of a path to the next, both ways; empty for one capture.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<CapturedHop>,
    /// Bulk flows of which it is not known where their packets waited: the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownQueue>,
}

/// A file, or an interface.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CaptureSource {
    /// Path or name.
    pub name: String,
    /// Frames in it.
    pub frames: u64,
    /// Bytes of those as they were sent.
    pub wire_bytes: u64,
    /// First to last frame.
    pub duration_s: f64,
    /// What is wrong with it. Empty if nothing is.
    #[serde(default, deserialize_with = "crate::note::list", skip_serializing_if = "Vec::is_empty")]
    pub defects: Vec<CaptureDefect>,
}

/// A TCP flow.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CapturedFlow {
    /// In order of first packets, from 1.
    pub number: u32,
    /// Address and port of the end that opened it, and of the other.
    pub ends: [String; 2],
    /// Number of its first frame and of its last.
    pub frames: [u64; 2],
    /// From the start of the capture.
    pub start_s: f64,
    /// First to last frame.
    pub duration_s: f64,
    /// What each end sent.
    pub sent: [CapturedSide; 2],
}

/// What one end of a flow sent, and what became of it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CapturedSide {
    /// Segments, those without payload included.
    pub packets: u64,
    /// Payload, what was sent again counted once.
    pub payload_bytes: u64,
    /// Payload over the time from its first byte to its last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goodput_bits_per_second: Option<f64>,
    /// Segments sent again, by cause.
    pub retransmissions: Retransmissions,
    /// Segments that came out of order.
    pub reordered_packets: u64,
    /// Packets with CE.
    pub ce_packets: u64,
    /// Most bytes outstanding, less what was selectively acknowledged.
    #[serde(alias = "most_outstanding_bytes")]
    pub max_outstanding_bytes: u64,
    /// Round trips from the capture point to the other end and back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<RoundTrips>,
    /// Shares of the time during which the receiver's window, congestion, or the application held it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

/// Segments sent again, by cause.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Retransmissions {
    /// Duplicate ACKs or SACK told of the loss.
    pub fast_packets: u64,
    /// RACK or a tail loss probe.
    pub probe_packets: u64,
    /// The retransmission timer.
    pub timeout_packets: u64,
    /// In vain: the original had arrived.
    pub spurious_packets: u64,
    /// It cannot be told.
    pub unknown_packets: u64,
}

impl Retransmissions {
    /// Of all causes.
    pub const fn packets(&self) -> u64 {
        self.fast_packets
            + self.probe_packets
            + self.timeout_packets
            + self.spurious_packets
            + self.unknown_packets
    }
}

/// Round trips of a flow.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct RoundTrips {
    /// Those of which it is known which transmission was answered.
    pub count: u64,
    /// The least.
    pub min_s: f64,
    /// Median.
    pub p50_s: f64,
    /// 95th percentile.
    pub p95_s: f64,
    /// The largest.
    pub max_s: f64,
}

/// Shares of the time, 0 to 1.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Limits {
    /// The receiver's window was full.
    pub window_ratio: f64,
    /// There was more to send, and room in the receiver's window.
    pub congestion_ratio: f64,
    /// There was nothing to send.
    pub application_ratio: f64,
}

/// A value and how far it may be off, both ways.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Its error.
    pub error: f64,
}

/// Which part of the path a queue is in, seen from the capture point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueuePlace {
    /// In the host that sends, which is the host that captured.
    InSender,
    /// Between the sender and the capture point.
    BeforeCapture,
    /// Between the capture point and the receiver.
    AfterCapture,
    /// Somewhere on the round trip: which part could not be told.
    RoundTrip,
}

/// What manages a queue, by its fingerprint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueueManagement {
    /// Drops when it is full, not before.
    TailDrop,
    /// Drops by chance as it grows.
    Red,
    /// Keeps the standing delay at a target.
    Codel,
    /// Others do not wait behind the flow that fills it.
    FairQueueing,
    /// Neither drops nor marks were seen.
    NoneSeen,
}

/// A queue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CapturedQueue {
    /// Which part of the path.
    pub place: QueuePlace,
    /// Host from which its packets come.
    pub from: String,
    /// Host to which they go.
    pub to: String,
    /// Delay in it, over the time under load.
    #[serde(alias = "delay_s")]
    pub delay: DelayPercentiles,
    /// Delay of the other parts of the path in that time.
    #[serde(default, alias = "elsewhere_s", skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<PartDelay>,
    /// The round trip without queues; `None` if the path was never seen empty, so that delays are above the least seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_rtt_s: Option<f64>,
    /// Of the link behind it, bits of IP packets and their Ethernet headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bits_per_second: Option<Estimate>,
    /// What it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_bytes: Option<Estimate>,
    /// It was seen to overflow: `buffer_bytes` is all it holds, not the least.
    #[serde(default)]
    pub was_full: bool,
    /// Packets lost in it.
    pub lost_packets: u64,
    /// Packets it marked.
    pub marked_packets: u64,
    /// Episodes of loss.
    pub episodes: u64,
    /// Delay in it when packets were lost or marked.
    #[serde(default, alias = "delay_at_loss_s", skip_serializing_if = "Option::is_none")]
    pub delay_at_loss: Option<DelayAtLoss>,
    /// What manages it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub management: Option<ManagementEstimate>,
    /// How it swings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swing: Option<Swing>,
    /// Flows that filled it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filled_by: Vec<FlowShare>,
    /// Flows that waited without filling it.
    #[serde(default, alias = "suffered", skip_serializing_if = "Vec::is_empty")]
    pub delayed: Vec<DelayedFlows>,
    /// Questions and answers apart from TCP that waited in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<CapturedProbes>,
    /// Samples that it rests on.
    pub samples: u64,
    /// Frames to look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<u64>,
    /// What else would look like this queue.
    #[serde(default, alias = "because", skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<QueueAlternative>,
}

/// Percentiles of a delay over time.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "v1::Delay")]
pub struct DelayPercentiles {
    /// 5th percentile.
    pub p5_s: f64,
    /// Median.
    pub median_s: f64,
    /// 90th percentile. Files of schema version 1 do not have it: then it is the 95th, which is no less.
    pub p90_s: f64,
    /// 95th percentile.
    pub p95_s: f64,
    /// The largest.
    pub max_s: f64,
}

/// One of the parts of a path between the capture point and its ends, in one direction. `Display` gives `10.0.0.1 to capture`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PathPart {
    /// The host at its end.
    pub host: String,
    /// In which direction.
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
    /// Which part.
    pub part: PathPart,
    /// 95th percentile.
    pub p95_s: f64,
}

/// Delay in a queue when packets were lost or marked.
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

/// What manages a queue, and how sure that is.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "v1::Management")]
pub struct ManagementEstimate {
    /// What manages it.
    pub kind: QueueManagement,
    /// How sure that is, 0 to 1.
    pub confidence_ratio: f64,
}

/// The share of a flow in a queue.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "v1::FlowShare")]
pub struct FlowShare {
    /// Its number.
    pub flow: u32,
    /// Its share of the queue's bytes, 0 to 1.
    pub bytes_ratio: f64,
}

/// Flows that waited in a queue without filling it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "v1::DelayedFlows")]
pub struct DelayedFlows {
    /// Which.
    pub who: DelayedParty,
    /// What the queue added to their round trips, 95th percentile.
    pub added_p95_s: f64,
}

/// Which flows waited.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum DelayedParty {
    /// One flow.
    Flow {
        /// Its number.
        number: u32,
        /// Address and port of its ends.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ends: Option<[String; 2]>,
    },
    /// The first exchange of flows of a few packets.
    ShortFlows {
        /// How many.
        count: u64,
    },
}

/// What else would look like a queue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "v1::Alternative")]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum QueueAlternative {
    /// The timestamps of a host do not come from a steady clock.
    UnsteadyClock {
        /// The host.
        host: String,
        /// Its rate, as it was found.
        hertz: f64,
        /// Packets that fit it.
        packets: u64,
        /// Within so much.
        error_s: f64,
    },
    /// What was acknowledged while the queue stood took another way than the link behind it.
    AcknowledgedElsewhere,
    /// What arrived while the queue stood came another way than over the link behind it.
    ArrivedElsewhere,
    /// The queue is in the sender where it is said to be behind it, or the other way round.
    SenderOrNextHop,
    /// As schema version 1 has it.
    Text {
        /// A sentence.
        text: String,
    },
}

/// A bulk flow of which it is not known where its packets waited.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "v1::Unknown")]
pub struct UnknownQueue {
    /// Its number; 0 where a file of schema version 1 does not say.
    pub flow: u32,
    /// Why not.
    pub reason: UnknownReason,
}

/// Why it is not known where packets waited.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum UnknownReason {
    /// No part of the path delays for longer than the error of the clocks.
    NoQueue {
        /// 95th percentile of the part that delays most.
        p95_s: f64,
        /// Its error.
        error_s: f64,
    },
    /// Two parts of the path delay alike.
    SeveralParts {
        /// The part that delays most, and the next.
        parts: [PathPart; 2],
    },
    /// The flow has no TCP timestamps.
    NoTimestamps,
    /// Its timestamps show too few ticks.
    TooFewTicks {
        /// Ticks.
        ticks: f64,
        /// From the first to the last.
        duration_s: f64,
    },
    /// Its timestamps begin anew.
    RestartedClock {
        /// In this frame.
        frame: u64,
    },
    /// More than one rate of its clock fits.
    AmbiguousClock {
        /// The lowest.
        min_hertz: f64,
        /// The highest.
        max_hertz: f64,
    },
    /// Its clock may be off by more than delays vary.
    UncertainClock {
        /// What the clock may be off.
        error_s: f64,
        /// How much delays vary.
        variation_s: f64,
    },
    /// Its ACKs queued behind its own data.
    AcksQueued,
    /// Nothing was seen going that way.
    NothingSeen,
    /// Too few round trips, and no timestamps.
    TooFewRoundTrips,
    /// As schema version 1 has it.
    Text {
        /// A sentence.
        text: String,
    },
}

/// Questions apart from TCP, of one kind.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CapturedAnswers {
    /// What was asked.
    pub kind: ProbeKind,
    /// How often, what was asked again counted once.
    pub asked: u64,
    /// Questions without an answer.
    pub unanswered: u64,
    /// How long answers took, of what was asked once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<RoundTrips>,
}

/// Questions apart from TCP, from one host to another, whose answers came while a queue stood.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CapturedProbes {
    /// What was asked.
    pub kind: ProbeKind,
    /// Host that asked.
    pub from: String,
    /// Host that was asked.
    pub to: String,
    /// Answers that came while the queue stood.
    pub answers: u64,
    /// Questions without an answer in the whole capture.
    pub unanswered: u64,
    /// The least that an answer took in the whole capture.
    #[serde(alias = "least_s")]
    pub min_s: f64,
    /// The most that one took while the queue stood.
    #[serde(alias = "most_s")]
    pub max_s: f64,
    /// What the queue added, 95th percentile.
    pub added_p95_s: f64,
}

/// Questions apart from TCP.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeKind {
    /// An ICMP echo.
    Echo,
    /// A DNS query over UDP.
    Dns,
    /// A handshake of QUIC.
    QuicHandshake,
    /// A turn of QUIC's spin bit, which is a hint.
    QuicSpin,
}

/// The swing of a queue.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Swing {
    /// Its period.
    pub period_s: f64,
    /// Congestion control that swings so: its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// The period that it should have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicted_s: Option<f64>,
}

/// From one capture of a path to the next, in one direction.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CapturedHop {
    /// The capture that packets pass first, and the next.
    pub captures: [String; 2],
    /// Packets in both.
    pub matched_packets: u64,
    /// Packets in the first, and in none after it.
    pub lost_packets: u64,
    /// The first frames of those, in the first capture.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost_frames: Vec<u64>,
    /// Packets that the second capture missed, as a later one has them.
    pub uncaptured_packets: u64,
    /// Packets that only the second capture has: the first missed them, or they came from between.
    #[serde(default)]
    pub appeared_packets: u64,
    /// Packets of the first that passed the second when that did not run.
    #[serde(default)]
    pub unjudged_packets: u64,
    /// Flows whose addresses or ports a NAT between the two rewrites.
    #[serde(default)]
    pub translated_flows: u64,
    /// Packets that arrived after later ones.
    pub reordered_packets: u64,
    /// Further copies.
    pub duplicated_packets: u64,
    /// The least delay, and how far it may be off; without synchronised clocks half the least round trip between the captures.
    #[serde(default, alias = "least_delay_s", skip_serializing_if = "Option::is_none")]
    pub min_delay_s: Option<Estimate>,
    /// Above the least delay.
    #[serde(default, alias = "delay_s", skip_serializing_if = "Option::is_none")]
    pub delay: Option<HopDelay>,
    /// The second clock less the first, when the capture began.
    pub clock_offset_s: f64,
    /// How much faster the second clock is.
    pub clock_skew_ratio: f64,
    /// A clock was set while the captures ran: delays are not to be trusted.
    #[serde(default)]
    pub is_clock_set: bool,
    /// Changes of DSCP and ECN.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarked: Vec<Remarking>,
    /// Routers that were passed: by how much the hop limit fell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routers: Option<i16>,
}

/// Delay from one capture to the next, above the least.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(from = "v1::HopDelay")]
pub struct HopDelay {
    /// Median.
    pub median_s: f64,
    /// 95th percentile.
    pub p95_s: f64,
    /// The largest.
    pub max_s: f64,
}

/// Packets whose DSCP and ECN bits changed from one capture to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "v1::Remarking")]
pub struct Remarking {
    /// Before.
    pub from: IpMarking,
    /// After.
    pub to: IpMarking,
    /// How many packets.
    pub packets: u64,
}

/// The marking of an IP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct IpMarking {
    /// DSCP (RFC 2474), 0 to 63.
    pub dscp: u8,
    /// ECN codepoint (RFC 3168): 0 is Not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub ecn: u8,
}
