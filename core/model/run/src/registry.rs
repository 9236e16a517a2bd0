//! All metrics with name, unit, definition and source; a test compares `docs/metrics.md`.
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
        "Round-trip delay of an ICMP echo request with 56 payload bytes, from kernel timestamps where available.", "RFC 2681, RFC 792";
    UdpRtt = "udp_rtt_s", "s",
        "Round-trip delay of a UDP probe, minus the time that the server held it.", "RFC 2681";
    UdpBackgroundRtt = "udp_bk_rtt_s", "s",
        "Likewise of a UDP probe whose request and reply have DSCP CS1 (--rrul).", "RFC 2681; rrul.conf of flent";
    UdpExpeditedRtt = "udp_ef_rtt_s", "s",
        "Likewise of one with DSCP EF (--rrul).", "RFC 2681; rrul.conf of flent";
    OneWayDelay = "one_way_delay_s", "s",
        "One-way delay of a UDP probe in the direction of the series, corrected for clock offset and drift. The offset assumes a symmetric idle path.", "RFC 7679";
    Jitter = "jitter_s", "s",
        "Interarrival jitter of UDP probes in the direction of the series, at the end of the phase that starts at the observation's time.", "RFC 3550 section 6.4.1";
    DelayVariation = "delay_variation_s", "s",
        "Packet delay variation of UDP probes in the direction of the series: 99th percentile less minimum of the one-way delays of the phase that starts at the observation's time. Probes that did not arrive are left out.", "RFC 5481 section 4.2 (PDV)";
    TcpConnect = "tcp_connect_s", "s",
        "Time from SYN to established on a new connection, including lost SYNs.", "draft-ietf-ippm-responsiveness (tcp_f)";
    HttpForeign = "http_foreign_s", "s",
        "Time from request to complete response on a new connection, by HTTP/2 if TLS negotiates it.", "draft-ietf-ippm-responsiveness (http_f)";
    HttpLoaded = "http_loaded_s", "s",
        "Time from request to complete response on a connection that carries load, by HTTP/2. It includes what waits in the server's socket.", "draft-ietf-ippm-responsiveness (http_l)";
    HttpKept = "http_kept_s", "s",
        "Time from request to complete response on a persistent connection. Requests are pipelined, so a late response delays the next.", "RFC 9112 section 9.3.2";
    TlsConnect = "tls_connect_s", "s",
        "Time from SYN to the end of the TLS handshake on a new connection.", "RFC 8446";
    QuicHandshake = "quic_handshake_s", "s",
        "Time from the first datagram to the end of the handshake on a new connection with QUIC, including lost datagrams.", "RFC 9000, RFC 9001";
    Http3Foreign = "http3_foreign_s", "s",
        "Time from request to response header on a new connection with HTTP/3.", "RFC 9114";
    Http3Loaded = "http3_loaded_s", "s",
        "Time from request to response header on a connection with HTTP/3 that carries load. It includes what waits in the server.", "RFC 9114";
    HttpFirstByte = "http_first_byte_s", "s",
        "Time from the start of a new connection to the first byte of the response, including the TLS handshake for HTTPS.", "RFC 9112";
    DnsRtt = "dns_rtt_s", "s",
        "Time from a DNS query over UDP to its response.", "RFC 1035";
    GatewayRtt = "gateway_rtt_s", "s",
        "Round-trip delay of an ICMP echo request to the gateway toward the server, which is before the line to the provider: a queue in the local network, such as Wi-Fi, delays it too, and one where the gateway sends to it.", "RFC 2681, RFC 792";
    HopRtt = "hop_rtt_s", "s",
        "Round-trip delay to one router of a path, from ICMP echoes with a hop limit that expires there. Scope: number of the router.", "RFC 792";
    HopEcho = "hop_echo_s", "s",
        "Round-trip delay of an ICMP echo request to the address of one router of a path. Routers answer it more often than they report an expired hop limit. Scope: number of the router.", "RFC 792";
    HopFlowRtt = "hop_flow_rtt_s", "s",
        "Round-trip delay to one router of a path, from TCP segments without data, in the flow of an upload, with a hop limit that expires there: they share a queue that only this flow has, and the way of this flow. Scope: number of the router.", "RFC 792, RFC 9293";
    HopReturnRtt = "hop_return_rtt_s", "s",
        "Round-trip delay from the server to one router of the way back, from TCP segments without data, in the control connection, with a hop limit that expires there. Scope: number of the router, from 1 at the server.", "RFC 792, RFC 9293";
    HopReturnFlowRtt = "hop_return_flow_rtt_s", "s",
        "Round-trip delay from the server to one router of the way back, from TCP segments without data, in the flow of a download, with a hop limit that expires there: they share a queue that only this flow has, and the way of this flow. Scope: number of the router, from 1 at the server.", "RFC 792, RFC 9293";
    WifiSignal = "wifi_signal_dbm", "dBm",
        "Strength of the signal of this host's access point.", "Linux nl80211 (NL80211_STA_INFO_SIGNAL)";
    WifiBitrate = "wifi_bitrate_bits_per_second", "bit/s",
        "Bitrate of the last Wi-Fi frame to the access point (up), or from it (down): what the air carries without contention, acknowledgments and retransmissions.", "IEEE 802.11; Linux nl80211 (NL80211_STA_INFO_TX_BITRATE, RX_BITRATE)";
    WifiRetries = "wifi_retries_ratio", "ratio",
        "Retransmissions of Wi-Fi frames to the access point, relative to frames sent, since the last value.", "IEEE 802.11; Linux nl80211 (NL80211_STA_INFO_TX_RETRIES)";
    HostQueue = "host_queue_s", "s",
        "Time of a probe in the queue of this host's interface: from entering it to the device driver, from kernel timestamps.", "Linux SO_TIMESTAMPING";
    FlowRtt = "flow_rtt_s", "s",
        "Smoothed round-trip time of a load flow at its sender (tcpi_rtt).", "RFC 6298; Linux TCP_INFO";
    FlowCwnd = "flow_cwnd_bytes", "bytes",
        "Congestion window of a load flow at its sender.", "RFC 5681; Linux TCP_INFO";
    FlowRetransmits = "flow_retransmits_packets", "packets",
        "Segments retransmitted by a load flow since its start.", "Linux TCP_INFO (tcpi_total_retrans)";
    FlowReceiverLimited = "flow_receiver_limited_s", "s",
        "Time in which the receive window limited a load flow, since its start. Of downloads, only from `fathom serve`.", "Linux TCP_INFO (tcpi_rwnd_limited)";
    FlowUnsent = "flow_unsent_bytes", "bytes",
        "Payload of a download that the server has written and its TCP has not sent yet. Empty while the server, not the line, is the limit. Only of `fathom serve`.", "Linux TCP_INFO (tcpi_notsent_bytes)";
    FlowOutOfOrder = "flow_out_of_order_packets", "packets",
        "Segments of a download that arrived out of order since its start: after a loss, or reordered. Only of servers that report no retransmissions.", "Linux TCP_INFO (tcpi_rcv_ooopack)";
    FlowLost = "flow_lost_packets", "packets",
        "Datagrams of a UDP load flow that were lost since its start: missing before the latest one that arrived.", "RFC 7680";
    LoadLoss = "load_loss_ratio", "ratio",
        "Share of the datagrams of a UDP load that were lost during the interval that ends at the observation's time; all flows of the direction. A load above the capacity of the line loses what exceeds it.", "RFC 7680";
    EcnLoad = "ecn_load_packets", "packets",
        "Datagrams of a UDP load that arrived with one ECN codepoint in the phase that starts at the observation's time; all flows of the direction. Those sent as ECT that arrive as not-ECT were cleared on the path. Scope: the codepoint (not-ect, ect1, ect0, ce).", "RFC 3168 section 5; RFC 9331";
    EcnProbes = "ecn_probes_packets", "packets",
        "Likewise of answered UDP probes that were sent in the phase.", "RFC 3168 section 5; RFC 9331";
    Goodput = "goodput_bits_per_second", "bit/s",
        "Payload delivered to the receiving application during the interval that ends at the observation's time, divided by that interval; sum of all load flows of the direction, or a single flow. In captures: payload of one flow acknowledged for the first time, cumulatively or selectively. Scope: sending and receiving end; the class of a flow of --rrul.", "RFC 7928 section 2.5";
    DeliveryRate = "delivery_rate_bits_per_second", "bit/s",
        "Payload acknowledged for the first time, cumulatively or selectively, during the interval that ends at the observation's time, divided by that interval; sum of all load flows of the direction. Unlike goodput it counts data behind a lost segment when they arrive.", "RFC 2018; Linux TCP_INFO (tcpi_delivered); draft-cheng-iccrg-delivery-rate-estimation";
    Sojourn = "sojourn_s", "s",
        "Time of a packet in a queue, from arrival to the start of its transmission. Lab and simulator only.", "RFC 8289 section 2";
    Backlog = "backlog_bytes", "bytes",
        "Bytes in a queue. Lab, simulator, and queues of this machine (kernel counters).", "RFC 7567";
    QueueDrops = "queue_drops_packets", "packets",
        "Packets dropped by a queue since the start. Lab, simulator, and queues of this machine (kernel counters).", "RFC 7567";
    QueueMarks = "queue_marks_packets", "packets",
        "Packets marked CE by a queue since the start. Lab, simulator, and queues of this machine (kernel counters).", "RFC 3168";
    CpuBusy = "cpu_busy_ratio", "ratio",
        "Share of non-idle time of all CPUs during the interval that ends at the observation's time.", "proc_stat(5)";
    CpuSteal = "cpu_steal_ratio", "ratio",
        "Share of steal time (given to other guests by the hypervisor) of all CPUs during that interval.", "proc_stat(5)";
    FlowCompletion = "flow_completion_s", "s",
        "Time from the start of a transfer of known size, including its handshake, to the delivery of its last byte. Scope: workload. Lab and simulator only.", "RFC 6077 section 3.2; Dukkipati, McKeown, Why flow-completion time is the right metric for congestion control, 2006";
    PageLoad = "page_load_s", "s",
        "Time from the start of a page's first connection to the delivery of its last object. Scope: workload.", "Navigation Timing, W3C; the simulator's model in docs/scenarios.md";
    Request = "request_s", "s",
        "Time from a request to the delivery of the last byte of its response: a response, the slowest block of an incast round, or a video segment. Scope: workload. Lab and simulator only.", "RFC 9112; Phanishayee et al., Measurement and analysis of TCP throughput collapse, FAST 2008";
    PacketDelay = "packet_delay_s", "s",
        "One-way delay of a datagram of a call, game or camera in the direction of the series. Scope: workload. In a test, between this host and the server, as one_way_delay_s.", "RFC 7679";
    CallMos = "call_mos", "mos",
        "Predicted mean opinion score of 5 s of a call at the receiver in the direction of the series: the score mos from the 95th percentile of packet delay and from packet loss.", "ITU-T G.107; ITU-T G.113";
    UpdateLateness = "update_lateness_s", "s",
        "Delay of a game update above the minimum of its flow, without lost updates.", "RFC 3393 section 4.5";
    DeadlineMisses = "deadline_misses_ratio", "ratio",
        "Share of the updates of 1 s of a game, by send time, that were lost or arrived later than the deadline after the minimum delay of their flow. Scope: workload.", "RFC 3393 section 4.5; RFC 7680";
    VideoRate = "video_rate_bits_per_second", "bit/s",
        "Bitrate that the player of an adaptive video chose for a segment, when it requested it. Scope: workload.", "Yin et al., A control-theoretic approach for dynamic adaptive video streaming over HTTP, SIGCOMM 2015";
    VideoStall = "video_stall_s", "s",
        "Duration of one pause of an adaptive video because nothing was left to play; censored if it lasted to the end. Scope: workload.", "ITU-T P.1203.3";
    QueueDelay = "queue_delay_s", "s",
        "Delay of one part of the path above its minimum, from TCP timestamps; maximum of a time bin. Scope: part of the path. Captures only.", "Chirichella et al., Remotely gauging upstream bufferbloat delays, PAM 2013; RFC 7323";
    PassiveRtt = "passive_rtt_s", "s",
        "Unambiguous round-trip time of one TCP flow from the capture point to one end and back, by sequence numbers or timestamps; minimum and maximum of a time bin. Scope: the end. Captures only.", "RFC 6298 section 3; RFC 7323; Strowes, Passively measuring TCP round-trip times, ACM Queue 2013";
    Outstanding = "outstanding_bytes", "bytes",
        "Bytes in flight of one end of a TCP flow: sent, but neither cumulatively nor selectively acknowledged, as segments pass the capture point; minimum and maximum of a time bin. Scope: sending and receiving end. Captures only.", "RFC 6675 section 2 (HighData, HighACK)";
}
