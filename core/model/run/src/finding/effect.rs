//! What the measurement itself did to a result.
use super::{CpuCause, InstrumentPart};
use crate::{CaptureDefect, Interruption, NotSent, UnknownQueue};
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// How the measurement itself affected a result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum InstrumentEffect {
    /// The run is incomplete.
    Incomplete {
        /// The reason.
        why: Interruption,
    },
    /// A part of the measurement was late.
    Late {
        /// The late part.
        part: InstrumentPart,
        /// 95th percentile.
        lateness_p95_s: f64,
    },
    /// This program lacked CPU time under load.
    LackOfCpu {
        /// What used the CPUs.
        cause: CpuCause,
        /// Median share of the time under load.
        cpu_ratio: f64,
    },
    /// Few responses carried a kernel timestamp.
    FewKernelTimestamps {
        /// Share of responses with a kernel timestamp.
        kernel_timestamp_ratio: f64,
    },
    /// The wall clock was set during the run.
    ClockStepped {
        /// The largest step.
        largest_s: f64,
    },
    /// Probes could not be sent on time.
    ProbesNotSent {
        /// Number of probes not sent.
        not_sent_packets: u64,
        /// Number of probes due.
        due_packets: u64,
        /// Most frequent reason.
        why: NotSent,
    },
    /// A capture has a defect.
    CaptureDefect {
        /// The file or interface.
        source: String,
        /// The defect.
        defect: CaptureDefect,
    },
    /// The location of a captured flow's queueing delay is unknown.
    Undetermined {
        /// The flow and the reason.
        unknown: UnknownQueue,
    },
    /// A clock was set during the captures, so delays between them are unknown.
    CaptureClockSet {
        /// The captures.
        captures: [String; 2],
    },
    /// Packets missing from the second capture but present in a later one.
    CaptureMissed {
        /// The captures.
        captures: [String; 2],
        /// Number of such packets.
        missed_packets: u64,
    },
    /// Packets only in the second capture.
    CaptureAppeared {
        /// The captures.
        captures: [String; 2],
        /// Number of such packets.
        appeared_packets: u64,
    },
    /// Packets of the first capture sent while the second was not running.
    CaptureUnjudged {
        /// The captures.
        captures: [String; 2],
        /// Number of such packets.
        unjudged_packets: u64,
    },
    /// A NAT between two captures.
    Translated {
        /// The captures.
        captures: [String; 2],
        /// Number of flows with rewritten addresses or ports.
        flow_count: u64,
    },
}
