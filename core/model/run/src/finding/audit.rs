//! Results of a host audit: interfaces, and the points where packets can queue.
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::{Bytes, Rate};
use serde::{Deserialize, Serialize};

data! {
    /// An audited host.
    struct HostAudit {
        /// Host name; the address if the host was audited remotely.
        host?: String,
        /// Kernel release.
        kernel?: String,
        /// Interfaces that are up and can queue packets.
        interfaces: Vec<AuditedInterface>,
        /// Observation under load, if one was made.
        observed?: ObservedSpan,
    }
    /// Duration of the observation under load.
    struct ObservedSpan {
        /// Time from the first to the last sample.
        span_s: f64,
        /// Number of samples.
        sample_count: u64,
    }
    /// An interface and its rate.
    struct AuditedInterface {
        /// Name of the interface.
        name: String,
        /// Type of the interface.
        kind: InterfaceKind,
        /// The default route uses this interface.
        has_default_route: bool,
        /// Transmit rate; `None` if unknown.
        rate_bits_per_second?: u64,
        /// Source of the rate.
        rate_source?: RateSource,
        /// Arrival rate divided by the transmit rate; the queue fills if it exceeds 1.
        arrival_ratio?: f64,
    }
    /// A point of a host where packets can queue.
    struct QueuePoint {
        /// The interface; `None` for the host as a whole.
        interface?: String,
        /// The queue and its limits.
        queue: HostQueue,
        /// Worst-case delay, computed from full-size packets or from the byte limit; `None` if the
        /// queue is unused or its limit or rate is unknown.
        worst?: WorstCase,
        /// Worst-case delay with super-packets of 64 KiB, as segmentation offload creates.
        worst_of_super_packets?: WorstCase,
        /// Delay caused by timers or pacing, independent of the backlog.
        timer_s?: f64,
        /// Maximum backlog while the host was observed; `None` if it was not or cannot be observed.
        observed_bytes?: u64,
        /// Delay of this backlog at the rate of the worst case.
        observed_delay_s?: f64,
        /// Arrival rate divided by the departure rate; `None` if it does not matter.
        arrival_ratio?: f64,
    }
    /// Delay of a full queue, with each number of the calculation.
    struct WorstCase {
        /// Number of parallel queues.
        queue_count: u64,
        /// Packet limit of each queue; `None` if the limit is in bytes.
        packet_count?: u64,
        /// Size of a packet, or of the queue if its limit is in bytes.
        each_bytes: u64,
        /// Total size of all queues.
        total_bytes: u64,
        /// Rate at which the queue drains.
        rate_bits_per_second: u64,
        /// Resulting delay.
        delay_s: f64,
    }
    /// Interfaces of one type.
    struct InterfaceGroup {
        /// Type of the interfaces.
        kind: InterfaceKind,
        /// Names of the interfaces.
        names: Vec<String>,
    }
}

impl WorstCase {
    /// Delay of a full queue that drains at `rate`; `each`: size of a packet, or of the queue.
    pub fn new(packet_count: Option<u64>, each: Bytes, rate: Rate) -> Self {
        WorstCase {
            queue_count: 1,
            packet_count,
            each_bytes: each.0,
            total_bytes: 0,
            rate_bits_per_second: rate.as_bits_per_second(),
            delay_s: 0.0,
        }
        .times(1)
    }
    /// Delay of `count` such queues in parallel.
    #[must_use]
    pub fn times(self, count: u64) -> Self {
        let queue_count = self.queue_count.saturating_mul(count);
        let each = self.packet_count.unwrap_or(1).saturating_mul(self.each_bytes);
        let total_bytes = queue_count.saturating_mul(each);
        let rate = Rate::from_bits_per_second(self.rate_bits_per_second);
        let delay_s = rate.serialization_time(Bytes(total_bytes)).as_secs_f64();
        WorstCase { queue_count, total_bytes, delay_s, ..self }
    }
}

impl QueuePoint {
    /// Delay in seconds that ranks queue points: full-size packets, or the timer if longer.
    pub fn delay_s(&self) -> f64 {
        self.worst.as_ref().map_or(0.0, |worst| worst.delay_s).max(self.timer_s.unwrap_or(0.0))
    }
}

/// Interface type, which determines where packets can queue.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InterfaceKind {
    /// Loopback interface.
    Loopback,
    /// Ethernet card.
    #[default]
    Ethernet,
    /// Virtio network card of a virtual machine.
    Virtio,
    /// Wi-Fi.
    Wifi,
    /// USB network card, USB modem or mobile modem.
    Usb,
    /// PPP, including PPPoE.
    Ppp,
    /// TUN interface: IP packets go to a program.
    Tun,
    /// TAP interface: Ethernet frames go to a program, such as a virtual machine.
    Tap,
    /// WireGuard.
    Wireguard,
    /// One end of a veth pair, as used by containers.
    Veth,
    /// A bridge.
    Bridge,
    /// VLAN, bond, macvlan, VXLAN, dummy and other interfaces that forward packets at once.
    Stacked,
    /// Intermediate functional block.
    Ifb,
}

/// Source of an interface's rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateSource {
    /// Given by the user.
    User,
    /// Rate of a shaper on the interface.
    Shaper,
    /// Link speed.
    Link,
    /// Wi-Fi bitrate, reduced by the share that contention takes.
    WifiBitrate,
    /// Rate of the interface below a tunnel.
    Underlay,
    /// Rate of the host's fastest card, because a virtual link has no rate.
    FastestCard,
    /// Rate observed while packets were queued.
    Observed,
}

/// How a queue discipline treats flows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QdiscClass {
    /// An AQM keeps the delay near a target.
    Aqm,
    /// Flows do not wait for each other, but each may have a long queue.
    FairQueueing,
    /// First in, first out.
    Fifo,
}

/// Limit on what Wi-Fi firmware may queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AirtimeLimit {
    /// Limited to the airtime given by the timer of the queue point.
    Timer,
    /// No limit.
    None,
    /// The limit cannot be read.
    Unknown,
}

/// How containers reach the network.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum ContainerNetwork {
    /// A user-space program forwards their packets through its own sockets.
    Program {
        /// Name of the program.
        name: String,
    },
    /// The audited host is itself a container or network namespace.
    Inside,
    /// Containers use the default route of the host.
    Host,
}

/// Defines the queue kinds. `name?: Type` is an `Option` that is omitted from files when `None`.
macro_rules! host_queues {
    ($($(#[$doc:meta])* $kind:ident = $number:literal {
        $($(#[$field_meta:meta])* $field:ident $(?: $optional:ty)? $(: $type:ty)?,)*
    })*) => {
        /// Kind of queue point of a Linux host, numbered as in docs/audit.md.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum QueueKind { $($(#[$doc])* $kind = $number,)* }

        impl QueueKind {
            /// All kinds, in the order of their numbers.
            pub const ALL: &'static [QueueKind] = &[$(QueueKind::$kind,)*];
            /// Number in docs/audit.md, from 1.
            pub const fn number(self) -> u8 {
                self as u8
            }
        }

        /// A queue of a Linux host, or a setting that affects queues, with its limits.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        pub enum HostQueue { $($(#[$doc])* $kind { $(
            $(#[$field_meta])*
            $(#[serde(default, skip_serializing_if = "Option::is_none")] $field: Option<$optional>)?
            $($field: $type)?,
        )* },)* }

        impl HostQueue {
            /// Kind of the queue.
            pub const fn kind(&self) -> QueueKind {
                match self { $(HostQueue::$kind { .. } => QueueKind::$kind,)* }
            }
        }
    };
}

host_queues! {
    /// Data that a program has written and TCP has not sent yet.
    UnsentData = 1 {
        /// `tcp_notsent_lowat`; `None` if unlimited.
        limit_bytes?: u64,
    }
    /// TCP send buffer.
    SendBuffer = 2 {
        /// Maximum size with autotuning.
        limit_bytes: u64,
        /// Maximum size that a program can request.
        request_limit_bytes?: u64,
    }
    /// TCP receive buffer.
    ReceiveBuffer = 3 {
        /// Maximum size with autotuning.
        limit_bytes: u64,
        /// Maximum size that a program can request.
        request_limit_bytes?: u64,
    }
    /// TCP small queues: the limit of one flow's data below TCP.
    SmallQueues = 4 {
        /// Limit of flows without pacing.
        limit_bytes: u64,
        /// A paced flow may queue its pacing rate divided by this number.
        pacing_divisor: u64,
    }
    /// Congestion control and pacing.
    CongestionControl = 5 {
        /// Name of the congestion control.
        name: String,
        /// Pacing rate in slow start, relative to the flow's rate.
        slow_start_pacing_ratio?: f64,
        /// Pacing rate in congestion avoidance, relative to the flow's rate.
        avoidance_pacing_ratio?: f64,
        /// Default queue discipline of new interfaces; `None` if this namespace does not expose it.
        default_qdisc?: String,
    }
    /// Queue discipline.
    Qdisc = 6 {
        /// Name of the queue discipline.
        qdisc: String,
        /// How it treats its flows.
        class: QdiscClass,
        /// Number of queues, one for each transmit queue of the interface.
        queue_count: u64,
        /// The queue discipline was not read; the default of the host is assumed.
        is_assumed: bool,
        /// Packet limit of each queue; for pfifo_fast, of each of its three bands.
        limit_packets?: u64,
        /// Byte limit of each queue.
        limit_bytes?: u64,
    }
    /// `txqueuelen` of an interface.
    TxQueueLen = 7 {
        /// Length in packets.
        limit_packets: u64,
        /// The queue discipline uses this limit.
        is_used: bool,
    }
    /// Hard limit of an AQM queue discipline, which only unresponsive traffic reaches.
    QdiscLimit = 8 {
        /// Name of the queue discipline.
        qdisc: String,
        /// Limit in packets.
        limit_packets?: u64,
        /// Limit in bytes.
        limit_bytes?: u64,
    }
    /// Byte queue limits (BQL) of the driver.
    ByteQueueLimits = 9 {
        /// Current limit of all queues together.
        limit_bytes: u64,
        /// Maximum to which the limit can grow.
        max_bytes: u64,
    }
    /// A driver without byte queue limits, which fills its ring.
    NoByteQueueLimits = 10 {
        /// Name of the driver.
        driver?: String,
        /// Packets in each ring; `None` if the driver does not report it.
        limit_packets?: u64,
        /// Number of rings.
        queue_count: u64,
    }
    /// Transmit ring of the network card.
    Ring = 11 {
        /// Current length.
        limit_packets: u64,
        /// Maximum length.
        max_packets?: u64,
        /// Byte queue limits keep the ring short.
        is_limited: bool,
    }
    /// Super-packets of segmentation offload, and interrupt coalescing.
    Offloads = 12 {
        /// TCP segmentation offload.
        has_tso: bool,
        /// Generic receive offload.
        has_gro: bool,
    }
    /// Receive backlog of the kernel (`netdev_max_backlog`).
    ReceiveBacklog = 13 {
        /// Limit in packets.
        limit_packets: u64,
        /// Packets dropped since boot.
        dropped_packets: u64,
        /// Times since boot that processing stopped before the backlog was empty (time squeezes).
        squeezed_count: u64,
        /// A per-flow limit is active.
        has_flow_limit: bool,
        /// Packets dropped while the host was observed.
        observed_dropped_packets: u64,
    }
    /// Queues of mac80211, the kernel's Wi-Fi layer.
    WifiQueues = 14 {
        /// Limit in packets.
        limit_packets: u64,
        /// Limit on what the firmware takes from these queues.
        airtime: AirtimeLimit,
    }
    /// Queues in the firmware of a Wi-Fi card.
    WifiFirmware = 15 {
        /// Name of the driver.
        driver?: String,
        /// The driver is known not to use the mac80211 queues.
        is_certain: bool,
    }
    /// Queue of a TUN or TAP interface.
    Tunnel = 16 {
        /// Limit in packets.
        limit_packets: u64,
    }
    /// WireGuard.
    Wireguard = 17 {
        /// Limit of packets waiting for encryption.
        limit_packets: u64,
        /// Limit of packets staged for each peer before encryption.
        peer_limit_packets: u64,
    }
    /// PPP, including PPPoE.
    Ppp = 18 {
        /// Limit in packets.
        limit_packets: u64,
    }
    /// Interfaces without their own queue.
    Stacked = 19 {
        /// The interfaces, grouped by type.
        interfaces: Vec<InterfaceGroup>,
    }
    /// Intermediate functional block.
    Ifb = 20 {
        /// Length in packets.
        limit_packets: u64,
        /// The queue discipline uses this limit.
        is_used: bool,
    }
    /// USB or mobile modem.
    Modem = 21 {
        /// Packet limit of usbnet.
        limit_packets: u64,
        /// Size of a packet.
        packet_bytes: u64,
        /// Size of an aggregate of packets.
        bundle_bytes?: u64,
    }
    /// Virtual machine.
    VirtualMachine = 22 {
        /// Packet limit of the TAP interface of the VM; `None` if the audited host is the VM.
        limit_packets?: u64,
    }
    /// Containers.
    Containers = 23 {
        /// How they reach the network.
        network: ContainerNetwork,
    }
    /// Flow offload, which bypasses all queue disciplines.
    FlowOffload = 24 {
        /// Flow tables of nftables: name, software or hardware, interfaces.
        flow_tables: Vec<String>,
        /// Configuration files that enable flow offload.
        files: Vec<String>,
        /// Offloaded connections among the first 20.
        connection_count: u64,
        /// Interfaces with traffic control offload, which a hardware shaper needs.
        tc_offload_interfaces: Vec<String>,
    }
    /// The link beyond this host, for example in a modem or an access point.
    LinkBeyond = 25 {
        /// Rate, as given by the user.
        rate_bits_per_second?: u64,
    }
    /// Programs and files that set queue disciplines.
    QueueManagers = 26 {
        /// Running programs.
        programs: Vec<String>,
        /// Files that set queue disciplines.
        files: Vec<String>,
    }
}
