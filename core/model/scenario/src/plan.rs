//! A scenario with all values validated.
use crate::Claim;
use crate::workload::{LoadPlan, RunPlan, WorkloadPlan};
use alloc::string::String;
use alloc::vec::Vec;
use fathom_link::{BottleneckParams, HopParams, Line};
use fathom_qdisc::Packet;
use fathom_tcp::ControlPluginParams;
use fathom_units::Duration;

/// Maximum number of hops. Traceroute's limit is 30.
pub const MAX_HOPS: usize = 32;

/// An emulated line, its traffic, and the expected results.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// Short name, as given on the command line.
    pub name: String,
    /// Description in one sentence.
    pub about: String,
    /// Source of the numbers.
    pub source: String,
    /// The line.
    pub line: LinePlan,
    /// Load of the scenario; the caller may use its own instead.
    pub load: Option<LoadPlan>,
    /// Additional workloads.
    pub workloads: Vec<WorkloadPlan>,
    /// Congestion controls of users. Loads and workloads refer to them by name.
    pub controls: Vec<ControlPluginParams>,
    /// Duration and sampling interval.
    pub run: RunPlan,
    /// Expected latencies with and without the load.
    pub expect: Expect,
    /// Published claims to compare with a run.
    pub claims: Vec<Claim>,
}

/// The hops between user and server, starting at the user.
#[derive(Clone, PartialEq, Debug)]
pub struct LinePlan {
    /// From one to [`MAX_HOPS`] hops.
    pub hops: Vec<HopPlan>,
}

/// A link and the router at its other end, as in [`fathom_link::Line`].
#[derive(Clone, PartialEq, Debug)]
pub struct HopPlan {
    /// Name of the router, as traceroute would print it.
    pub name: String,
    /// Direction from the user.
    pub up: BottleneckParams,
    /// Direction to the user.
    pub down: BottleneckParams,
    /// Only one direction can send at a time.
    pub half_duplex: bool,
}

impl<'a> From<&'a HopPlan> for HopParams<'a> {
    fn from(hop: &'a HopPlan) -> Self {
        HopParams { up: &hop.up, down: &hop.down, half_duplex: hop.half_duplex }
    }
}

/// Expected latencies; `None` if the scenario does not specify one.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Expect {
    /// Round-trip latency without load.
    pub idle_latency: Option<LatencyRange>,
    /// Maximum round-trip latency under the scenario's load.
    pub max_working_latency: Option<LatencyRange>,
}

/// An inclusive range of latencies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LatencyRange {
    /// Lower bound.
    pub at_least: Duration,
    /// Upper bound.
    pub at_most: Duration,
}

impl LatencyRange {
    /// Whether `latency` is in the range.
    pub fn contains(&self, latency: Duration) -> bool {
        (self.at_least..=self.at_most).contains(&latency)
    }
}

impl Plan {
    /// Creates the line, without packets. `seed` determines all random numbers.
    pub fn to_line<P: Packet + Clone>(&self, seed: u64) -> Line<P> {
        Line::new(&self.line.hops, seed)
    }
}

impl LinePlan {
    /// Round-trip propagation delay: the sum of all link delays.
    pub fn propagation(&self) -> Duration {
        self.hops.iter().fold(Duration::ZERO, |sum, hop| sum + hop.up.delay + hop.down.delay)
    }
}
