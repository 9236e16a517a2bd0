//! Parameters of findings, in seconds and bytes unless a name ends in another unit.
use crate::{
    DelayAtLoss, DelayedFlows, Estimate, PhaseEnd, PhaseKind, ProbeKind, Process, ProtocolTimer,
    QueueAlternative, Remarking, Retransmissions,
};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Defines structs. `name?: Type` is an `Option` that is omitted from files when `None`.
macro_rules! data {
    ($($(#[$meta:meta])* struct $name:ident {
        $($(#[$field_meta:meta])* $field:ident $(?: $optional:ty)? $(: $type:ty)?,)*
    })*) => {$(
        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
        pub struct $name { $(
            $(#[$field_meta])*
            $(#[serde(default, skip_serializing_if = "Option::is_none")] pub $field: Option<$optional>)?
            $(pub $field: $type)?,
        )* }
    )*};
}

/// Whose traffic fills a queue before the load of a test.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TrafficSource {
    /// That of a program of this computer: it has most of the line.
    Program {
        /// Its name.
        name: String,
    },
    /// That of other devices: this computer has little of the line.
    OtherDevices,
}

data! {
    /// Round-trip latency without and with load, of the probes that were answered.
    struct LatencyIncrease {
        /// The phase with load.
        phase: PhaseKind,
        /// Median without load.
        idle_p50_s: f64,
        /// Median under load.
        loaded_p50_s: f64,
        /// 90th percentile under load.
        loaded_p90_s: f64,
        /// Maximum under load.
        loaded_max_s: f64,
        /// The maximum is a lower bound: probes were so far apart that half of them show another.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        is_max_lower_bound: bool,
        /// The median and the 90th percentile under load are approximate: those of half of the
        /// probes and of the others differ by more than 2 % and 1 ms.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        is_approximate: bool,
        /// The figures under load are lower bounds: latency was still growing, or the last probes
        /// were not answered.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        is_lower_bound: bool,
        /// Share of the increase on the uplink, from one-way delays; `None` if those are unknown or
        /// the increase is too small to divide.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        up_ratio: Option<f64>,
    }
    /// Round-trip latency of a period with unknown load, of the probes that were answered.
    struct LatencyVariation {
        /// 5th percentile, an estimate of the latency without queues.
        base_p5_s: f64,
        /// Median.
        p50_s: f64,
        /// 90th percentile.
        p90_s: f64,
        /// 95th percentile.
        p95_s: f64,
        /// Maximum.
        max_s: f64,
        /// Number of answered probes.
        answered_packets: u64,
    }
    /// Delay of a captured queue under load.
    struct QueueDelay {
        /// Number of the queue in the run's capture, from 1.
        queue: u32,
        /// The delay exceeds what people or protocols tolerate.
        is_bloated: bool,
        /// 5th percentile.
        delay_p5_s: f64,
        /// Median.
        delay_p50_s: f64,
        /// 90th percentile.
        delay_p90_s: f64,
        /// 95th percentile.
        delay_p95_s: f64,
        /// Maximum.
        delay_max_s: f64,
        /// Number of samples.
        samples: u64,
        /// Round-trip time without queues, if the path was seen empty.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base_rtt_s: Option<f64>,
    }
    /// Periods in which the link delivered nothing.
    struct Outage {
        /// The phase.
        phase: PhaseKind,
        /// Number of outages.
        count: u64,
        /// Duration of the longest outage.
        longest_s: f64,
        /// Total duration.
        total_s: f64,
    }
    /// Largest queue of a direction: delay times rate.
    struct BufferSize {
        /// The phase in which it was measured.
        phase: PhaseKind,
        /// Largest added delay: maximum of the medians of three consecutive probes.
        #[serde(alias = "delay_p99_s")]
        delay_s: f64,
        /// Payload that the link delivered while packets waited for it.
        goodput_bits_per_second: f64,
        /// Rate of the probes in addition to the load, as IP packets.
        probes_bits_per_second: f64,
        /// Rate of the link, as IP packets.
        rate_bits_per_second: f64,
        /// Size of the queue as IP packets.
        ip_bytes: f64,
        /// Size of the queue as Ethernet frames.
        ethernet_bytes: f64,
        /// The buffer was not seen to overflow, or the rate is a lower bound, so it may be larger.
        is_lower_bound: bool,
        /// Packets hardly waited for the link, so it may be faster.
        #[serde(default)]
        is_rate_lower_bound: bool,
        /// The line is bloated in this direction.
        is_bloated: bool,
        /// What the buffer counts, where that shows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<BufferLimit>,
        /// What bursts of datagrams found.
        check?: BufferCheck,
    }
    /// Size of a buffer from bursts of datagrams, next to that from a load of TCP.
    struct BufferCheck {
        /// Bytes of IP packets in the full buffer, or those seen.
        ip_bytes: f64,
        /// Longest wait.
        delay_s: f64,
        /// The bursts did not fill it.
        is_lower_bound: bool,
        /// Both sizes can be true.
        agrees: bool,
    }
    /// The buffer in front of a link, as bursts of datagrams found it.
    struct MeasuredBuffer {
        /// Rate of the link, with its own headers.
        rate_bits_per_second: Estimate,
        /// Bytes that the link adds to each IP packet.
        overhead_bytes: f64,
        /// Longest wait.
        delay_s: f64,
        /// Bytes in the full buffer with the link's headers, or those seen.
        bytes: Estimate,
        /// Packets in the full buffer, if it counts packets.
        packets?: Estimate,
        /// The buffer was not full, so it may be larger.
        is_lower_bound: bool,
        /// What it counts, if that showed.
        limit?: BufferLimit,
        /// How it drops, if that showed.
        rule?: ManagementRule,
        /// Packets were lost while it had room: by an AQM whose rule may not show, or by the link.
        drops_early: bool,
        /// Other flows did not wait behind the bursts.
        is_per_flow: bool,
        /// Bytes that pass at once after a pause: the bucket of a shaper or a policer.
        bucket_bytes?: f64,
        /// How ECN-capable packets are marked, if they are.
        marks?: Marks,
        /// The buffer of a faster link before this one, if bursts filled it as well.
        first?: FirstBuffer,
        /// The line is bloated in this direction.
        is_bloated: bool,
    }
    /// The buffer of a faster link before the slowest one.
    struct FirstBuffer {
        /// Rate of that link.
        rate_bits_per_second: f64,
        /// Packets in the full buffer ...
        packets: f64,
        /// ... of this size with the link's headers.
        packet_bytes: f64,
    }
    /// How an AQM marks ECN-capable packets instead of dropping them.
    struct Marks {
        /// The rule that the marks of packets with ECT(0) follow, if that showed.
        rule?: ManagementRule,
        /// All of them that wait for longer are marked, and no others.
        threshold_s?: f64,
        /// Likewise of packets with ECT(1) only (L4S).
        l4s_threshold_s?: f64,
    }
    /// Rates of a link under load, payload of the load.
    struct RateChange {
        /// The phase.
        phase: PhaseKind,
        /// Rate at the start.
        first_bits_per_second: f64,
        /// Rate at the end.
        last_bits_per_second: f64,
        /// Lowest rate between two changes; the 10th percentile if the rate varied all the time.
        lowest_bits_per_second: f64,
        /// Highest rate between two changes; the 90th percentile if the rate varied all the time.
        highest_bits_per_second: f64,
        /// Number of changes; 0 if the rate varied all the time.
        change_count: u64,
        /// Time of the last change since the start of the phase; 0 if there was none.
        last_change_s: f64,
    }
    /// Latency before the load of the test, on a line that others use.
    struct OtherTraffic {
        /// Shortest latency of the run: without a queue, or with the shortest one.
        min_s: f64,
        /// Median latency before the load.
        p50_s: f64,
        /// 90th percentile of latency before the load.
        p90_s: f64,
        /// Whose traffic it is, if that is known.
        source?: TrafficSource,
    }
    /// Traffic of a program of this computer during the test. `Finding::direction` is that of the
    /// traffic.
    struct LocalTraffic {
        /// The phase in which it was observed.
        phase: PhaseKind,
        /// The process; absent if it may not be known.
        process?: Process,
        /// Address of the remote host.
        remote: String,
        /// Payload per second.
        bits_per_second: f64,
    }
    /// A queue between two hops of the path.
    struct QueueLocation {
        /// The phase with load.
        phase: PhaseKind,
        /// What this part of the path is to a household, if it is one thing.
        place?: Place,
        /// Number of the last hop before the queue, seen from this host; 0 is this host.
        near_hop: u8,
        /// Its address; absent for this host.
        near_address?: String,
        /// Its name, if it has one.
        near_name?: String,
        /// Number of its autonomous system, if a local table has it.
        near_as_number?: u32,
        /// Number of the first hop beyond the queue.
        far_hop: u8,
        /// Its address; absent for the server.
        far_address?: String,
        /// Its name, if it has one.
        far_name?: String,
        /// Number of its autonomous system, if a local table has it.
        far_as_number?: u32,
        /// Median delay added by the queue.
        delay_s: f64,
        /// Its share of the delay added on the whole path.
        delay_ratio: f64,
        /// Probability of this part of the path, given the replies of both hops.
        probability_ratio: f64,
    }
    /// A queue somewhere on the path.
    struct UnknownLocation {
        /// The phase with load.
        phase: PhaseKind,
        /// Why its place is unknown.
        reason: LocationProblem,
    }
    /// Protocols whose timers are shorter than round trips under load.
    struct ExceededTimers {
        /// The phase.
        phase: PhaseKind,
        /// 95th percentile of the round trip.
        rtt_p95_s: f64,
        /// The protocols, the shortest timer first.
        timers: Vec<ProtocolTimer>,
    }
    /// The start of a load, compared with the rest of its phase.
    struct StartUp {
        /// The phase.
        phase: PhaseKind,
        /// Duration of the start-up.
        duration_s: f64,
        /// Longest latency in it.
        start_max_s: f64,
        /// Median latency after it.
        steady_p50_s: f64,
        /// 90th percentile of latency after it.
        steady_p90_s: f64,
    }
    /// Loss of the datagrams of a workload.
    struct DatagramLoss {
        /// Name of the workload.
        workload: String,
        /// Number of lost datagrams.
        lost_packets: u64,
        /// Number of datagrams sent.
        sent_packets: u64,
    }
    /// The link that drains a captured queue.
    struct Bottleneck {
        /// Number of the queue in the run's capture, from 1.
        queue: u32,
        /// Rate, Ethernet headers included.
        rate_bits_per_second: Estimate,
        /// Size of the buffer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        buffer_bytes: Option<Estimate>,
        /// The buffer was seen to overflow, so its size is not a lower bound.
        was_full: bool,
    }
    /// Management of a queue.
    struct Management {
        /// Kind of management.
        rule: ManagementRule,
        /// Number of lost packets, or of moments with retransmissions if packets were not captured.
        loss_count: u64,
        /// Number of packets marked CE.
        mark_packets: u64,
        /// Number of loss episodes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        episode_count: Option<u64>,
        /// Queueing delay of a captured queue when packets were lost or marked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay_at_loss: Option<DelayAtLoss>,
        /// Median queueing delay at losses, measured by probes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay_at_loss_p50_s: Option<f64>,
        /// Median queueing delay.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay_p50_s: Option<f64>,
        /// 95th percentile of queueing delay.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay_p95_s: Option<f64>,
        /// Share of the losses at a queueing delay of at least 80 % of its 95th percentile.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        top_ratio: Option<f64>,
        /// Median time that packets of the load waited, where it differs from that of the probes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        flow_delay_p50_s: Option<f64>,
        /// Least rate of the link as IP packets, if its flows waited throughout. Others may have
        /// had queues and a share of the rate.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        least_bits_per_second: Option<f64>,
        /// Payload that a policer lets pass.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policed_bits_per_second: Option<f64>,
    }
    /// Time in which the queue filled.
    struct FillTime {
        /// The phase.
        phase: PhaseKind,
        /// Time from the start of the phase until queueing delay reached 90 % of its final value.
        fill_s: f64,
        /// 95th percentile of queueing delay.
        delay_p95_s: f64,
        /// Growth rate of queueing delay, in seconds per second.
        growth_ratio: f64,
    }
    /// Time in which the queue emptied.
    struct DrainTime {
        /// Time until latency fell below `threshold_s`, or until the end of the phase.
        drain_s: f64,
        /// Latency fell below the threshold within the phase.
        is_empty: bool,
        /// Latency below which the queue counts as empty.
        threshold_s: f64,
    }
    /// Probes in a row that waited in a queue that emptied: the largest fall of their delays.
    struct QueueEmptied {
        /// Number of such falls.
        count: u64,
        /// Probes of the largest fall.
        answered_packets: u64,
        /// Send time of the first one, since the start of the run.
        at_s: f64,
        /// Delay of the first one.
        first_s: f64,
        /// Delay of the last one.
        last_s: f64,
    }
    /// A download slowed by the delay of its acknowledgments.
    struct AckStarvation {
        /// Download goodput without upload.
        alone_bits_per_second: f64,
        /// Download goodput during the upload.
        loaded_bits_per_second: f64,
        /// Added delay on the uplink.
        ack_delay_s: f64,
    }
    /// Oscillation of a queue.
    struct Oscillation {
        /// Number of the queue in the run's capture, from 1.
        queue: u32,
        /// Period of the oscillation.
        period_s: f64,
        /// Congestion control that oscillates with this period.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        congestion_control: Option<String>,
        /// Period predicted for this congestion control.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        predicted_s: Option<f64>,
    }
    /// Flows that waited in a queue without filling it, the most delayed first.
    struct QueueVictims {
        /// Number of the queue in the run's capture, from 1.
        queue: u32,
        /// The delayed flows.
        flows: Vec<DelayedFlows>,
    }
    /// Requests of protocols other than TCP that waited in a queue.
    struct DelayedProbes {
        /// Number of the queue in the run's capture, from 1.
        queue: u32,
        /// Kind of the requests.
        probe: ProbeKind,
        /// Host that sent the requests.
        from: String,
        /// Host that was queried.
        to: String,
        /// Number of responses that arrived while the queue was present.
        answers: u64,
        /// Number of requests without a response in the whole capture.
        unanswered: u64,
        /// Longest response time while the queue was present.
        max_s: f64,
        /// Shortest response time in the whole capture.
        min_s: f64,
        /// Delay added by the queue, 95th percentile.
        added_p95_s: f64,
    }
    /// DSCP or ECN changes between two capture points.
    struct PathRemarking {
        /// The capture that packets pass first, and the next one.
        captures: [String; 2],
        /// The changes.
        changes: Vec<Remarking>,
    }
    /// Probes without a response.
    struct ProbeLoss {
        /// The phase.
        phase: PhaseKind,
        /// Number of probes without a response.
        lost_packets: u64,
        /// Number of probes sent.
        sent_packets: u64,
    }
    /// Packets lost between two capture points.
    struct PathLoss {
        /// The capture that packets pass first, and the next one.
        captures: [String; 2],
        /// Number of packets found only in the first capture.
        lost_packets: u64,
        /// Number of packets found in both captures.
        matched_packets: u64,
    }
    /// Packets reordered or duplicated between two capture points.
    struct Reordering {
        /// The capture that packets pass first, and the next one.
        captures: [String; 2],
        /// Number of packets that arrived after later packets of their flow.
        reordered_packets: u64,
        /// Number of duplicates.
        duplicated_packets: u64,
    }
    /// Retransmissions of a flow.
    struct FlowRetransmission {
        /// Number of the flow.
        flow: u32,
        /// Address and port of the sender.
        from: String,
        /// Address and port of the receiver.
        to: String,
        /// Number of segments sent.
        sent_packets: u64,
        /// Retransmitted segments by cause.
        retransmissions: Retransmissions,
    }
    /// Results of a phase that are only lower bounds.
    struct LowerBound {
        /// The phase.
        phase: PhaseKind,
        /// The cause.
        cause: BoundCause,
    }
}

impl LatencyIncrease {
    /// Lag when busy: 90th percentile under load less the median without load. Nine moments in ten
    /// are at most that slow; the median would count the time that the queue takes to fill.
    pub fn lag_s(&self) -> f64 {
        self.loaded_p90_s - self.idle_p50_s
    }
}

/// Why results are lower bounds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BoundCause {
    /// Latency was still growing when the phase ended.
    StillGrowing {
        /// How the phase ended.
        end: PhaseEnd,
        /// Median latency of the middle third of the phase.
        middle_p50_s: f64,
        /// Median latency of the last third.
        last_p50_s: f64,
    },
    /// There is no evidence that the load reached the capacity of the link.
    NotReached {
        /// 90th percentile of the latency increase.
        increase_p90_s: f64,
    },
}

/// How a queue is managed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ManagementRule {
    /// Drops only when the buffer is full: no AQM.
    TailDrop,
    /// Drops the oldest packets when the buffer is full.
    HeadDrop,
    /// Drops at random, with a probability that grows with the queue.
    Red,
    /// Keeps its standing delay at a target.
    Codel,
    /// Drops at random, with a probability that grows while packets wait longer than a target.
    Pie,
    /// Other flows do not wait behind the flow that fills the queue.
    FairQueueing,
    /// Drops what exceeds a rate, and delays nothing.
    Policer,
    /// Packets are dropped while the queue is short.
    KeptShort,
    /// The queue never dropped a packet: the buffer is larger than the queue that the load built.
    NeverDropped,
    /// No drops or marks were seen.
    NoneSeen,
}

/// What a buffer counts to know whether it is full.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BufferLimit {
    /// Packets, whatever their size.
    Packets,
    /// Bytes, or the time that packets wait.
    Bytes,
}

/// An alternative explanation of the evidence, or an explanation that the evidence excludes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alternative {
    /// The queue is in the other direction.
    OtherDirection,
    /// The buffer is limited in packets, not in bytes.
    PacketLimit,
    /// The buffer is larger, but an AQM keeps the queue at this length.
    ManagedLargerBuffer,
    /// The buffer is small, without an AQM.
    SmallBuffer,
    /// Loss without congestion, as on wireless links.
    LossWithoutCongestion,
    /// An AQM that starts to drop only at this length.
    ManagedAtThisLength,
    /// The window of the sender limited the queue before the buffer was full.
    WindowLimited,
    /// Packets are marked (ECN) instead of dropped.
    EcnMarking,
    /// A CPU, Wi-Fi or the server limited the load.
    LoadLimitedElsewhere,
    /// Both directions share one medium.
    SharedMedium,
    /// The path was never seen without a queue.
    PathNeverEmpty,
    /// The buffer was never seen full.
    NeverFull,
    /// The resolver itself was slow.
    SlowResolver,
    /// Endpoints may set the spin bit arbitrarily.
    SpinBitUnreliable,
    /// The idle latency: a long path to the server.
    LongPath,
    /// The link delivered nothing for at least one second.
    Outage,
    /// Lack of CPU time on this computer.
    LackOfCpu,
    /// This computer sent probes late.
    LateProbes,
    /// An alternative explanation of a captured queue.
    Captured(QueueAlternative),
}

/// A part of a path, as a household knows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The queue of this host's interface.
    ThisComputer,
    /// The Wi-Fi between this host and the router.
    Wifi,
    /// The local network.
    LocalNetwork,
    /// The line between the household's router and its provider.
    AccessLine,
    /// The provider's network, or beyond.
    Internet,
}

/// Why the place of a queue is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LocationProblem {
    /// No hop answered enough probes while packets waited.
    SilentHops,
    /// The path changed during the test.
    PathChanged,
    /// The delays of the hops contradict each other, or replies take another path.
    Inconsistent,
}

impl MeasuredBuffer {
    /// Whether an AQM, fair queueing or a policer may act before the buffer is full: then its size
    /// says nothing about the delay of others.
    #[must_use]
    pub const fn may_be_managed(&self) -> bool {
        let has_aqm = match self.rule {
            None => self.drops_early,
            Some(rule) => !matches!(rule, ManagementRule::TailDrop | ManagementRule::HeadDrop),
        };
        has_aqm || self.is_per_flow
    }
}
