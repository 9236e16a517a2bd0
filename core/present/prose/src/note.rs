//! What a run says of itself: notes, why it is not whole, why probes were not sent, and the names of its facts.
use alloc::format;
use alloc::string::{String, ToString};
use fathom_run::{Fact, Interruption, Metric, NotSent, Note};
use fathom_text::{bytes, percent, rate, seconds};

/// Probes of a metric, in the plural.
const fn probes(metric: Metric) -> &'static str {
    match metric {
        Metric::IcmpRtt => "ICMP echo requests",
        Metric::UdpRtt => "UDP probes",
        Metric::TcpConnect => "TCP connections",
        Metric::HttpForeign => "HTTP requests on new connections",
        Metric::HttpKept => "HTTP requests on the persistent connection",
        other => other.info().name,
    }
}

/// A note as a sentence without a full stop.
pub fn note(note: &Note) -> String {
    match note {
        Note::CoarseTimers { message } => format!("timers are up to 50 us late: {message}"),
        Note::ProbesUnavailable { metric, message } => format!("no {}: {message}", probes(*metric)),
        Note::ProbesUnanswered { metric, sent_packets } => format!(
            "{}: none of {sent_packets} answered (a firewall or the server drops them)",
            probes(*metric)
        ),
        Note::ProbeConnectionFailed { message } => {
            format!("a probe's new TCP connection failed: {message} (further ones are only counted)")
        }
        Note::PersistentConnectionBroke { message } => format!(
            "the persistent HTTP connection broke: {message} (it is opened again; further breaks are not reported)"
        ),
        Note::PhaseLeftOut { phase } => {
            format!("the phase {} was left out: the limit of bytes was reached", phase.name())
        }
        Note::ServerByteLimit { limit_ratio, payload_bytes } => format!(
            "the load ended at {} of the bytes that the server allows a session ({} of payload)",
            percent(*limit_ratio),
            bytes(*payload_bytes as f64)
        ),
        Note::ServerTimeLimit { limit_s, needed_s } => format!(
            "the server ends sessions after {}; this test may need {}",
            seconds(*limit_s),
            seconds(*needed_s)
        ),
        Note::SecondHello => "protocol error: second Hello from the server".to_string(),
        Note::CongestionControlUnavailable { requested } => {
            format!("the server's kernel does not offer congestion control {requested}")
        }
        Note::CongestionControlReplaced { requested, used } => format!(
            "congestion control {requested} was requested, but a sender uses {used} (its host does not have or not permit \
             {requested}: sysctl net.ipv4.tcp_allowed_congestion_control)"
        ),
        Note::CongestionControlNotSimulated { requested } => {
            format!("congestion control {requested} is not simulated; cubic took its place")
        }
        Note::FlowFailed { direction, message } => format!("a load flow ({direction}) failed: {message}"),
        Note::ClockStepped { step_s } => {
            format!("the wall clock was set by {step_s:+.3} s during the test (results do not depend on it)")
        }
        Note::Text { text } => text.clone(),
        of_line => lab_note(of_line),
    }
}

/// A note of an emulated line or of its workloads.
fn lab_note(note: &Note) -> String {
    match note {
        Note::MalformedPackets { packets } => {
            format!("{packets} packets were no IP packets and were discarded")
        }
        Note::RefusedPackets { packets } => format!("{packets} packets were refused by the receiving kernel"),
        Note::LostWhileDown { packets } => format!("{packets} packets were lost while the line was down"),
        Note::DroppedBeforeLine { packets } => {
            format!("{packets} packets were dropped before the line: its thread could not keep up")
        }
        Note::LineBursts { paced_bits_per_second } => format!(
            "above {} packets leave the line in small bursts: one takes less time than a thread needs to wake",
            rate(*paced_bits_per_second as f64)
        ),
        Note::LinePriority { priority } => format!(
            "the line's thread runs with priority \"{priority}\": real time is for root, so that other programs can make \
             the line late"
        ),
        Note::NoIpv6 { message } => {
            format!("the lab has no IPv6: this kernel refuses an IPv6 address ({message})")
        }
        Note::SettingRefused { setting, value, message } => {
            format!("{setting} could not be set to {value} in the lab: {message}")
        }
        Note::WorkloadEndedEarly { workload, message } => {
            format!("workload {workload} ended early: {message}")
        }
        Note::WorkloadLacksFlow { workload, message } => {
            format!("workload {workload} lacks a flow: no thread ({message})")
        }
        Note::ConnectionRefused { message } => format!("a connection was not accepted: {message}"),
        Note::DatagramsCutShort { message } => {
            format!("datagrams were not received to the end: {message}")
        }
        _ => String::new(),
    }
}

/// Why a run is not whole, without a full stop.
pub fn interruption(why: &Interruption) -> String {
    match why {
        Interruption::Stopped => "stopped by the user".to_string(),
        Interruption::ServerSilent { server, waited_s } => format!(
            "nothing arrived from server {server} for {} (the line or the server is down)",
            seconds(*waited_s)
        ),
        Interruption::NoReports { server, waited_s } => {
            format!("server {server} sent no report of the load for {}", seconds(*waited_s))
        }
        Interruption::SessionEnded { server, message } => format!("server {server}: {message}"),
        Interruption::NoFlowLeft { direction, message } => {
            format!("no load flow ({direction}) is left: {message}")
        }
        Interruption::ProbingFailed => "the probing thread failed".to_string(),
        Interruption::Text { text } => text.clone(),
    }
}

/// Why probes were not sent, to follow "because".
pub(crate) fn not_sent(why: &NotSent) -> &str {
    match why {
        NotSent::NotRunInTime => "the probing thread did not run in time",
        NotSent::TooManyConnections => "too many connections were open",
        NotSent::NotConnected => "the persistent connection was not established",
        NotSent::BufferFull => "the persistent connection's send buffer was full",
        NotSent::NoRoute => "the target had no address or no route",
        NotSent::System(text) => text,
    }
}

/// Name of a fact.
pub fn fact_name(fact: &Fact) -> &str {
    match fact {
        Fact::SeenAs => "seen as",
        Fact::ServerVersion => "server version",
        Fact::FlowsPerDirection => "flows per direction",
        Fact::CongestionControl => "congestion control",
        Fact::ProbeInterval => "probe interval",
        Fact::Priority => "priority of the probing thread",
        named => named.name(),
    }
}
