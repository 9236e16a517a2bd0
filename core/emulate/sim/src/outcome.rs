//! Input and output of a simulation.
use crate::queue_log::QueueLog;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_qdisc::Stats;
use fathom_run::Run;
use fathom_units::{Direction, Duration, Time};

/// Default number of flows that have their own series.
const FLOW_SERIES: u32 = 64;

/// Options that are not part of the plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Random seed, combined with the seed of the plan.
    pub seed: u64,
    /// This many flows have their own series.
    pub flow_series: u32,
    /// What measures round trips.
    pub probing: Probing,
    /// Record [`Outcome::queue_log`]: what the truth of a measurement is computed from.
    pub log_queues: bool,
}

/// Which probes are sent, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Probing {
    /// As `fathom test`: UDP and ICMP alternate, each once per `sample_every`, from the start.
    Test,
    /// As `ping`: only ICMP.
    Ping {
        /// The first probe is sent within `every` after this.
        from: Time,
        /// Interval of probes.
        every: Duration,
    },
}

impl Options {
    /// The default options with `seed`.
    pub const fn new(seed: u64) -> Self {
        Options { seed, flow_series: FLOW_SERIES, probing: Probing::Test, log_queues: false }
    }
}

/// The results. The same plan and options give the same outcome on every machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// The run as `fathom test` records it, but without `tool_version`, `started` and `host`.
    pub run: Run,
    /// Queues of all hops, from the user's edge, up before down.
    pub queues: Vec<QueueOutcome>,
    /// All flows, in the order in which they were opened.
    pub flows: Vec<FlowOutcome>,
    /// Hash of all packets that left the line, their times, and all results.
    pub digest: u64,
    /// Packets that left the line, of all kinds and in both directions.
    pub packets: u64,
    /// Counters of packets and events.
    pub counted: Counted,
    /// Times that packets waited; `None` unless [`Options::log_queues`] is set.
    pub queue_log: Option<QueueLog>,
}

/// Counters of one queue.
#[derive(Clone, PartialEq, Debug)]
pub struct QueueOutcome {
    /// Name of the router.
    pub hop: String,
    /// Direction of travel.
    pub direction: Direction,
    /// The counters.
    pub stats: Stats,
}

/// One flow: a direction of a TCP connection, or datagrams.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowOutcome {
    /// Name of the workload.
    pub workload: String,
    /// Direction of the data.
    pub direction: Direction,
    /// Payload delivered in order.
    pub delivered_bytes: u64,
    /// Segments or datagrams sent, including retransmissions.
    pub sent_packets: u64,
    /// Segments or datagrams that arrived.
    pub delivered_packets: u64,
    /// Retransmitted segments.
    pub retransmits: u64,
    /// Packets that queues dropped, including ACKs.
    pub dropped_packets: u64,
    /// Packets that queues marked.
    pub marked_packets: u64,
    /// When the flow was opened.
    pub opened: Time,
    /// When its endpoints were removed; `None` for datagrams.
    pub closed: Option<Time>,
    /// Mean one-way delay of its datagrams.
    pub mean_delay: Option<Duration>,
}

/// Counts: `entered` + `duplicated` = `delivered` + `dropped` + `lost` + `on_the_line`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counted {
    /// Events processed.
    pub events: u64,
    /// Packets that entered the line.
    pub entered: u64,
    /// Packets that left the line.
    pub delivered: u64,
    /// Packets dropped by queues.
    pub dropped: u64,
    /// Packets lost on links.
    pub lost: u64,
    /// Packets duplicated by links.
    pub duplicated: u64,
    /// Packets on the line when the run ended.
    pub on_the_line: u64,
}
