//! Parameters of findings about a shaper: the checks that it must pass, and conflicts with it.
use crate::PhaseKind;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::Direction;
use serde::{Deserialize, Serialize};

/// A requirement on a test through the shaper, with the result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShaperCheck {
    /// The phase with load.
    pub phase: PhaseKind,
    /// The requirement is met.
    pub passed: bool,
    /// The requirement with the measured values.
    #[serde(flatten)]
    pub criterion: Criterion,
}

/// A requirement on a shaper, with the measured values.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "check", rename_all = "snake_case")]
pub enum Criterion {
    /// Latency under load stays within the budget.
    Latency {
        /// Median increase over the idle phase; `None` if no probe was answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        increase_p50_s: Option<f64>,
        /// The budget.
        limit_s: f64,
    },
    /// The shaper costs little goodput.
    Goodput {
        /// Goodput without a shaper.
        before_bits_per_second: f64,
        /// Goodput through the shaper.
        after_bits_per_second: f64,
        /// Minimum ratio of the goodput through the shaper to the goodput without it.
        required_ratio: f64,
    },
    /// The shaper is the bottleneck: throughput is close to its rate, and packets queue in it.
    Bottleneck {
        /// Direction of the shaper.
        direction: Direction,
        /// Throughput relative to the rate of the shaper.
        throughput_ratio: f64,
        /// Minimum ratio.
        min_ratio: f64,
        /// Maximum ratio.
        max_ratio: f64,
        /// Number of packets that it dropped, marked or delayed.
        held_packets: u64,
    },
    /// All traffic of the interface passes the shaper.
    Bypass {
        /// Share of the bytes that passed the shaper, if some did not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shaped_ratio: Option<f64>,
        /// Minimum share.
        min_ratio: f64,
        /// How packets bypassed the shaper.
        bypasses: Vec<ShaperBypass>,
    },
    /// The CPUs have headroom for packet processing.
    Processor {
        /// Share of its time that the busiest CPU spent processing packets.
        busy_ratio: f64,
        /// Maximum share.
        max_ratio: f64,
    },
}

impl ShaperCheck {
    /// Direction of the requirement, if it has one.
    pub const fn direction(&self) -> Option<Direction> {
        match (&self.criterion, self.phase) {
            (Criterion::Bottleneck { direction, .. }, _) => Some(*direction),
            (_, PhaseKind::Up) => Some(Direction::Up),
            (_, PhaseKind::Down) => Some(Direction::Down),
            _ => None,
        }
    }
}

/// How packets bypassed the shaper.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ShaperBypass {
    /// The interface carried more than the shaper: an offload, fast path or filter bypassed it.
    Unshaped {
        /// The direction.
        direction: Direction,
        /// Bytes carried by the interface.
        interface_bytes: u64,
        /// Bytes carried by the shaper.
        shaped_bytes: u64,
    },
    /// Packets passed through the shaper's qdisc but none of its classes.
    Unclassified {
        /// Number of such packets.
        unclassified_packets: u64,
    },
}

/// A condition that disables a shaper or will remove it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShaperConflict {
    /// The interface.
    pub interface: String,
    /// The condition.
    #[serde(flatten)]
    pub cause: ConflictCause,
}

/// What conflicts with a shaper.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "conflict", rename_all = "snake_case")]
pub enum ConflictCause {
    /// All default routes use other interfaces.
    NoDefaultRoute {
        /// Those interfaces.
        default_routes: Vec<String>,
    },
    /// The kernel forwards connections past all queue disciplines (flow offload).
    Offload {
        /// Number of such connections.
        connection_count: u64,
    },
    /// The network card may forward packets in hardware.
    HardwareOffload,
    /// NetworkManager replaces the queue disciplines.
    NetworkManager {
        /// File of its connection profile.
        file: String,
    },
    /// systemd-networkd replaces the queue disciplines.
    Networkd {
        /// Its configuration file.
        file: String,
    },
    /// sqm-scripts replaces the queue disciplines.
    SqmScripts,
    /// Packets bypassed the shaper.
    Bypass {
        /// The kind of bypass.
        bypass: ShaperBypass,
    },
    /// No packet passed through the interface.
    NoTraffic,
}
