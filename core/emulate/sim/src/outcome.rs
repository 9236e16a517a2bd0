//! What goes into a simulation and what comes out.
use alloc::string::String;
use alloc::vec::Vec;
use fathom_qdisc::Stats;
use fathom_run::Run;
use fathom_units::{Direction, Duration, Time};

/// Flows that have series of their own, unless said otherwise.
const FLOW_SERIES: u32 = 64;

/// What is not in the plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Of all chance; the plan's own is added to it.
    pub seed: u64,
    /// The first so many flows have series of their own.
    pub flow_series: u32,
    /// What measures round trips.
    pub probing: Probing,
}

/// Who sends probes, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Probing {
    /// As a test does: UDP and ICMP take turns, each once in a `sample_every`, from the start of the run on.
    Test,
    /// As `ping` does: ICMP alone.
    Ping {
        /// The first is sent within `every` after this.
        from: Time,
        /// From one to the next.
        every: Duration,
    },
}

impl Options {
    /// The usual ones.
    pub const fn new(seed: u64) -> Self {
        Options { seed, flow_series: FLOW_SERIES, probing: Probing::Test }
    }
}

/// All that came out. The same plan and options give the same outcome on every machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// As a test would have recorded it. `tool_version`, `started` and `host` are for the caller to fill in.
    pub run: Run,
    /// Of all hops, from the user's edge on, up before down.
    pub queues: Vec<QueueOutcome>,
    /// Of all flows, in the order in which they were opened.
    pub flows: Vec<FlowOutcome>,
    /// Hash over every packet that came out of the line, when it did, and every result.
    pub digest: u64,
    /// Packets that came out of the line, of all kinds and both ways.
    pub packets: u64,
    /// What was done.
    pub counted: Counted,
}

/// One queue.
#[derive(Clone, PartialEq, Debug)]
pub struct QueueOutcome {
    /// The router's name.
    pub hop: String,
    /// Of travel.
    pub direction: Direction,
    /// Its counters.
    pub stats: Stats,
}

/// One flow: a direction of a TCP connection, or datagrams.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowOutcome {
    /// Name of its workload.
    pub workload: String,
    /// Of its data.
    pub direction: Direction,
    /// Payload, in order.
    pub delivered_bytes: u64,
    /// Segments or datagrams, those sent again included.
    pub sent_packets: u64,
    /// Segments or datagrams that arrived.
    pub delivered_packets: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Its packets that queues dropped, acknowledgements included.
    pub dropped_packets: u64,
    /// Its packets that queues marked.
    pub marked_packets: u64,
    /// When it began.
    pub opened: Time,
    /// When its ends were taken away; `None` for datagrams.
    pub closed: Option<Time>,
    /// Mean one-way delay of its datagrams.
    pub mean_delay: Option<Duration>,
}

/// Packets and events. `entered` + `duplicated` = `delivered` + `dropped` + `lost` + `on_the_line`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counted {
    /// Steps of the clock.
    pub events: u64,
    /// Packets that entered the line.
    pub entered: u64,
    /// Packets that left it at an end.
    pub delivered: u64,
    /// Dropped by queues.
    pub dropped: u64,
    /// Lost by links.
    pub lost: u64,
    /// Doubled by links.
    pub duplicated: u64,
    /// There when the run ended.
    pub on_the_line: u64,
}
