//! Why a run has no verdict.
use crate::{PhaseKind, TrafficSource};
use alloc::string::String;
use fathom_units::Direction;
use serde::{Deserialize, Serialize};

/// A part of the measurement that can be late.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstrumentPart {
    /// The timer that wakes the probing thread.
    ProbeTimer,
    /// The sending of due probes.
    ProbeSending,
    /// The release of packets by the emulated line.
    EmulatedLine,
}

/// Why this program lacked CPU time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CpuCause {
    /// All CPUs of this machine were busy.
    Busy,
    /// The hypervisor gave the CPUs to other guests (steal time).
    Stolen,
}

/// Why a measurement is invalid or inconclusive.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// No kind of probe was answered during most of the idle phase.
    NoAnswers,
    /// The command measures nothing: it only shows or changes the state of a host.
    NotMeasured,
    /// Latency without load was not measured.
    NoIdleLatency,
    /// The line carried no load while latency was measured.
    NotLoaded,
    /// A load at a chosen rate was below the capacity of the line.
    BelowCapacity,
    /// The load delivered no data.
    NothingDelivered,
    /// No burst was faster than the line.
    NoQueueFilled,
    /// Packets waited, but whether requests or their replies did is not known.
    UnknownDirection,
    /// The host did not answer all requests that reached it, or a policer dropped them.
    RepliesLimited,
    /// So many probes of a phase were lost that the others show too little.
    ConnectionBroken {
        /// The phase.
        phase: PhaseKind,
        /// Share of lost probes.
        loss_ratio: f64,
    },
    /// A part of the measurement was late by about as much as latency rose.
    Late {
        /// The late part.
        part: InstrumentPart,
        /// 95th percentile of the lateness.
        lateness_p95_s: f64,
        /// The latency increase that the lateness may explain.
        increase_s: f64,
    },
    /// A lack of CPU time may explain the latency increase.
    CpuExplains {
        /// What used the CPUs.
        cause: CpuCause,
        /// Median share of the phase.
        cpu_ratio: f64,
        /// The latency increase that it may explain.
        increase_s: f64,
    },
    /// This machine, not the line, limited the load.
    CpuLimited {
        /// What used the CPUs.
        cause: CpuCause,
        /// Median share of the phase.
        cpu_ratio: f64,
        /// The phase.
        phase: PhaseKind,
    },
    /// Latency did not rise, and the receive window of one end limited the load most of the time.
    ReceiverLimited {
        /// Direction of the load.
        direction: Direction,
        /// Share of the time.
        limited_ratio: f64,
    },
    /// Neither did latency rise, nor did a packet of the download arrive after a lost one.
    SenderLimited,
    /// The sender of a download said that it had nothing to send, most of the time.
    SenderIdle,
    /// Many probes were skipped because the program did not get CPU time.
    ProbesLeftOut {
        /// Share of due probes that were skipped.
        left_out_ratio: f64,
    },
    /// Latency was elevated, and the load at that time is unknown.
    UnknownLoad {
        /// Median minus 5th percentile.
        increase_p50_s: f64,
        /// 90th minus 5th percentile.
        increase_p90_s: f64,
    },
    /// Packets waited in a queue before the load of the test, or of a phase.
    OtherTraffic {
        /// Median time that packets waited before the load, or in that phase.
        increase_p50_s: f64,
        /// 90th percentile of that time.
        increase_p90_s: f64,
        /// Whose traffic it is, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<TrafficSource>,
    },
    /// A program of this computer had most of a direction before the load of the test, so latency
    /// without load is unknown.
    LineInUse {
        /// Name of the program; absent if it may not be known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        program: Option<String>,
        /// Direction of its traffic.
        direction: Direction,
        /// Its payload per second.
        bits_per_second: f64,
    },
    /// A capture without TCP.
    NoTcp,
    /// A capture of UDP without probes that would show its delay.
    NoProbes {
        /// Address and port that sent the most UDP.
        from: String,
        /// Its receiver.
        to: String,
        /// Mean rate of its IP packets.
        bits_per_second: f64,
    },
    /// Latency hardly varied, but UDP was sent during the whole capture, so a queue that was always
    /// full would not show.
    NeverIdle {
        /// Address and port that sent the most UDP.
        from: String,
        /// Host that answered the probes.
        to: String,
        /// Median response time.
        rtt_p50_s: f64,
    },
    /// No TCP flow of a capture shows a queue.
    NoQueueSeen {
        /// Number of TCP flows in the capture.
        flows: u64,
    },
}
