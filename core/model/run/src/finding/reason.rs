//! Why a run has no verdict.
use crate::PhaseKind;
use serde::{Deserialize, Serialize};

/// A part of the instrument that can be late.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstrumentPart {
    /// The timer that wakes the prober.
    ProbeTimer,
    /// The sending of probes after they were due.
    ProbeSending,
    /// The emulated line's release of packets.
    EmulatedLine,
}

/// What left the program without CPU time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CpuCause {
    /// All CPUs of this machine were busy.
    Busy,
    /// The hypervisor gave the CPUs to other guests.
    Stolen,
}

/// Why a measurement is invalid or inconclusive.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// No kind of probe was answered for most of the idle phase.
    NoAnswers,
    /// Nothing was measured: the command only shows or changes the state of a host.
    NotMeasured,
    /// Latency without load was not measured.
    NoIdleLatency,
    /// The line was not loaded while latency was measured.
    NotLoaded,
    /// The load delivered no byte.
    NothingDelivered,
    /// Most probes of a phase were lost.
    ConnectionBroken {
        /// The phase.
        phase: PhaseKind,
        /// Share of its probes that were lost.
        loss_ratio: f64,
    },
    /// A part of the instrument was late by about as much as latency rose.
    Late {
        /// The part.
        part: InstrumentPart,
        /// 95th percentile of its lateness.
        lateness_p95_s: f64,
        /// The increase that it may explain.
        increase_s: f64,
    },
    /// A lack of CPU time may explain the increase.
    CpuExplains {
        /// Who had the CPUs.
        cause: CpuCause,
        /// Share of the phase, median.
        cpu_ratio: f64,
        /// The increase that it may explain.
        increase_s: f64,
    },
    /// This machine, not the line, limited the load.
    CpuLimited {
        /// Who had the CPUs.
        cause: CpuCause,
        /// Share of the phase, median.
        cpu_ratio: f64,
        /// The phase.
        phase: PhaseKind,
    },
    /// The program did not get the CPU in time for many of the probes.
    ProbesLeftOut {
        /// Share of the probes that were due.
        left_out_ratio: f64,
    },
    /// Latency was raised, and what loaded the line then is unknown.
    UnknownLoad {
        /// Median less the 5th percentile.
        increase_p50_s: f64,
        /// 90th percentile less the 5th.
        increase_p90_s: f64,
    },
    /// A capture without TCP.
    NoTcp,
    /// No TCP flow of a capture shows a queue.
    NoQueueSeen {
        /// TCP flows in the capture.
        flows: u64,
    },
}
