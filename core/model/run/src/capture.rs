//! What a capture shows beside its series: its flows, the queues on its path, and what could not be known.
//!
//! Results, not findings: `fathom-diagnose` puts them into words.
use alloc::string::String;
use alloc::vec::Vec;
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
    /// What could not be told, and why: sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
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
    /// What is wrong with it: sentences. Empty if nothing is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defects: Vec<String>,
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
    pub most_outstanding_bytes: u64,
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
    /// Delay in it: 5th, 50th and 95th percentile of the time under load, and the largest.
    pub delay_s: [f64; 4],
    /// Delay of the other parts of the path in that time, 95th percentile, each with its name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere_s: Vec<(String, f64)>,
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
    /// Delay in it when packets were lost or marked, 10th, 50th and 90th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_at_loss_s: Option<[f64; 3]>,
    /// What manages it, and how sure that is (0 to 1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub management: Option<(QueueManagement, f64)>,
    /// How it swings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swing: Option<Swing>,
    /// Flows that filled it, by number, with their share of its bytes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filled_by: Vec<(u32, f64)>,
    /// Who waited without filling it, with the 95th percentile of the delay that was added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suffered: Vec<(String, f64)>,
    /// Questions and answers apart from TCP that waited in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<CapturedProbes>,
    /// Samples that it rests on.
    pub samples: u64,
    /// Frames to look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<u64>,
    /// How it was found, and what it rests on: sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
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
    pub least_s: f64,
    /// The most that one took while the queue stood.
    pub most_s: f64,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_delay_s: Option<Estimate>,
    /// Above the least delay: median, 95th percentile, and the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_s: Option<[f64; 3]>,
    /// The second clock less the first, when the capture began.
    pub clock_offset_s: f64,
    /// How much faster the second clock is.
    pub clock_skew_ratio: f64,
    /// A clock was set while the captures ran: delays are not to be trusted.
    #[serde(default)]
    pub is_clock_set: bool,
    /// Changes of DSCP and ECN, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarked: Vec<String>,
    /// Routers that were passed: by how much the hop limit fell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routers: Option<i16>,
}
