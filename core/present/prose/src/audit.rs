//! The queue points of a host in words.
use crate::action::shaper_limit;
use crate::verdict::{Level, Verdict};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_run::{
    AirtimeLimit, Caution, ContainerNetwork, Finding, FindingKind, HostQueue, InterfaceGroup, InterfaceKind,
    QdiscClass, QueueKind, QueuePoint, RateSource, Remedy, WorstCase, threshold,
};
use fathom_text::{bytes, milliseconds, percent, rate, seconds, thousands};

/// Longer delays are printed in seconds.
const LONG_S: f64 = 9.95;

/// A delay of a queue point: `26 ms`, `105 s`.
pub fn queue_delay(delay_s: f64) -> String {
    if delay_s < LONG_S { milliseconds(delay_s) } else { seconds(delay_s) }
}

/// Name of a kind of queue point.
pub const fn queue_name(kind: QueueKind) -> &'static str {
    match kind {
        QueueKind::UnsentData => "unsent data of programs",
        QueueKind::SendBuffer => "TCP send buffer",
        QueueKind::ReceiveBuffer => "TCP receive buffer",
        QueueKind::SmallQueues => "TCP small queues",
        QueueKind::CongestionControl => "congestion control and pacing",
        QueueKind::Qdisc => "qdisc",
        QueueKind::TxQueueLen => "txqueuelen",
        QueueKind::QdiscLimit => "limit of the qdisc",
        QueueKind::ByteQueueLimits => "byte queue limits of the driver",
        QueueKind::NoByteQueueLimits => "driver without byte queue limits",
        QueueKind::Ring => "ring of the network card",
        QueueKind::Offloads => "super-packets and coalescing",
        QueueKind::ReceiveBacklog => "receive backlog",
        QueueKind::WifiQueues => "Wi-Fi queues",
        QueueKind::WifiFirmware => "Wi-Fi firmware",
        QueueKind::Tunnel => "tunnel of a program",
        QueueKind::Wireguard => "WireGuard",
        QueueKind::Ppp => "PPP",
        QueueKind::Stacked => "stacked interfaces",
        QueueKind::Ifb => "ifb",
        QueueKind::Modem => "USB or mobile modem",
        QueueKind::VirtualMachine => "virtual machine",
        QueueKind::Containers => "containers",
        QueueKind::FlowOffload => "flow offload",
        QueueKind::LinkBeyond => "modem or access point behind it",
        QueueKind::QueueManagers => "programs that set qdiscs",
    }
}

/// Name of a kind of interface.
pub const fn interface_name(kind: InterfaceKind) -> &'static str {
    match kind {
        InterfaceKind::Loopback => "loopback",
        InterfaceKind::Ethernet => "network card",
        InterfaceKind::Virtio => "virtual card",
        InterfaceKind::Wifi => "Wi-Fi",
        InterfaceKind::Usb => "USB",
        InterfaceKind::Ppp => "PPP",
        InterfaceKind::Tun => "tun",
        InterfaceKind::Tap => "tap",
        InterfaceKind::Wireguard => "WireGuard",
        InterfaceKind::Veth => "veth",
        InterfaceKind::Bridge => "bridge",
        InterfaceKind::Stacked => "stacked",
        InterfaceKind::Ifb => "ifb",
    }
}

/// Where a rate is from, to be read after it.
pub const fn rate_source(source: RateSource) -> &'static str {
    match source {
        RateSource::User => "from --rate",
        RateSource::Shaper => "its shaper",
        RateSource::Link => "its link",
        RateSource::WifiBitrate => "0.6 of its bitrate",
        RateSource::Underlay => "the interface below it",
        RateSource::FastestCard => "virtual: that of the fastest card",
        RateSource::Observed => "sent while packets waited",
    }
}

/// Packets or bytes that a queue discipline holds: `1000 packets`, `250 kB`.
fn limit(packets: Option<u64>, limit_bytes: Option<u64>) -> Option<String> {
    let packets = packets.map(|packets| format!("{packets} packets"));
    packets.or_else(|| limit_bytes.map(|limit| bytes(limit as f64)))
}

fn buffer(limit_bytes: u64, request_limit_bytes: Option<u64>) -> String {
    let request = request_limit_bytes.map_or_else(|| "unknown".to_owned(), |limit| bytes(limit as f64));
    format!("up to {}; programs may request {request}", bytes(limit_bytes as f64))
}

const fn on(is_on: bool) -> &'static str {
    if is_on { "on" } else { "off" }
}

fn driver(name: Option<&String>) -> &str {
    name.map_or("its driver", String::as_str)
}

/// The queue and its limits.
pub fn queue(point: &QueuePoint) -> String {
    match &point.queue {
        HostQueue::UnsentData { limit_bytes } => {
            limit_bytes.map_or_else(|| "not limited".to_owned(), |limit| bytes(limit as f64))
        }
        HostQueue::SendBuffer { limit_bytes, request_limit_bytes }
        | HostQueue::ReceiveBuffer { limit_bytes, request_limit_bytes } => {
            buffer(*limit_bytes, *request_limit_bytes)
        }
        HostQueue::SmallQueues { limit_bytes, pacing_divisor } => format!(
            "1/{pacing_divisor} s at each flow's pacing rate; {} if a flow is not paced",
            bytes(*limit_bytes as f64)
        ),
        HostQueue::CongestionControl { .. } | HostQueue::Qdisc { .. } | HostQueue::QdiscLimit { .. } => {
            qdisc(&point.queue)
        }
        HostQueue::TxQueueLen { limit_packets, .. } | HostQueue::Ifb { limit_packets, .. } => {
            format!("{limit_packets} packets")
        }
        HostQueue::ByteQueueLimits { .. }
        | HostQueue::NoByteQueueLimits { .. }
        | HostQueue::Ring { .. }
        | HostQueue::Offloads { .. }
        | HostQueue::ReceiveBacklog { .. } => card(point),
        HostQueue::WifiQueues { limit_packets, airtime } => {
            format!("fq_codel of mac80211, {limit_packets} packets, {}", airtime_words(*airtime, point))
        }
        HostQueue::WifiFirmware { driver: name, is_certain: true } => {
            format!("{} queues in its firmware", driver(name.as_ref()))
        }
        HostQueue::WifiFirmware { driver: name, is_certain: false } => format!(
            "{}; debugfs, which shows whether it uses the queues of mac80211, cannot be read",
            driver(name.as_ref())
        ),
        other => link(other),
    }
}

fn qdisc(queue: &HostQueue) -> String {
    match queue {
        HostQueue::CongestionControl {
            name,
            slow_start_pacing_ratio,
            avoidance_pacing_ratio,
            default_qdisc,
        } => {
            let paced = match (slow_start_pacing_ratio, avoidance_pacing_ratio) {
                (Some(slow_start), Some(avoidance)) => {
                    format!("{} and {}", percent(*slow_start), percent(*avoidance))
                }
                _ => "an unknown share".to_owned(),
            };
            let default = default_qdisc.as_ref();
            let default = default.map_or_else(String::new, |qdisc| format!("; new interfaces get {qdisc}"));
            format!("{name}, paced at {paced} of its rate{default}")
        }
        HostQueue::Qdisc { qdisc, queue_count, is_assumed, limit_packets, limit_bytes, .. } => {
            let name = match (*is_assumed, *queue_count) {
                (true, _) => format!("{qdisc} (assumed: the default of the host)"),
                (false, 1) => qdisc.clone(),
                (false, count) => format!("{count} times {qdisc}"),
            };
            let band = if qdisc == "pfifo_fast" { " in each of three bands" } else { "" };
            let limit = limit(*limit_packets, *limit_bytes);
            limit.map_or_else(|| name.clone(), |limit| format!("{name}, {limit}{band}"))
        }
        HostQueue::QdiscLimit { qdisc, limit_packets, limit_bytes } => {
            format!("{qdisc} of {}", limit(*limit_packets, *limit_bytes).unwrap_or_default())
        }
        _ => String::new(),
    }
}

fn card(point: &QueuePoint) -> String {
    match &point.queue {
        HostQueue::ByteQueueLimits { limit_bytes, max_bytes } => {
            format!("{} now, up to {}", bytes(*limit_bytes as f64), bytes(*max_bytes as f64))
        }
        HostQueue::NoByteQueueLimits { driver: name, limit_packets: None, .. } => {
            format!("{} does not count bytes, and its ring cannot be read", driver(name.as_ref()))
        }
        HostQueue::NoByteQueueLimits { driver: name, limit_packets: Some(packets), queue_count } => {
            let rings = if *queue_count == 1 { "ring".to_owned() } else { format!("{queue_count} rings") };
            format!("{} fills its {rings} of {packets} packets", driver(name.as_ref()))
        }
        HostQueue::Ring { limit_packets, max_packets, .. } => {
            let max = max_packets.map_or_else(|| "?".to_owned(), |packets| packets.to_string());
            format!("{limit_packets} packets of up to {max}")
        }
        HostQueue::Offloads { has_tso, has_gro } => format!(
            "TSO {}, GRO {}, {:.0} us of coalescing",
            on(*has_tso),
            on(*has_gro),
            point.timer_s.unwrap_or(0.0) * 1e6
        ),
        HostQueue::ReceiveBacklog {
            limit_packets, dropped_packets, squeezed_count, has_flow_limit, ..
        } => {
            format!(
                "{limit_packets} packets; since boot {dropped_packets} dropped, {squeezed_count} rounds cut short; flow limit {}",
                on(*has_flow_limit)
            )
        }
        _ => String::new(),
    }
}

fn airtime_words(airtime: AirtimeLimit, point: &QueuePoint) -> String {
    match airtime {
        AirtimeLimit::Timer => {
            format!("{:.0} ms of airtime in the firmware", point.timer_s.unwrap_or(0.0) * 1e3)
        }
        AirtimeLimit::None => "no airtime limit".to_owned(),
        AirtimeLimit::Unknown => "airtime limit of the firmware unknown".to_owned(),
    }
}

fn link(queue: &HostQueue) -> String {
    match queue {
        HostQueue::Tunnel { limit_packets } => format!("{limit_packets} packets to a program"),
        HostQueue::Wireguard { limit_packets, peer_limit_packets } => {
            format!("{limit_packets} packets for encryption, and {peer_limit_packets} per peer before it")
        }
        HostQueue::Ppp { limit_packets } => {
            format!("{limit_packets} packets; none if PPPoE sends at once")
        }
        HostQueue::Stacked { interfaces } => interfaces.iter().map(group).collect::<Vec<_>>().join(", "),
        HostQueue::Modem { limit_packets, packet_bytes, bundle_bytes } => {
            let bundles =
                bundle_bytes.map_or_else(String::new, |size| format!(", bundles of {}", bytes(size as f64)));
            format!(
                "{limit_packets} packets of {packet_bytes} bytes in usbnet{bundles}; its firmware cannot be read"
            )
        }
        HostQueue::VirtualMachine { limit_packets: Some(packets) } => {
            format!("{packets} packets to a virtual machine or a program")
        }
        HostQueue::VirtualMachine { limit_packets: None } => {
            "the card of a guest: the host below it has its own tap, qdisc and card".to_owned()
        }
        HostQueue::Containers { network } => match network {
            ContainerNetwork::Program { name } => {
                format!("{name} carries the packets of containers through its own sockets")
            }
            ContainerNetwork::Inside => "this is a container or a network namespace".to_owned(),
            ContainerNetwork::Host => "containers share the default route of the host".to_owned(),
        },
        HostQueue::FlowOffload { flow_tables, files, connection_count, .. } => {
            let tables = flow_tables.iter().map(|table| format!("flow table {table}"));
            let count = (*connection_count > 0)
                .then(|| format!("offloaded connections: {connection_count} of the first 20"));
            let all: Vec<String> = tables.chain(files.iter().cloned()).chain(count).collect();
            if all.is_empty() { "no connection bypasses the qdiscs".to_owned() } else { all.join("; ") }
        }
        HostQueue::LinkBeyond { rate_bits_per_second } => rate_bits_per_second
            .map_or_else(|| "cannot be read".to_owned(), |line| format!("a line of {}", rate(line as f64))),
        HostQueue::QueueManagers { programs, files } => {
            let programs = programs.iter().map(|name| format!("{name} runs"));
            let files = files.iter().map(|file| format!("{file} sets qdiscs"));
            programs.chain(files).collect::<Vec<String>>().join(", ")
        }
        _ => String::new(),
    }
}

fn group(group: &InterfaceGroup) -> String {
    let kind = interface_name(group.kind);
    match &group.names[..] {
        [] => String::new(),
        [one] => format!("{kind} {one}"),
        [first, .., last] => format!("{} {kind} ({first} to {last})", group.names.len()),
    }
}

/// Why a queue point is a problem, or why it is none.
pub fn queue_reason(kind: FindingKind, point: &QueuePoint) -> String {
    use FindingKind::{DarkBuffer, HarmlessQueue, UnreadableQueue};
    let reason = match &point.queue {
        HostQueue::UnsentData { .. } => "it delays only the program that wrote it",
        HostQueue::SendBuffer { .. } => {
            "its data is in flight or unsent: manage the queues that it fills on the path"
        }
        HostQueue::ReceiveBuffer { .. } => {
            "senders may have that much in flight: manage the queue that it fills, not this buffer"
        }
        HostQueue::SmallQueues { .. } => "the limit is per flow: many flows add up",
        HostQueue::CongestionControl { default_qdisc: None, .. } => {
            "this namespace does not show the default qdisc of new interfaces"
        }
        HostQueue::CongestionControl { .. } if kind == DarkBuffer => {
            "new interfaces get one queue for all flows"
        }
        HostQueue::CongestionControl { .. } => "new interfaces get a qdisc with a queue per flow",
        HostQueue::Qdisc { class, .. } => qdisc_reason(*class, kind),
        HostQueue::TxQueueLen { is_used: true, .. } | HostQueue::Ifb { is_used: true, .. } => {
            "it is the limit of the qdisc above"
        }
        HostQueue::TxQueueLen { .. } | HostQueue::Ifb { .. } => "not used: the qdisc has its own limit",
        HostQueue::QdiscLimit { .. } => "TCP reacts to the AQM long before it is full; only a flood fills it",
        HostQueue::ReceiveBacklog { observed_dropped_packets, .. } => {
            return receive_backlog(*observed_dropped_packets, point);
        }
        HostQueue::FlowOffload { tc_offload_interfaces, .. } if kind == HarmlessQueue => {
            return match tc_offload_interfaces.join(", ") {
                none if none.is_empty() => "a shaper sees every packet".to_owned(),
                names => format!("hw-tc-offload is on for {names}, which a hardware shaper needs"),
            };
        }
        HostQueue::FlowOffload { .. } => "these packets bypass every qdisc, including any shaper",
        HostQueue::LinkBeyond { rate_bits_per_second } => match (rate_bits_per_second, kind) {
            (None, _) => {
                "if the line behind it is slower than the link, the queue is there: pass --rate RATE"
            }
            (_, HarmlessQueue) => "it is not slower than the link: the queue is on this host",
            (_, UnreadableQueue) => {
                "whether it is slower than the link cannot be read: pass --rate NAME=RATE"
            }
            _ => {
                "it is slower than the link, so everything waits in a modem or access point that no file describes. Measure it: fathom test"
            }
        },
        HostQueue::QueueManagers { files, .. } if files.is_empty() => {
            "none of its files sets a qdisc; one would replace yours when the interface starts"
        }
        HostQueue::QueueManagers { .. } => {
            "it replaces other qdiscs when the interface comes up: change the qdisc there"
        }
        other => card_reason(kind, other),
    };
    reason.to_owned()
}

fn card_reason(kind: FindingKind, queue: &HostQueue) -> &'static str {
    use FindingKind::HarmlessQueue;
    match queue {
        HostQueue::ByteQueueLimits { .. } if kind == HarmlessQueue => {
            "the driver holds no more than the card needs"
        }
        HostQueue::ByteQueueLimits { .. } => "the limit has grown too large: a few packets are enough",
        HostQueue::NoByteQueueLimits { limit_packets: None, .. } => {
            "the ring may hold hundreds of packets: measure it under load"
        }
        HostQueue::NoByteQueueLimits { .. } if kind == HarmlessQueue => "negligible at this rate",
        HostQueue::NoByteQueueLimits { .. } => "a qdisc cannot manage what is already in the ring",
        HostQueue::Ring { is_limited: true, .. } => "byte queue limits keep it short",
        HostQueue::Ring { is_limited: false, .. } => "nothing keeps it short: see the driver above",
        HostQueue::Offloads { .. } if kind == HarmlessQueue => "negligible at this rate",
        HostQueue::Offloads { .. } => "a super-packet of 64 KiB occupies the line that long; CAKE splits it",
        HostQueue::WifiQueues { airtime: AirtimeLimit::Timer, .. } => {
            "it keeps each flow near 20 ms; only a flood fills it"
        }
        HostQueue::WifiQueues { .. } => "it does not control what the firmware takes: measure it under load",
        HostQueue::WifiFirmware { .. } => "no file shows how much. Measure it: fathom test to a nearby host",
        other => link_reason(other),
    }
}

const fn qdisc_reason(class: QdiscClass, kind: FindingKind) -> &'static str {
    match (class, kind) {
        (QdiscClass::Aqm, _) => "it keeps each flow near a few milliseconds",
        (QdiscClass::FairQueueing, _) => "flows do not wait for each other, but each may have a long queue",
        (QdiscClass::Fifo, FindingKind::DarkBuffer) => {
            "it fills when this link becomes the slowest of the path"
        }
        (QdiscClass::Fifo, FindingKind::UnreadableQueue) => {
            "its delay depends on the rate, which no file shows: pass --rate NAME=RATE"
        }
        (QdiscClass::Fifo, FindingKind::HarmlessQueue) => "negligible at this rate",
        (QdiscClass::Fifo, _) => {
            "one queue for all flows: a large upload fills it, and everything else waits behind it"
        }
    }
}

fn receive_backlog(observed_dropped_packets: u64, point: &QueuePoint) -> String {
    if observed_dropped_packets > 0 {
        return format!(
            "{} packets were dropped while it was observed: the CPU is the bottleneck",
            thousands(observed_dropped_packets as f64)
        );
    }
    let is_long = point.delay_s() > threshold::MODEST_S;
    let reason = if is_long {
        "long only if the CPU is slower than the link"
    } else {
        "drained as fast as the CPU works"
    };
    reason.to_owned()
}

const fn link_reason(queue: &HostQueue) -> &'static str {
    match queue {
        HostQueue::Tunnel { .. } => {
            "it fills if the program is slower than the line; otherwise the queue is on the interface below"
        }
        HostQueue::Wireguard { .. } => {
            "it fills only if encryption is slower than the line; shape the interface below, with 60 bytes of overhead (IPv6: 80)"
        }
        HostQueue::Ppp { .. } => "attach a shaper here, not below; PPPoE adds 8 bytes",
        HostQueue::Stacked { .. } => "they have no queue: packets pass at once to the interface below",
        HostQueue::Modem { .. } => {
            "mobile modems hold megabytes, for seconds or minutes. Measure it: fathom test"
        }
        HostQueue::VirtualMachine { limit_packets: Some(_) } => {
            "the ring and queues of the guest add to it: run the audit there too"
        }
        HostQueue::VirtualMachine { limit_packets: None } => "the host below has queues: audit it",
        HostQueue::Containers { network: ContainerNetwork::Program { .. } } => {
            "no file shows what it buffers: measure from inside a container"
        }
        HostQueue::Containers { network: ContainerNetwork::Inside } => {
            "its packets queue on the interface of the host: run the audit there"
        }
        HostQueue::Containers { network: ContainerNetwork::Host } => {
            "a qdisc there with a queue per flow also separates containers"
        }
        _ => "",
    }
}

/// The calculation of a worst case, so that a reader can repeat it: `1000 * 1514 * 8 / 1000000000`.
pub fn calculation(worst: &WorstCase) -> String {
    let queues = if worst.queue_count == 1 { String::new() } else { format!("{} * ", worst.queue_count) };
    let packets = worst.packet_count.map(|count| format!("{count} * ")).unwrap_or_default();
    format!("{queues}{packets}{} * 8 / {}", worst.each_bytes, worst.rate_bits_per_second)
}

/// A finding of an audit: the queue point, and the reason.
pub(crate) fn sentence(kind: FindingKind, point: &QueuePoint) -> String {
    let interface = point.interface.as_ref().map_or_else(String::new, |name| format!("{name}, "));
    let name = queue_name(point.queue.kind());
    let delay = point
        .worst
        .as_ref()
        .map_or_else(String::new, |worst| format!(" ({} when full)", queue_delay(worst.delay_s)));
    let reason = queue_reason(kind, point);
    let mut letters = reason.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    let capitalized: String = first.into_iter().chain(letters).collect();
    format!("{interface}{name}: {}{delay}. {capitalized}.", queue(point))
}

/// A remedy and how to undo it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemedyText {
    /// A command, or what to do in words.
    pub apply: String,
    /// A command that restores the previous state, or what restores it in words.
    pub undo: Option<String>,
}

/// A remedy in words or as commands.
pub fn remedy(remedy: &Remedy) -> RemedyText {
    let words = |text: &str| RemedyText { apply: text.to_owned(), undo: None };
    match remedy {
        Remedy::Shape { max_bits_per_second: None, .. } => {
            words("shape a little below the rate of the link with CAKE or fq_codel")
        }
        Remedy::Shape { max_bits_per_second: Some(max), .. } => {
            words(&format!("shape to {} with CAKE or fq_codel", rate(*max)))
        }
        Remedy::DoNotShape { direction, cause } => words(&shaper_limit(*direction, cause)),
        Remedy::UseQuietMachine => words("measure again on a machine that is less busy"),
        Remedy::LoadLonger => words("measure again with a longer load"),
        Remedy::Run { command, undo, caution } => {
            let caution = match caution {
                None => "",
                Some(Caution::LinkGoesDown) => " # the link goes down for a moment",
                Some(Caution::OnlyLinkOfHost) => " # only on a host without a faster path than this line",
            };
            RemedyText { apply: format!("{command}{caution}"), undo: Some(undo.clone()) }
        }
        Remedy::ReplaceLeafQdiscs { interface, qdisc } => RemedyText {
            apply: format!("replace {qdisc} in the leaf classes with fq_codel"),
            undo: Some(format!(
                "restore the qdiscs that this showed before: tc -d qdisc show dev {interface}"
            )),
        },
        Remedy::DeleteFlowTables => RemedyText {
            apply: "to use a shaper, delete the flowtable from the rules (nft list flowtables)".to_owned(),
            undo: Some("add it again".to_owned()),
        },
        Remedy::SpreadReceiveWork => {
            words("spread the work over the CPUs: /sys/class/net/NAME/queues/rx-0/rps_cpus")
        }
        Remedy::ReplaceWifiCard => words("use a card with a driver that supports the queues of mac80211"),
    }
}

/// The verdict of an audit.
pub fn audit_verdict(diagnosis: &Diagnosis) -> Verdict {
    let count = |kind| diagnosis.findings.iter().filter(|finding| finding.kind() == kind).count();
    let bloated = diagnosis.findings.iter().filter(|found| found.kind() == FindingKind::BloatedQueue);
    let worst = bloated.filter_map(Finding::queue_point).map(QueuePoint::delay_s).max_by(f64::total_cmp);
    let worst = worst.filter(|delay_s| *delay_s > 0.0);
    let worst = worst.map_or_else(String::new, |delay_s| format!(" by up to {}", queue_delay(delay_s)));
    let (dark, unread) = (count(FindingKind::DarkBuffer), count(FindingKind::UnreadableQueue));
    let bypasses = count(FindingKind::QdiscBypass) > 0;
    let bypass = if bypasses { " Flow offload bypasses the qdiscs, including any shaper." } else { "" };
    let (level, headline) = match (count(FindingKind::BloatedQueue), bypasses) {
        (0, true) => (Level::Bad, bypass.trim().to_owned()),
        (0, false) => {
            let level = if dark > 0 { Level::Fair } else { Level::Good };
            (level, "No long queue is in front of a slow link, as far as this host's files show.".to_owned())
        }
        (1, _) => {
            (Level::Bad, format!("1 queue in front of a slow link can delay everything{worst}.{bypass}"))
        }
        (n, _) => {
            (Level::Bad, format!("{n} queues in front of a slow link can delay everything{worst}.{bypass}"))
        }
    };
    let others = [
        (
            dark,
            "dark buffer (long, but not in front of a slow link now)",
            "other long buffers (not in front of a slow link now)",
        ),
        (unread, "queue that no file describes", "queues that no file describes"),
    ];
    let others = others.into_iter().filter(|(n, ..)| *n > 0);
    let others: Vec<String> =
        others.map(|(n, one, several)| format!("{n} {}", if n == 1 { one } else { several })).collect();
    let consequence = (!others.is_empty()).then(|| format!("Also found: {}.", others.join("; ")));
    Verdict { level, headline, consequence }
}
