//! Traffic on a line, in addition to the bulk transfers of `[load]`.
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::PhaseKind;
use fathom_units::{Bytes, Direction, Duration, Rate};

/// Congestion controls of the simulator, by their Linux names where Linux has them.
pub const CONGESTION_CONTROLS: &[&str] = &[
    "reno",
    "cubic",
    "bbr",
    "dctcp",
    "vegas",
    "westwood",
    "ledbat",
    "ledbat++",
    "cubic-hystart++",
    "bbr3",
    "prague",
    "copa",
];

/// The flows of a workload start within this time, like connections a program opens in turn.
pub const START_WITHIN: Duration = Duration::from_millis(10);
/// Size of a browser's HTTP/1.1 request with headers.
pub const PAGE_REQUEST: Bytes = Bytes(500);
/// IP length of a G.711 packet: 160 bytes of speech plus RTP, UDP and IPv4 headers.
pub const CALL_PACKET: u16 = 200;
/// Packet interval of a call.
pub const CALL_EVERY: Duration = Duration::from_millis(20);

/// Timing of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunPlan {
    /// Duration before the load.
    pub idle: Duration,
    /// Duration of the load.
    pub duration: Duration,
    /// Duration after the load, in which queues drain.
    pub drain: Duration,
    /// Added to the seed given to the program.
    pub seed: u64,
    /// Interval of probes and of samples of goodput, queues and flows.
    pub sample_every: Duration,
}

/// Simulated user activity.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkloadPlan {
    /// Name used in series and results.
    pub name: String,
    /// Kind of activity.
    pub kind: WorkloadKind,
    /// Direction of its data.
    pub direction: Direction,
    /// Number of concurrent transfers, peers, senders or calls.
    pub flows: u32,
    /// Start relative to the start of the load.
    pub start: Duration,
    /// End relative to the start of the load; by default, it ends with the load.
    pub stop: Option<Duration>,
    /// TCP settings, for workloads that use TCP.
    pub transport: TransportPlan,
    /// Network between its endpoints and the line.
    pub edge: EdgePlan,
}

/// Kind of a workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkloadKind {
    /// Bulk transfer of a fixed size or without end.
    Bulk {
        /// Size of each flow.
        bytes: Option<Bytes>,
    },
    /// Peers that come and go, each with an endless transfer.
    Swarm {
        /// Mean lifetime of a peer, exponentially distributed. A new peer replaces it immediately.
        churn: Option<Duration>,
    },
    /// Web pages: objects fetched one after the other over each connection.
    Web(PagePlan),
    /// Requests and responses on one connection per flow.
    Rpc {
        /// Size of the request, from the user.
        request: Bytes,
        /// Size of the response, to the user.
        response: Bytes,
        /// Time between requests; a late response delays the next request.
        interval: Duration,
    },
    /// Incast: all flows send a block at once. The next round starts when all have arrived.
    Incast {
        /// Size of each sender's block per round.
        block: Bytes,
        /// Time between the starts of two rounds, if the blocks have arrived by then.
        interval: Duration,
        /// Each sender waits a uniformly distributed time from 0 to this.
        spread: Duration,
    },
    /// Video in segments, each fetched over TCP when it is due.
    Segments {
        /// Bitrate of the video.
        rate: Rate,
        /// Duration of a segment.
        every: Duration,
    },
    /// Video over TCP in segments that the player requests, each at a bitrate of its choice.
    Adaptive(VideoPlan),
    /// Video in evenly spaced datagrams, with key frames sent as bursts.
    Camera {
        /// Bitrate without key frames.
        rate: Rate,
        /// IP length of a datagram.
        size: u16,
        /// Size of a key frame.
        key_frame: Bytes,
        /// Time between key frames.
        every: Duration,
    },
    /// A voice call in both directions: G.711 with 20 ms per packet.
    Call,
    /// A game in both directions.
    Game {
        /// IP length of an update.
        size: u16,
        /// Time between updates.
        interval: Duration,
        /// Delay above the minimum at which an update is too late to be shown.
        deadline: Duration,
    },
    /// Unresponsive datagrams.
    Datagrams {
        /// Rate in IP bits per second.
        rate: Rate,
        /// IP length, or the mean length.
        size: u16,
        /// Spacing of the datagrams.
        spacing: Spacing,
        /// Lengths are exponentially distributed, as in an M/M/1 queue.
        exponential_sizes: bool,
    },
}

/// Spacing of datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing {
    /// Constant.
    Even,
    /// Random, as a Poisson process.
    Poisson,
}

/// A web page and how it is fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PagePlan {
    /// Number of connections to each shard.
    pub connections: u32,
    /// Number of servers that share the page.
    pub shards: u32,
    /// Number of objects on each connection, fetched one after the other.
    pub objects: u32,
    /// Size of each object.
    pub bytes: Bytes,
    /// Time between the starts of two pages; a late page delays the next. `None` for a single page.
    pub interval: Option<Duration>,
}

/// Most bitrates of an adaptive video.
pub const MAX_RATES: usize = 8;

/// A video and how it is fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VideoPlan {
    /// Its bitrates in ascending order; zero is none.
    pub rates: [Rate; MAX_RATES],
    /// Duration of a segment.
    pub every: Duration,
    /// Duration of video that the player holds at most.
    pub buffer: Duration,
}

/// TCP settings of a workload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TransportPlan {
    /// One of [`CONGESTION_CONTROLS`].
    pub congestion_control: String,
    /// Packets are sent as ECT.
    pub ecn: bool,
    /// Initial window in packets.
    pub initial_window: Option<u32>,
    /// Receive window; `64kb` is a connection without window scaling.
    pub window: Option<Bytes>,
    /// Packets are paced over the round trip, as with Linux's `fq`. BBR always paces.
    pub pacing: bool,
    /// Minimum RTO; `None` for the default of Linux.
    pub min_rto: Option<Duration>,
}

/// Network between the endpoints of a workload and the line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EdgePlan {
    /// Additional round-trip times on the server's side, half in each direction, assigned to the
    /// flows in turn.
    pub extra_rtt: Vec<Duration>,
    /// Rate of a separate link for each flow's sender, in front of the line.
    pub access_rate: Option<Rate>,
    /// Number of hosts on the user's side; flows use them in turn.
    pub hosts: u8,
    /// Number of the first host.
    pub first_host: u8,
    /// DSCP of its packets, including ACKs.
    pub dscp: u8,
    /// First and last hop that its flows cross, counted from the user; `None` for all.
    pub hops: Option<(usize, usize)>,
}

impl WorkloadPlan {
    /// Connections and flows of datagrams of a user, all its flows together.
    #[must_use]
    pub fn connections(&self) -> u32 {
        match self.kind {
            WorkloadKind::Web(page) => {
                self.flows.saturating_mul(page.connections).saturating_mul(page.shards)
            }
            WorkloadKind::Call | WorkloadKind::Game { .. } => self.flows.saturating_mul(2),
            _ => self.flows,
        }
    }
    /// Whether it sends as fast as possible or fills a line, so that it names the phase.
    pub const fn is_load(&self) -> bool {
        !matches!(self.kind, WorkloadKind::Rpc { .. } | WorkloadKind::Call | WorkloadKind::Game { .. })
    }
    /// Whether it uses TCP.
    pub const fn is_tcp(&self) -> bool {
        use WorkloadKind::{Call, Camera, Datagrams, Game};
        !matches!(self.kind, Call | Camera { .. } | Game { .. } | Datagrams { .. })
    }
    /// Number of concurrent flows in a direction.
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

/// Which workloads count as load. If none fills the line, all of them do.
pub fn loads(workloads: &[WorkloadPlan]) -> Vec<bool> {
    let any = workloads.iter().any(WorkloadPlan::is_load);
    workloads.iter().map(|workload| workload.is_load() || !any).collect()
}

/// Kind of phase that results from the directions of the workloads.
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
    /// Number of upload transfers.
    pub up_flows: u32,
    /// Number of download transfers.
    pub down_flows: u32,
    /// Congestion control by its kernel name: `cubic`, `reno`, `bbr`.
    pub congestion_control: String,
    /// Duration.
    pub duration: Duration,
}

impl LoadPlan {
    /// The equivalent workloads, one for each loaded direction.
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
