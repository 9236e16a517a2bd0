//! Every metric with its name, unit, definition and source. A test keeps `docs/metrics.md` equal to
//! this table.
use serde::{Deserialize, Serialize};

macro_rules! metrics {
    ($($variant:ident = $name:literal, $unit:literal, $definition:literal, $source:literal;)*) => {
        /// A measured quantity, written to files as its [`MetricInfo::name`].
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub enum Metric {
            $(#[doc = $definition] #[serde(rename = $name)] $variant,)*
        }
        impl Metric {
            /// All metrics, in registry order.
            pub const ALL: &'static [Metric] = &[$(Metric::$variant,)*];
            /// Name, unit, definition and source.
            pub const fn info(self) -> MetricInfo {
                match self {
                    $(Metric::$variant => MetricInfo {
                        name: $name, unit: $unit, definition: $definition, source: $source,
                    },)*
                }
            }
        }
    };
}

/// A row of the metric registry.
#[derive(Clone, Copy, Debug)]
pub struct MetricInfo {
    /// Name in files; the last word is the unit.
    pub name: &'static str,
    /// SI unit of the values.
    pub unit: &'static str,
    /// Meaning of one observation.
    pub definition: &'static str,
    /// Document with the definition.
    pub source: &'static str,
}

metrics! {
    IcmpRtt = "icmp_rtt_s", "s",
        "Round-trip delay of an ICMP echo request of 56 payload bytes, kernel timestamps where the kernel gives them.", "RFC 2681, RFC 792";
    UdpRtt = "udp_rtt_s", "s",
        "Round-trip delay of a UDP probe, less the time the server held it.", "RFC 2681";
    OneWayDelay = "one_way_delay_s", "s",
        "One-way delay of a UDP probe in the series' direction, after clock offset and drift are taken out; offset assumes that the idle path is symmetric.", "RFC 7679";
    TcpConnect = "tcp_connect_s", "s",
        "Time from SYN to established on a new connection, lost SYNs included.", "draft-ietf-ippm-responsiveness (tcp_f)";
    HttpForeign = "http_foreign_s", "s",
        "Time from request to complete response on a connection that carried nothing before.", "draft-ietf-ippm-responsiveness (http_f)";
    HttpKept = "http_kept_s", "s",
        "Time from request to complete response on a kept connection; requests are pipelined, so a late answer delays the next.", "RFC 9112 section 9.3.2";
    TlsConnect = "tls_connect_s", "s",
        "Time from SYN to the end of the TLS handshake on a new connection.", "RFC 8446";
    HttpFirstByte = "http_first_byte_s", "s",
        "Time from the start of a new connection to the first byte of the response, with the TLS handshake for HTTPS.", "RFC 9112";
    DnsRtt = "dns_rtt_s", "s",
        "Time from a DNS query over UDP to its response.", "RFC 1035";
    HopRtt = "hop_rtt_s", "s",
        "Round-trip delay to one router of a path, by ICMP echoes whose hop limit ends there; the scope is the number of the router.", "RFC 792";
    FlowRtt = "flow_rtt_s", "s",
        "A load flow's own smoothed round-trip time at its sender (tcpi_rtt).", "RFC 6298; Linux TCP_INFO";
    FlowCwnd = "flow_cwnd_bytes", "bytes",
        "A load flow's congestion window at its sender.", "RFC 5681; Linux TCP_INFO";
    FlowRetransmits = "flow_retransmits_packets", "packets",
        "Segments that a load flow has retransmitted since its start.", "Linux TCP_INFO (tcpi_total_retrans)";
    Goodput = "goodput_bits_per_second", "bit/s",
        "Payload delivered to the receiving application in the interval that ends at the observation's time, over that interval; all load flows of the direction together, or one flow. Of a capture: payload of one flow that was first acknowledged, cumulatively or selectively; the scope is from which end to which.", "RFC 7928 section 2.5";
    DeliveryRate = "delivery_rate_bits_per_second", "bit/s",
        "Payload whose delivery the senders learned of, by cumulative or selective acknowledgments, in the interval that ends at the observation's time, over that interval; all load flows of the direction together. Unlike goodput it counts data behind a lost segment when they arrive.", "RFC 2018; Linux TCP_INFO (tcpi_delivered); draft-cheng-iccrg-delivery-rate-estimation";
    Sojourn = "sojourn_s", "s",
        "Time a packet spent in a queue, from arrival to the start of its transmission; known to the lab and the simulator only.", "RFC 8289 section 2";
    Backlog = "backlog_bytes", "bytes",
        "Bytes in a queue; known to the lab, the simulator, and of this machine's own queues from the kernel's counters.", "RFC 7567";
    QueueDrops = "queue_drops_packets", "packets",
        "Packets that a queue has dropped since the start; known to the lab, the simulator, and of this machine's own queues from the kernel's counters.", "RFC 7567";
    QueueMarks = "queue_marks_packets", "packets",
        "Packets that a queue has marked CE since the start; known to the lab, the simulator, and of this machine's own queues from the kernel's counters.", "RFC 3168";
    CpuBusy = "cpu_busy_ratio", "ratio",
        "Share of all CPUs' time that was not idle in the interval that ends at the observation's time.", "proc_stat(5)";
    CpuSteal = "cpu_steal_ratio", "ratio",
        "Share of all CPUs' time that the hypervisor gave to others in that interval.", "proc_stat(5)";
    FlowCompletion = "flow_completion_s", "s",
        "Time from the start of a transfer of known size, its handshake included, until its last byte is delivered; the scope is the workload. Simulator and lab only.", "RFC 6077 section 3.2; Dukkipati, McKeown, Why flow-completion time is the right metric for congestion control, 2006";
    PageLoad = "page_load_s", "s",
        "Time from the start of a page's first connection until its last object is delivered; the scope is the workload. Simulator and lab only.", "Navigation Timing, W3C; the simulator's model in docs/scenarios.md";
    Request = "request_s", "s",
        "Time from the moment something is asked for until the last byte of it is delivered: the answer to a request, the slowest block of an incast round, a segment of video; the scope is the workload. Simulator and lab only.", "RFC 9112; Phanishayee et al., Measurement and analysis of TCP throughput collapse, FAST 2008";
    PacketDelay = "packet_delay_s", "s",
        "One-way delay of a datagram of a call, a game or a camera in the series' direction; the scope is the workload. Simulator and lab only.", "RFC 7679";
    CallMos = "call_mos", "mos",
        "Predicted mean opinion score of 5 s of a call as heard at the end of the series' direction: the score mos of the 95th percentile of its packets' delays and of their loss. Simulator and lab only.", "ITU-T G.107; ITU-T G.113";
    UpdateLateness = "update_lateness_s", "s",
        "How much later than the quickest of its flow an update of a game arrived; lost updates are left out. Simulator and lab only.", "RFC 3393 section 4.5";
    QueueDelay = "queue_delay_s", "s",
        "Delay of one part of the path above the least seen there, from TCP timestamps; the longest in a bin of time; the scope is the part. Captures only.", "Chirichella et al., Remotely gauging upstream bufferbloat delays, PAM 2013; RFC 7323";
    PassiveRtt = "passive_rtt_s", "s",
        "Round trip of one TCP flow from the point of capture to one end and back, by sequence numbers or timestamps, where it is known which transmission was answered; the shortest and the longest in a bin of time; the scope is the end. Captures only.", "RFC 6298 section 3; RFC 7323; Strowes, Passively measuring TCP round-trip times, ACM Queue 2013";
    Outstanding = "outstanding_bytes", "bytes",
        "Bytes that one end of a TCP flow has sent and the other has acknowledged neither cumulatively nor selectively, as segments pass the point of capture; the least and the most in a bin of time; the scope is from which end to which. Captures only.", "RFC 6675 section 2 (HighData, HighACK)";
}
