//! Parameters of each kind of finding. Times are seconds, sizes bytes; the last word of a name is its unit.
use super::{CpuCause, InstrumentPart};
use crate::{
    CaptureDefect, DelayAtLoss, DelayedFlows, Estimate, Interruption, NotSent, PhaseEnd, PhaseKind,
    ProbeKind, QueueAlternative, Remarking, Retransmissions, UnknownQueue,
};
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::Direction;
use serde::{Deserialize, Serialize};

/// Structs of public fields. `name?: Type` is an `Option`, which is absent in files if it is `None`.
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

data! {
    /// Round-trip latency without load and in a phase with load, of the probes that were answered.
    struct LatencyIncrease {
        /// The phase with load.
        phase: PhaseKind,
        /// Median without load.
        idle_p50_s: f64,
        /// Median under load.
        loaded_p50_s: f64,
        /// 90th percentile under load.
        loaded_p90_s: f64,
        /// Largest under load.
        loaded_max_s: f64,
        /// Share of the increase that is in the upload direction, by one-way delays; `None` where those are unknown, or the
        /// increase is too small to be divided.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        up_ratio: Option<f64>,
    }
    /// Round-trip latency of a period in which the load is unknown, of the probes that were answered.
    struct LatencyVariation {
        /// 5th percentile: about what the path takes without a queue.
        base_p5_s: f64,
        /// Median.
        p50_s: f64,
        /// 90th percentile.
        p90_s: f64,
        /// 95th percentile.
        p95_s: f64,
        /// Largest.
        max_s: f64,
        /// Probes that were answered.
        answered_packets: u64,
    }
    /// The delay of a captured queue while it was loaded.
    struct QueueDelay {
        /// Number of the queue in the run's capture, from 1.
        queue: u32,
        /// It is more than a person or a protocol should have to bear.
        is_bloated: bool,
        /// 5th percentile.
        delay_p5_s: f64,
        /// Median.
        delay_p50_s: f64,
        /// 90th percentile.
        delay_p90_s: f64,
        /// 95th percentile.
        delay_p95_s: f64,
        /// Largest.
        delay_max_s: f64,
        /// Samples.
        samples: u64,
        /// Round trip without queues, if the path was seen empty.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base_rtt_s: Option<f64>,
    }
    /// Times at which the link delivered nothing.
    struct Outage {
        /// The phase.
        phase: PhaseKind,
        /// How many.
        count: u64,
        /// The longest.
        longest_s: f64,
        /// All together.
        total_s: f64,
    }
    /// What a direction's queue held at its fullest: delay times rate.
    struct BufferSize {
        /// The phase it was measured in.
        phase: PhaseKind,
        /// Added delay, 99th percentile.
        delay_p99_s: f64,
        /// Payload of the load.
        goodput_bits_per_second: f64,
        /// What the probes added to it, as IP packets.
        probes_bits_per_second: f64,
        /// Rate of the line, as IP packets.
        rate_bits_per_second: f64,
        /// The queue as IP packets.
        ip_bytes: f64,
        /// The queue as Ethernet frames.
        ethernet_bytes: f64,
        /// Latency was still growing when the phase ended: the buffer holds more.
        is_lower_bound: bool,
        /// The line is bloated in this direction.
        is_bloated: bool,
    }
    /// The link behind a captured queue.
    struct Bottleneck {
        /// Number of the queue in the run's capture, from 1.
        queue: u32,
        /// Rate, Ethernet headers included.
        rate_bits_per_second: Estimate,
        /// What the buffer holds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        buffer_bytes: Option<Estimate>,
        /// The buffer was seen to overflow: its size is not a lower bound.
        was_full: bool,
    }
    /// What limits a queue.
    struct Management {
        /// The rule.
        rule: ManagementRule,
        /// Losses: packets, or moments with retransmissions where packets were not seen.
        loss_count: u64,
        /// Packets marked CE.
        mark_packets: u64,
        /// Episodes of loss.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        episode_count: Option<u64>,
        /// Delay in the queue when packets were lost or marked, of a captured queue.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay_at_loss: Option<DelayAtLoss>,
        /// Median queueing delay at losses, by probes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay_at_loss_p50_s: Option<f64>,
        /// Median queueing delay.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay_p50_s: Option<f64>,
        /// 95th percentile of queueing delay.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delay_p95_s: Option<f64>,
        /// Share of the losses that came within the top fifth of the 95th percentile of queueing delay.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        top_ratio: Option<f64>,
    }
    /// How fast the queue filled.
    struct FillTime {
        /// The phase.
        phase: PhaseKind,
        /// From the start of the phase to nine tenths of the final queueing delay.
        fill_s: f64,
        /// 95th percentile of queueing delay.
        delay_p95_s: f64,
        /// Growth of queueing delay in seconds per second.
        growth_ratio: f64,
    }
    /// How long the queue took to empty.
    struct DrainTime {
        /// Until latency was below `threshold_s`, or to the end of the phase.
        drain_s: f64,
        /// Latency fell below the threshold within the phase.
        is_empty: bool,
        /// Latency below which the queue counts as empty.
        threshold_s: f64,
    }
    /// A download slowed by the delay of its acknowledgements.
    struct AckStarvation {
        /// Download goodput without upload.
        alone_bits_per_second: f64,
        /// Download goodput during the upload.
        loaded_bits_per_second: f64,
        /// Added delay in the upload direction.
        ack_delay_s: f64,
    }
    /// Oscillation of a queue.
    struct Oscillation {
        /// Number of the queue in the run's capture, from 1.
        queue: u32,
        /// Its period.
        period_s: f64,
        /// Congestion control that oscillates so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        congestion_control: Option<String>,
        /// The period which that congestion control should have.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        predicted_s: Option<f64>,
    }
    /// Flows that waited in a queue without filling it, most delayed first.
    struct QueueVictims {
        /// Number of the queue in the run's capture, from 1.
        queue: u32,
        /// The flows.
        flows: Vec<DelayedFlows>,
    }
    /// Questions and answers apart from TCP that waited in a queue.
    struct DelayedProbes {
        /// Number of the queue in the run's capture, from 1.
        queue: u32,
        /// What was asked.
        probe: ProbeKind,
        /// Host that asked.
        from: String,
        /// Host that was asked.
        to: String,
        /// Answers that came while the queue was there.
        answers: u64,
        /// Questions without an answer in the whole capture.
        unanswered: u64,
        /// Longest answer while the queue was there.
        max_s: f64,
        /// Shortest answer in the whole capture.
        min_s: f64,
        /// Added by the queue, 95th percentile.
        added_p95_s: f64,
    }
    /// DSCP or ECN changed between two points of capture.
    struct PathRemarking {
        /// The capture that packets pass first, and the next.
        captures: [String; 2],
        /// Each change.
        changes: Vec<Remarking>,
    }
    /// Probes without an answer.
    struct ProbeLoss {
        /// The phase.
        phase: PhaseKind,
        /// Without an answer.
        lost_packets: u64,
        /// Sent.
        sent_packets: u64,
    }
    /// Packets lost between two points of capture.
    struct PathLoss {
        /// The capture that packets pass first, and the next.
        captures: [String; 2],
        /// In the first alone.
        lost_packets: u64,
        /// In both.
        matched_packets: u64,
    }
    /// Packets out of order between two points of capture.
    struct Reordering {
        /// The capture that packets pass first, and the next.
        captures: [String; 2],
        /// Arrived after later ones of their flow.
        reordered_packets: u64,
        /// Arrived more than once.
        duplicated_packets: u64,
    }
    /// What a flow sent again.
    struct FlowRetransmission {
        /// Number of the flow.
        flow: u32,
        /// Address and port of the sender.
        from: String,
        /// Address and port of the receiver.
        to: String,
        /// Segments that it sent in all.
        sent_packets: u64,
        /// Segments sent again, by cause.
        retransmissions: Retransmissions,
    }
    /// A series of a history.
    struct HistorySeries {
        /// Its number in the history.
        series: u32,
        /// Name of the target.
        target: String,
        /// How the target is probed.
        probe: String,
    }
    /// Hours of some days at which something happens again and again.
    struct RecurringHours {
        /// The days.
        days: DayGroup,
        /// First hour of the day, by the clock of the household.
        from_hour: u64,
        /// Hour after the last.
        to_hour: u64,
        /// Days on which it happened.
        hit_days: u64,
        /// Days that were examined.
        all_days: u64,
        /// Share of all other hours in which it happened.
        elsewhere_ratio: f64,
        /// Probability of each hour by chance.
        chance_ratio: f64,
    }
    /// Delay that rises at the same hours.
    struct RecurringDelay {
        /// The series.
        of: HistorySeries,
        /// When.
        hours: RecurringHours,
        /// Median delay above that of the day's median hour.
        excess_s: f64,
        /// What this house's own link carried then.
        own_link: LinkUse,
    }
    /// Loss at the same hours.
    struct RecurringLoss {
        /// The series.
        of: HistorySeries,
        /// When.
        hours: RecurringHours,
        /// Share of the probes that were lost.
        loss_ratio: f64,
    }
    /// A buffer that this house's own traffic fills.
    struct OwnLoad {
        /// The series.
        of: HistorySeries,
        /// Delay while the link is full, above the day's base.
        delay_s: f64,
        /// Delay while it is idle, above the day's base.
        idle_delay_s: f64,
        /// Times that the link was full.
        full_count: u64,
        /// Times that it was full and slow.
        slow_count: u64,
        /// Times a day that it was full and slow.
        slow_per_day: f64,
        /// Probability by chance.
        chance_ratio: f64,
    }
    /// A change of the least delay that lasts.
    struct BaseChange {
        /// The series.
        of: HistorySeries,
        /// First day of the new delay, in days since 1970-01-01 by the clock of the household.
        since_day: u64,
        /// New less old.
        change_s: f64,
        /// Median of the days before.
        before_s: f64,
        /// Median of the days since.
        after_s: f64,
        /// Days on each side, all of which differ.
        each_side_days: u64,
        /// The path changed at about the same time.
        path_changed: bool,
    }
    /// Figures of a phase are lower bounds.
    struct LowerBound {
        /// The phase.
        phase: PhaseKind,
        /// Why.
        cause: BoundCause,
    }
}

/// Days that may have something in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DayGroup {
    /// Every day.
    All,
    /// Monday to Friday.
    Working,
    /// Saturday and Sunday.
    Weekend,
    /// One day of the week, 0 for Monday.
    Weekday(u64),
}

/// What a link carried, compared with the most it was seen to carry.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkUse {
    /// Little.
    Idle,
    /// Much.
    Busy,
    /// It was not recorded.
    Unknown,
}

/// Why figures are lower bounds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BoundCause {
    /// Latency was still growing when the phase ended.
    StillGrowing {
        /// What ended the phase.
        end: PhaseEnd,
        /// Median latency of the middle third of the phase.
        middle_p50_s: f64,
        /// Median latency of the last third.
        last_p50_s: f64,
    },
    /// Nothing shows that the load reached the capacity of the line.
    NotReached {
        /// 90th percentile of the increase.
        increase_p90_s: f64,
    },
}

/// What limits a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ManagementRule {
    /// Drops only when it is full: no AQM.
    TailDrop,
    /// Drops at random as it grows.
    Red,
    /// Keeps its standing delay at a target.
    Codel,
    /// Flows do not wait behind the flow that fills it.
    FairQueueing,
    /// Packets are dropped while the queue is short.
    KeptShort,
    /// It never dropped: the buffer is larger than what the load put into it.
    NeverDropped,
    /// Neither drops nor marks were seen.
    NoneSeen,
}

/// What the instrument did to a result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum InstrumentEffect {
    /// The run is incomplete.
    Incomplete {
        /// Why.
        why: Interruption,
    },
    /// A part of the instrument was late.
    Late {
        /// The part.
        part: InstrumentPart,
        /// 95th percentile.
        lateness_p95_s: f64,
    },
    /// The program lacked CPU time under load.
    LackOfCpu {
        /// Who had the CPUs.
        cause: CpuCause,
        /// Share of the time under load, median.
        cpu_ratio: f64,
    },
    /// Few replies carried a kernel timestamp.
    FewKernelTimestamps {
        /// Share that did.
        kernel_timestamp_ratio: f64,
    },
    /// The wall clock was set during the run.
    ClockStepped {
        /// The largest step.
        largest_s: f64,
    },
    /// Probes could not be sent when due.
    ProbesNotSent {
        /// How many.
        not_sent_packets: u64,
        /// Probes that were due.
        due_packets: u64,
        /// The most frequent reason.
        why: NotSent,
    },
    /// A capture is defective.
    CaptureDefect {
        /// The file or interface.
        source: String,
        /// What is wrong.
        defect: CaptureDefect,
    },
    /// The location of a captured flow's queueing delay cannot be determined.
    Undetermined {
        /// Which flow, and why.
        unknown: UnknownQueue,
    },
    /// A clock was set while captures ran, so that no delay between them is known.
    CaptureClockSet {
        /// The captures.
        captures: [String; 2],
    },
    /// Packets that the second capture missed, as a later one has them.
    CaptureMissed {
        /// The captures.
        captures: [String; 2],
        /// How many.
        missed_packets: u64,
    },
    /// Packets that only the second capture has.
    CaptureAppeared {
        /// The captures.
        captures: [String; 2],
        /// How many.
        appeared_packets: u64,
    },
    /// Packets of the first capture that passed the second when that did not run.
    CaptureUnjudged {
        /// The captures.
        captures: [String; 2],
        /// How many.
        unjudged_packets: u64,
    },
    /// A NAT between two captures.
    Translated {
        /// The captures.
        captures: [String; 2],
        /// Flows whose addresses or ports it rewrites.
        flow_count: u64,
    },
}

/// What else would explain the evidence of a finding, or what the evidence excludes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Alternative {
    /// The queue is in the other direction.
    OtherDirection,
    /// The buffer is limited in packets, not in bytes.
    PacketLimit,
    /// The buffer is larger, and an AQM keeps the queue at this length.
    ManagedLargerBuffer,
    /// The buffer is small, without an AQM.
    SmallBuffer,
    /// Loss without congestion, as on radio links.
    LossWithoutCongestion,
    /// An AQM that starts to drop only at this length.
    ManagedAtThisLength,
    /// A window limited the sender before the buffer was full.
    WindowLimited,
    /// The line marks packets (ECN) instead of dropping them.
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
    /// The ends may set the spin bit as they like.
    SpinBitUnreliable,
    /// An alternative of a captured queue.
    Captured(QueueAlternative),
}

/// What can be done about a finding.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Remedy {
    /// Shape a direction below the rate of the line, with CAKE or fq_codel, so that the queue forms where it is managed.
    Shape {
        /// The direction; `None` for both, or where it is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        direction: Option<Direction>,
        /// Lowest recommended rate; `None` where the line's rate is unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_bits_per_second: Option<f64>,
        /// Highest recommended rate.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_bits_per_second: Option<f64>,
    },
    /// Repeat the measurement on a machine that is less busy.
    UseQuietMachine,
    /// Repeat the measurement with a longer or larger load.
    LoadLonger,
    /// Run a command in the shell of the audited host.
    Run {
        /// The command.
        command: String,
        /// The command that restores the previous state.
        undo: String,
        /// What to know before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caution: Option<Caution>,
    },
    /// Replace the leaves of an interface's queue disciplines by fq_codel.
    ReplaceLeafQdiscs {
        /// The interface.
        interface: String,
        /// Name of the queue discipline of the leaves now.
        qdisc: String,
    },
    /// Delete the flow tables from the rules of nftables.
    DeleteFlowTables,
    /// Spread the processing of received packets over the CPUs.
    SpreadReceiveWork,
    /// Use a Wi-Fi card whose driver has the queues of mac80211.
    ReplaceWifiCard,
}

impl Remedy {
    /// A shaper whose rate has to be found first.
    pub const fn shape_at_unknown_rate(direction: Option<Direction>) -> Self {
        Remedy::Shape { direction, min_bits_per_second: None, max_bits_per_second: None }
    }
}

/// What to know before a command is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Caution {
    /// The link goes down for a moment.
    LinkGoesDown,
    /// It suits only a host that reaches everything through this one link.
    OnlyLinkOfHost,
}
