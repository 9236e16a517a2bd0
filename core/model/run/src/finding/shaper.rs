//! Parameters of findings about a shaper: the checks that it has to pass, and what conflicts with it.
use crate::PhaseKind;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::Direction;
use serde::{Deserialize, Serialize};

/// A requirement on a test through the shaper, and what the test showed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ShaperCheck {
    /// The phase with load.
    pub phase: PhaseKind,
    /// The requirement is met.
    pub passed: bool,
    /// The requirement with what was measured.
    #[serde(flatten)]
    pub criterion: Criterion,
}

/// What is required of a shaper, with what was measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "check", rename_all = "snake_case")]
pub enum Criterion {
    /// Latency under load stays within the budget.
    Latency {
        /// Median above that of the idle phase; `None` if no probe was answered.
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
        /// The least that the second must be of the first.
        required_ratio: f64,
    },
    /// The shaper is the bottleneck: it passes about its rate, and makes packets wait.
    Bottleneck {
        /// The shaper's direction.
        direction: Direction,
        /// Throughput as a share of its rate.
        throughput_ratio: f64,
        /// The least share.
        min_ratio: f64,
        /// The largest share.
        max_ratio: f64,
        /// Packets that it dropped, marked or made wait.
        held_packets: u64,
    },
    /// All bytes of the interface pass the shaper.
    Bypass {
        /// Share of the bytes that did, where some did not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shaped_ratio: Option<f64>,
        /// The least share.
        min_ratio: f64,
        /// What went past the shaper.
        bypasses: Vec<ShaperBypass>,
    },
    /// CPUs have time left to process packets.
    Processor {
        /// Share of its time that the busiest CPU spent on packets.
        busy_ratio: f64,
        /// The largest share.
        max_ratio: f64,
    },
}

impl ShaperCheck {
    /// The direction that it is about, if it is about one.
    pub const fn direction(&self) -> Option<Direction> {
        match (&self.criterion, self.phase) {
            (Criterion::Bottleneck { direction, .. }, _) => Some(*direction),
            (_, PhaseKind::Up) => Some(Direction::Up),
            (_, PhaseKind::Down) => Some(Direction::Down),
            _ => None,
        }
    }
}

/// Packets that went past the shaper.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ShaperBypass {
    /// The interface carried more than the shaper: an offload, a fast path or a filter takes packets before the shaper sees
    /// them.
    Unshaped {
        /// The direction.
        direction: Direction,
        /// Carried by the interface.
        interface_bytes: u64,
        /// Carried by the shaper.
        shaped_bytes: u64,
    },
    /// Packets passed the shaper's qdisc outside of all its classes.
    Unclassified {
        /// How many.
        unclassified_packets: u64,
    },
}

/// Something that makes a shaper useless or short-lived.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShaperConflict {
    /// The interface.
    pub interface: String,
    /// What it is.
    #[serde(flatten)]
    pub cause: ConflictCause,
}

/// What conflicts with a shaper.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "conflict", rename_all = "snake_case")]
pub enum ConflictCause {
    /// The default routes lead through other interfaces.
    NoDefaultRoute {
        /// Those interfaces.
        default_routes: Vec<String>,
    },
    /// The kernel forwards connections past all queues.
    Offload {
        /// How many connections.
        connection_count: u64,
    },
    /// The card may forward packets by itself.
    HardwareOffload,
    /// NetworkManager replaces the queues.
    NetworkManager {
        /// The file of its profile.
        file: String,
    },
    /// systemd-networkd replaces the queues.
    Networkd {
        /// Its configuration file.
        file: String,
    },
    /// sqm-scripts replaces the queues.
    SqmScripts,
    /// Packets went past the shaper.
    Bypass {
        /// How.
        bypass: ShaperBypass,
    },
    /// No packet passed the interface.
    NoTraffic,
}
