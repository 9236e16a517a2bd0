//! What a scenario file says, with every value checked.
use crate::Claim;
use crate::workload::{LoadPlan, RunPlan, WorkloadPlan};
use alloc::string::String;
use alloc::vec::Vec;
use fathom_link::{BottleneckParams, HopParams, Line};
use fathom_qdisc::Packet;
use fathom_units::Duration;

/// Most hops of a line. Traceroute's own limit is 30.
pub const MAX_HOPS: usize = 32;

/// A line, what to send over it, and what should come out.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    /// A word or two, as given on the command line.
    pub name: String,
    /// What it shows, in a sentence.
    pub about: String,
    /// Where its numbers come from.
    pub source: String,
    /// The line.
    pub line: LinePlan,
    /// Load that belongs to the scenario; a host may bring its own.
    pub load: Option<LoadPlan>,
    /// What else is sent.
    pub workloads: Vec<WorkloadPlan>,
    /// How long, and how often it is looked at.
    pub run: RunPlan,
    /// What should come out under that load.
    pub expect: Expect,
    /// What its source says, to be held against a run.
    pub claims: Vec<Claim>,
}

/// The hops between user and server, beginning at the user.
#[derive(Clone, PartialEq, Debug)]
pub struct LinePlan {
    /// At least one, at most [`MAX_HOPS`].
    pub hops: Vec<HopPlan>,
}

/// A link and the router at its far end, as in [`fathom_link::Line`].
#[derive(Clone, PartialEq, Debug)]
pub struct HopPlan {
    /// Of the router, as a traceroute would print it.
    pub name: String,
    /// From the user.
    pub up: BottleneckParams,
    /// To the user.
    pub down: BottleneckParams,
    /// Only one direction at a time can send.
    pub half_duplex: bool,
}

impl<'a> From<&'a HopPlan> for HopParams<'a> {
    fn from(hop: &'a HopPlan) -> Self {
        HopParams { up: &hop.up, down: &hop.down, half_duplex: hop.half_duplex }
    }
}

/// What should come out; `None` where the scenario does not say.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Expect {
    /// Round trip without load.
    pub idle_latency: Option<LatencyRange>,
    /// Longest round trip under the scenario's load.
    pub max_working_latency: Option<LatencyRange>,
}

/// From the least to the most expected, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LatencyRange {
    /// Not less than this.
    pub at_least: Duration,
    /// Not more than this.
    pub at_most: Duration,
}

impl LatencyRange {
    /// True if `latency` is as expected.
    pub fn contains(&self, latency: Duration) -> bool {
        (self.at_least..=self.at_most).contains(&latency)
    }
}

impl Plan {
    /// The line, empty. All its chance comes from `seed`.
    pub fn to_line<P: Packet + Clone>(&self, seed: u64) -> Line<P> {
        Line::new(&self.line.hops, seed)
    }
}

impl LinePlan {
    /// Round trip of an infinitely small packet: the sum of all delays.
    pub fn propagation(&self) -> Duration {
        self.hops.iter().fold(Duration::ZERO, |sum, hop| sum + hop.up.delay + hop.down.delay)
    }
}
