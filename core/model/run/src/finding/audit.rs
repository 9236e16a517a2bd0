//! What an audit of a host says: its interfaces, and the points where packets can queue.
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::{Bytes, Rate};
use serde::{Deserialize, Serialize};

data! {
    /// A host, as an audit read it.
    struct HostAudit {
        /// Name of the host; the address where it was read over the network.
        host?: String,
        /// Release of its kernel.
        kernel?: String,
        /// Interfaces that are up and can queue packets.
        interfaces: Vec<AuditedInterface>,
        /// The observation under load, if there was one.
        observed?: ObservedSpan,
    }
    /// How long a host was observed under load.
    struct ObservedSpan {
        /// From the first sample to the last.
        span_s: f64,
        /// Samples.
        sample_count: u64,
    }
    /// An interface and its rate.
    struct AuditedInterface {
        /// Its name.
        name: String,
        /// What it is.
        kind: InterfaceKind,
        /// The default route leads through it.
        has_default_route: bool,
        /// How fast it sends; `None` if that is unknown.
        rate_bits_per_second?: u64,
        /// Where the rate is from.
        rate_source?: RateSource,
        /// Rate at which packets can arrive, divided by its own: above 1 its queue fills.
        arrival_ratio?: f64,
    }
    /// A point of a host where packets can queue.
    struct QueuePoint {
        /// The interface; `None` for the host as a whole.
        interface?: String,
        /// The queue and its limits.
        queue: HostQueue,
        /// Longest delay, of full packets or of bytes; `None` if the queue holds nothing or its limit or rate is unknown.
        worst?: WorstCase,
        /// Longest delay if it holds super-packets of 64 KiB, which segmentation offload makes.
        worst_of_super_packets?: WorstCase,
        /// Delay by timers or pacing, which needs no bytes.
        timer_s?: f64,
        /// Most bytes in it while the host was observed; `None` if it was not observed, or cannot be.
        observed_bytes?: u64,
        /// Delay of these bytes, at the rate of the worst case.
        observed_delay_s?: f64,
        /// Rate at which packets can arrive, divided by that at which they leave; `None` where that does not matter.
        arrival_ratio?: f64,
    }
    /// The delay of a full queue, with each number of the calculation.
    struct WorstCase {
        /// Queues that fill side by side.
        queue_count: u64,
        /// Packets that each of them holds; `None` if its limit is in bytes.
        packet_count?: u64,
        /// Size of each packet, or of each queue if its limit is in bytes.
        each_bytes: u64,
        /// All of it.
        total_bytes: u64,
        /// Rate at which it empties.
        rate_bits_per_second: u64,
        /// The delay.
        delay_s: f64,
    }
    /// Interfaces of one kind.
    struct InterfaceGroup {
        /// What they are.
        kind: InterfaceKind,
        /// Their names.
        names: Vec<String>,
    }
}

impl WorstCase {
    /// The delay of a full queue that empties at `rate`. `each` is the size of a packet, or of the queue if its limit is in bytes.
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
    /// The delay of `count` such queues side by side.
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
    /// The delay by which it is ranked, in seconds: the worst case of full packets, or its timer if that is longer.
    pub fn delay_s(&self) -> f64 {
        self.worst.as_ref().map_or(0.0, |worst| worst.delay_s).max(self.timer_s.unwrap_or(0.0))
    }
}

/// What an interface is, which decides where it queues packets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InterfaceKind {
    /// The host to itself.
    Loopback,
    /// A network card.
    #[default]
    Ethernet,
    /// The card of a virtual machine's guest.
    Virtio,
    /// Wi-Fi.
    Wifi,
    /// A card or a modem on USB, or a mobile modem.
    Usb,
    /// PPP, including PPPoE.
    Ppp,
    /// Packets to a program.
    Tun,
    /// Frames to a program, such as a virtual machine.
    Tap,
    /// WireGuard.
    Wireguard,
    /// One end of a pair, such as a container's.
    Veth,
    /// A bridge.
    Bridge,
    /// VLAN, bond, macvlan, VXLAN, dummy and others that forward packets at once.
    Stacked,
    /// Intermediate functional block.
    Ifb,
}

/// Where the rate of an interface is from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateSource {
    /// The user.
    User,
    /// A shaper on the interface.
    Shaper,
    /// The speed of the link.
    Link,
    /// Wi-Fi: the share of the bitrate that contention leaves.
    WifiBitrate,
    /// The link below a tunnel.
    Underlay,
    /// The fastest card of the host, since a virtual link has no rate of its own.
    FastestCard,
    /// What it sent while packets waited.
    Observed,
}

/// How a queue discipline treats its flows.
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

/// Limit of what Wi-Fi firmware may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AirtimeLimit {
    /// So much airtime as the point's timer says.
    Timer,
    /// None.
    None,
    /// It cannot be read.
    Unknown,
}

/// How containers reach the network.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum ContainerNetwork {
    /// A program carries their packets through sockets of its own.
    Program {
        /// Its name.
        name: String,
    },
    /// The audited host is itself a container or a network namespace.
    Inside,
    /// They share the default route of the host.
    Host,
}

/// Kinds of queues with their numbers and limits. `name?: Type` is an `Option`, which is absent in files if it is `None`.
macro_rules! host_queues {
    ($($(#[$doc:meta])* $kind:ident = $number:literal {
        $($(#[$field_meta:meta])* $field:ident $(?: $optional:ty)? $(: $type:ty)?,)*
    })*) => {
        /// A kind of queue point of a Linux host. The numbers are those of docs/audit.md.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum QueueKind { $($(#[$doc])* $kind = $number,)* }

        impl QueueKind {
            /// All of them, by number.
            pub const ALL: &'static [QueueKind] = &[$(QueueKind::$kind,)*];
            /// Its number in docs/audit.md, from 1.
            pub const fn number(self) -> u8 {
                self as u8
            }
        }

        /// A queue of a Linux host, or a setting that decides about queues, with its limits.
        #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
        #[serde(tag = "kind", rename_all = "snake_case")]
        pub enum HostQueue { $($(#[$doc])* $kind { $(
            $(#[$field_meta])*
            $(#[serde(default, skip_serializing_if = "Option::is_none")] $field: Option<$optional>)?
            $($field: $type)?,
        )* },)* }

        impl HostQueue {
            /// Its kind.
            pub const fn kind(&self) -> QueueKind {
                match self { $(HostQueue::$kind { .. } => QueueKind::$kind,)* }
            }
        }
    };
}

host_queues! {
    /// Data that a program wrote and TCP has not sent yet.
    UnsentData = 1 {
        /// `tcp_notsent_lowat`; `None` if unlimited.
        limit_bytes?: u64,
    }
    /// Send buffer of TCP.
    SendBuffer = 2 {
        /// Its limit.
        limit_bytes: u64,
        /// The limit of what programs may request.
        request_limit_bytes?: u64,
    }
    /// Receive buffer of TCP.
    ReceiveBuffer = 3 {
        /// Its limit.
        limit_bytes: u64,
        /// The limit of what programs may request.
        request_limit_bytes?: u64,
    }
    /// TCP small queues: what one flow may have below TCP.
    SmallQueues = 4 {
        /// Limit of flows that are not paced.
        limit_bytes: u64,
        /// Divisor of a flow's pacing rate, which gives the bytes that a paced flow may have.
        pacing_divisor: u64,
    }
    /// Congestion control and pacing.
    CongestionControl = 5 {
        /// Name of the congestion control.
        name: String,
        /// Pacing rate in slow start, over the flow's rate.
        slow_start_pacing_ratio?: f64,
        /// Pacing rate in congestion avoidance, over the flow's rate.
        avoidance_pacing_ratio?: f64,
        /// Queue discipline of new interfaces; `None` if this namespace does not show it.
        default_qdisc?: String,
    }
    /// Queue discipline.
    Qdisc = 6 {
        /// Name of the queue discipline.
        qdisc: String,
        /// How it treats its flows.
        class: QdiscClass,
        /// How many there are, one for each transmit queue.
        queue_count: u64,
        /// It was not read: it is the default of the host.
        is_assumed: bool,
        /// Packets that each holds; of pfifo_fast in each of its three bands.
        limit_packets?: u64,
        /// Bytes that each holds.
        limit_bytes?: u64,
    }
    /// `txqueuelen` of an interface.
    TxQueueLen = 7 {
        /// The length.
        limit_packets: u64,
        /// The queue discipline uses it.
        is_used: bool,
    }
    /// Limit of an AQM queue discipline, which only traffic that ignores its signals reaches.
    QdiscLimit = 8 {
        /// Name of the queue discipline.
        qdisc: String,
        /// Its limit in packets.
        limit_packets?: u64,
        /// Its limit in bytes.
        limit_bytes?: u64,
    }
    /// Byte queue limits of the driver.
    ByteQueueLimits = 9 {
        /// The limit now, of all queues together.
        limit_bytes: u64,
        /// The largest that it may become.
        max_bytes: u64,
    }
    /// A driver without byte queue limits, which fills its ring.
    NoByteQueueLimits = 10 {
        /// Name of the driver.
        driver?: String,
        /// Packets of each ring; `None` if the driver does not say.
        limit_packets?: u64,
        /// Rings.
        queue_count: u64,
    }
    /// Transmit ring of the network card.
    Ring = 11 {
        /// Its length.
        limit_packets: u64,
        /// The longest that it may be.
        max_packets?: u64,
        /// Byte queue limits keep it short.
        is_limited: bool,
    }
    /// Super-packets of segmentation offload, and interrupt coalescing.
    Offloads = 12 {
        /// TCP segmentation offload.
        has_tso: bool,
        /// Generic receive offload.
        has_gro: bool,
    }
    /// Receive backlog of the kernel.
    ReceiveBacklog = 13 {
        /// Its limit.
        limit_packets: u64,
        /// Packets dropped since the host started.
        dropped_packets: u64,
        /// Rounds that ended before the backlog was empty, since the host started.
        squeezed_count: u64,
        /// A limit for each flow is active.
        has_flow_limit: bool,
        /// Packets dropped while the host was observed.
        observed_dropped_packets: u64,
    }
    /// Queues of mac80211, the kernel's Wi-Fi layer.
    WifiQueues = 14 {
        /// Their limit.
        limit_packets: u64,
        /// Limit of what the firmware takes from them.
        airtime: AirtimeLimit,
    }
    /// Queues in the firmware of a Wi-Fi card.
    WifiFirmware = 15 {
        /// Name of the driver.
        driver?: String,
        /// It is known that the driver does not use the queues of mac80211.
        is_certain: bool,
    }
    /// Tunnel of a program.
    Tunnel = 16 {
        /// Its limit.
        limit_packets: u64,
    }
    /// WireGuard.
    Wireguard = 17 {
        /// Packets that wait for encryption.
        limit_packets: u64,
        /// Packets of each peer before.
        peer_limit_packets: u64,
    }
    /// PPP, including PPPoE.
    Ppp = 18 {
        /// Its limit.
        limit_packets: u64,
    }
    /// Interfaces without a queue of their own.
    Stacked = 19 {
        /// They, by kind.
        interfaces: Vec<InterfaceGroup>,
    }
    /// Intermediate functional block.
    Ifb = 20 {
        /// Its length.
        limit_packets: u64,
        /// The queue discipline uses it.
        is_used: bool,
    }
    /// USB or mobile modem.
    Modem = 21 {
        /// Packets of usbnet.
        limit_packets: u64,
        /// Size of each.
        packet_bytes: u64,
        /// Size of a bundle of packets.
        bundle_bytes?: u64,
    }
    /// Virtual machine.
    VirtualMachine = 22 {
        /// Packets of its tap on this host; `None` if the audited host is the virtual machine.
        limit_packets?: u64,
    }
    /// Containers.
    Containers = 23 {
        /// How they reach the network.
        network: ContainerNetwork,
    }
    /// Flow offload, which bypasses all queue disciplines.
    FlowOffload = 24 {
        /// Flow tables of nf_tables: name, software or hardware, interfaces.
        flow_tables: Vec<String>,
        /// Files that turn it on.
        files: Vec<String>,
        /// Offloaded connections among the first 20.
        connection_count: u64,
        /// Interfaces that can offload traffic control, as a hardware shaper needs.
        tc_offload_interfaces: Vec<String>,
    }
    /// The link beyond this host, such as a modem or an access point.
    LinkBeyond = 25 {
        /// Its rate, from the user.
        rate_bits_per_second?: u64,
    }
    /// Programs and files that set queue disciplines.
    QueueManagers = 26 {
        /// Programs that run.
        programs: Vec<String>,
        /// Files that set queue disciplines.
        files: Vec<String>,
    }
}
