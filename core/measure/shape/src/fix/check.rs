//! Checks: what a test through the shaper must show.
use super::bypass::Bypass;
use alloc::vec::Vec;
use fathom_run::PhaseKind;
use fathom_units::Direction;

/// One check.
#[derive(Clone, PartialEq, Debug)]
pub struct Check {
    /// Load of the phase that is checked.
    pub load: PhaseKind,
    /// What is checked.
    pub kind: CheckKind,
    /// The value; `None` if there is none, as where no probe was answered.
    pub measured: Option<f64>,
    /// What the value must not exceed or fall below, by the kind.
    pub limit: f64,
    /// Unit of both.
    pub unit: Unit,
    /// Whether it passed.
    pub passed: bool,
}

/// What is checked.
#[derive(Clone, PartialEq, Debug)]
pub enum CheckKind {
    /// Median latency above idle, at most the budget.
    LatencyIncrease,
    /// Goodput, at least a share of that without a shaper.
    Goodput {
        /// Goodput without a shaper, in bit/s.
        before_bits_per_second: f64,
        /// The share, 0 to 1.
        required_ratio: f64,
    },
    /// Throughput of the shaper as a share of its rate: at most the limit, and at least `least`; and it made packets wait. Otherwise the
    /// bottleneck is elsewhere.
    ShaperLimits {
        /// The shaper's direction.
        direction: Direction,
        /// Lowest share.
        least: f64,
        /// Packets that it dropped, marked or made wait.
        held_packets: u64,
    },
    /// Share of the interface's bytes that went through the shaper, at least the limit.
    Bypass(Vec<Bypass>),
    /// Share of its time that the busiest processor spent on packets, at most the limit.
    Processor,
}

/// Unit of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Bits per second.
    BitsPerSecond,
    /// A share, 0 to 1.
    Ratio,
}

/// All checks of an attempt.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Verification {
    /// In the order in which they were made.
    pub checks: Vec<Check>,
}

impl Verification {
    /// Whether all checks passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.passed)
    }
    /// The checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.passed)
    }
}
