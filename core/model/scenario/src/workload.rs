//! What is sent over a line, besides the bulk transfers of `[load]`.
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::PhaseKind;
use fathom_units::{Bytes, Direction, Duration, Rate};

/// Congestion controls that a simulation knows, by Linux's names.
pub const CONGESTION_CONTROLS: &[&str] = &["reno", "cubic", "bbr", "dctcp", "vegas", "ledbat"];

/// Flows of one workload begin within so long after the first, as programs do that start them one after the other.
pub const START_WITHIN: Duration = Duration::from_millis(10);
/// A browser's request with its headers, as HTTP/1.1 has them.
pub const PAGE_REQUEST: Bytes = Bytes(500);
/// IP length of G.711's packets: 160 bytes of speech, RTP, UDP and IPv4.
pub const CALL_PACKET: u16 = 200;
/// From one packet of a call to the next.
pub const CALL_EVERY: Duration = Duration::from_millis(20);

/// When a run is loaded, and how often it is looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunPlan {
    /// Without load, at the start.
    pub idle: Duration,
    /// With load.
    pub duration: Duration,
    /// After the load, while queues drain.
    pub drain: Duration,
    /// Added to the seed that the program is given.
    pub seed: u64,
    /// Interval of probes, of goodput, and of what is known of queues and flows.
    pub sample_every: Duration,
}

/// A workload: something that users do over the line.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkloadPlan {
    /// For its series and results.
    pub name: String,
    /// What it does.
    pub kind: WorkloadKind,
    /// The way of its data.
    pub direction: Direction,
    /// How many at once: transfers, peers, senders, calls.
    pub flows: u32,
    /// After the start of the load.
    pub start: Duration,
    /// After the start of the load; without it the load's end.
    pub stop: Option<Duration>,
    /// Of those that use TCP.
    pub transport: TransportPlan,
    /// Between its ends and the line.
    pub edge: EdgePlan,
}

/// What a workload does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkloadKind {
    /// Each flow sends so many bytes, or without end.
    Bulk {
        /// Of each flow.
        bytes: Option<Bytes>,
    },
    /// Peers that come and go, each with a flow without end.
    Swarm {
        /// Mean life of a peer; exponentially distributed. A new one follows at once.
        churn: Option<Duration>,
    },
    /// Pages of objects, fetched one after the other over each connection.
    Web(PagePlan),
    /// Requests and answers on one connection per flow.
    Rpc {
        /// From the user.
        request: Bytes,
        /// To the user.
        response: Bytes,
        /// From one request to the next, or until the answer if that is later.
        interval: Duration,
    },
    /// All flows send a block at the same moment, or nearly; the next round follows when all have arrived.
    Incast {
        /// Of each sender in each round.
        block: Bytes,
        /// From the start of one round to that of the next, if the blocks have arrived by then.
        interval: Duration,
        /// Each sender waits at random, evenly distributed from 0 to this.
        spread: Duration,
    },
    /// Video in segments, fetched over TCP as they are due.
    Segments {
        /// Of the video.
        rate: Rate,
        /// Length of a segment.
        every: Duration,
    },
    /// Video in datagrams, evenly spaced, and key frames in one burst.
    Camera {
        /// Without the key frames.
        rate: Rate,
        /// IP length of a packet.
        size: u16,
        /// Of each key frame.
        key_frame: Bytes,
        /// From one key frame to the next.
        every: Duration,
    },
    /// A call, both ways: G.711, 20 ms in each packet.
    Call,
    /// A game, both ways.
    Game {
        /// IP length of an update.
        size: u16,
        /// From one update to the next.
        interval: Duration,
    },
    /// Datagrams that do not care.
    Datagrams {
        /// IP bits per second.
        rate: Rate,
        /// IP length, or its mean.
        size: u16,
        /// When they leave.
        spacing: Spacing,
        /// Lengths are exponentially distributed, as M/M/1 wants them.
        exponential_sizes: bool,
    },
}

/// When datagrams leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing {
    /// Evenly.
    Even,
    /// At random, as a Poisson process.
    Poisson,
}

/// A web page and how it is fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PagePlan {
    /// To each shard.
    pub connections: u32,
    /// Servers over which the page is spread.
    pub shards: u32,
    /// On each connection, one after the other.
    pub objects: u32,
    /// Of each object.
    pub bytes: Bytes,
    /// From the start of a page to that of the next, or until it has arrived if that is later; without it there is one page.
    pub interval: Option<Duration>,
}

/// How a workload's TCP is set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransportPlan {
    /// One of [`CONGESTION_CONTROLS`].
    pub congestion_control: String,
    /// Packets are ECT.
    pub ecn: bool,
    /// In packets.
    pub initial_window: Option<u32>,
    /// What the receiver has room for; `64kb` is a connection without window scaling.
    pub window: Option<Bytes>,
    /// Packets are spread over the round trip, as under Linux's `fq`; BBR does so in any case.
    pub pacing: bool,
    /// Least variation part of the timeout; Linux's where it is not said.
    pub min_rto: Option<Duration>,
}

/// What lies between a workload's ends and the line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EdgePlan {
    /// Added on the server's side, half each way; flow i takes the i-th, in turn.
    pub extra_rtt: Vec<Duration>,
    /// Each flow's sender has a link of this rate of its own before the line.
    pub access_rate: Option<Rate>,
    /// Hosts on the user's side, in turn.
    pub hosts: u8,
    /// Number of the first of them.
    pub first_host: u8,
    /// Of its packets, acknowledgements included.
    pub dscp: u8,
    /// Numbers of the first and the last hop that its flows cross, from the user's; `None` for all.
    pub hops: Option<(usize, usize)>,
}

impl WorkloadPlan {
    /// True if it sends as fast as it can, or as much as to fill a line: then the phase is named after its direction.
    pub const fn is_load(&self) -> bool {
        !matches!(self.kind, WorkloadKind::Rpc { .. } | WorkloadKind::Call | WorkloadKind::Game { .. })
    }
    /// True if it uses TCP.
    pub const fn is_tcp(&self) -> bool {
        use WorkloadKind::{Call, Camera, Datagrams, Game};
        !matches!(self.kind, Call | Camera { .. } | Game { .. } | Datagrams { .. })
    }
    /// Flows that it has at once in a direction.
    pub const fn concurrent(&self, direction: Direction) -> u32 {
        let same = matches!(
            (direction, self.direction),
            (Direction::Up, Direction::Up) | (Direction::Down, Direction::Down)
        );
        match self.kind {
            WorkloadKind::Web(page) if matches!(direction, Direction::Down) => {
                self.flows * page.connections * page.shards
            }
            WorkloadKind::Call | WorkloadKind::Game { .. } => self.flows,
            _ if same => self.flows,
            _ => 0,
        }
    }
}

/// Which workloads are load. Where none is of the kind that fills lines, all are.
pub fn loads(workloads: &[WorkloadPlan]) -> Vec<bool> {
    let any = workloads.iter().any(WorkloadPlan::is_load);
    workloads.iter().map(|workload| workload.is_load() || !any).collect()
}

/// What the load does, by its workloads' directions.
pub fn load_kind(workloads: &[WorkloadPlan]) -> PhaseKind {
    let loads = loads(workloads);
    let has = |direction| {
        workloads.iter().zip(&loads).any(|(workload, load)| *load && workload.concurrent(direction) > 0)
    };
    match (has(Direction::Up), has(Direction::Down)) {
        (true, true) => PhaseKind::Both,
        (false, true) => PhaseKind::Down,
        _ => PhaseKind::Up,
    }
}

/// Bulk TCP transfers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoadPlan {
    /// Transfers from the user.
    pub up_flows: u32,
    /// Transfers to the user.
    pub down_flows: u32,
    /// As the kernel calls it: `cubic`, `reno`, `bbr`.
    pub congestion_control: String,
    /// How long they last.
    pub duration: Duration,
}

impl LoadPlan {
    /// The same as workloads, one for each loaded direction.
    pub fn workloads(&self) -> Vec<WorkloadPlan> {
        let both =
            [("load up", Direction::Up, self.up_flows), ("load down", Direction::Down, self.down_flows)];
        let loaded = both.into_iter().filter(|(.., flows)| *flows > 0);
        loaded.map(|(name, way, flows)| self.workload(name, way, flows)).collect()
    }
    fn workload(&self, name: &str, direction: Direction, flows: u32) -> WorkloadPlan {
        WorkloadPlan {
            name: name.to_string(),
            kind: WorkloadKind::Bulk { bytes: None },
            direction,
            flows,
            start: Duration::ZERO,
            stop: Some(self.duration),
            transport: TransportPlan {
                congestion_control: self.congestion_control.clone(),
                ecn: false,
                initial_window: None,
                window: None,
                pacing: false,
                min_rto: None,
            },
            edge: EdgePlan {
                extra_rtt: Vec::new(),
                access_rate: None,
                hosts: 1,
                first_host: 0,
                dscp: 0,
                hops: None,
            },
        }
    }
}
