//! What a run reports about itself: notes, why it is incomplete, why probes were not sent, and the
//! names of its facts.
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::{Fact, Interruption, Metric, NotSent, Note, Unrecorded};
use fathom_text::{bytes, counted, percent, rate, seconds, thousands};

/// Probes of a metric, in the plural.
const fn probes(metric: Metric) -> &'static str {
    match metric {
        Metric::IcmpRtt => "ICMP echo requests",
        Metric::UdpRtt => "UDP probes",
        Metric::UdpBackgroundRtt => "UDP probes (CS1)",
        Metric::UdpExpeditedRtt => "UDP probes (EF)",
        Metric::TcpConnect => "TCP connections",
        Metric::HttpForeign => "HTTP requests on new connections",
        Metric::QuicHandshake | Metric::Http3Foreign => "HTTP/3 probes",
        Metric::HttpKept => "HTTP requests on the persistent connection",
        other => other.info().name,
    }
}

/// A note as one or two sentences.
pub fn note(note: &Note) -> String {
    match note {
        Note::CoarseTimers { message } => format!("Timers are up to 50 us late: {message}."),
        Note::ProbesUnavailable { metric, message } => {
            format!("No {} could be sent: {message}.", probes(*metric))
        }
        Note::ProbesUnanswered { metric, sent_packets } => format!(
            "None of {} {} was answered: a firewall or the server drops them.",
            thousands(*sent_packets as f64),
            probes(*metric)
        ),
        Note::ProbeConnectionFailed { message } => {
            format!("A new connection of a probe failed: {message}. Further failures are not reported.")
        }
        Note::PersistentConnectionBroke { message } => format!(
            "The persistent HTTP connection was reopened: {message}. Further failures are not reported."
        ),
        Note::PhaseLeftOut { phase } => {
            format!("The phase \"{}\" was skipped: the data cap was reached.", phase.name())
        }
        Note::LongPacketsLost { ip_bytes, .. } => {
            format!("Packets of {} bytes were lost: the path has a smaller MTU.", thousands(*ip_bytes as f64))
        }
        Note::QueueNotEmpty { phase, waited_s } => format!(
            "The phase \"{}\" is not judged: it started while the line was busy (after {}).",
            phase.name(),
            seconds(*waited_s)
        ),
        Note::ServerByteLimit { limit_ratio, payload_bytes } => format!(
            "The load ended at {} of the server's bytes per session ({}).",
            percent(*limit_ratio),
            bytes(*payload_bytes as f64)
        ),
        Note::ServerTimeLimit { limit_s, needed_s } => format!(
            "The server ends sessions after {}; this test may need {}.",
            seconds(*limit_s),
            seconds(*needed_s)
        ),
        Note::ServerShared { sessions } => {
            format!("{} loaded the server, too.", counted(u64::from(*sessions), "other test", "other tests"))
        }
        Note::OtherServer { protocol, takes_uploads } => format!(
            "No one-way delays: the server speaks {protocol}{}.",
            if *takes_uploads { "" } else { ", and takes no uploads" }
        ),
        Note::SecondHello => "Protocol error: second Hello.".to_string(),
        Note::CongestionControlUnavailable { requested } => {
            format!("The server's kernel lacks congestion control {requested}.")
        }
        Note::CongestionControlReplaced { requested, used } => format!(
            "A sender uses {used} instead of {requested}: its host lacks {requested}, or its sysctl \
             net.ipv4.tcp_allowed_congestion_control or a route excludes it."
        ),
        Note::CongestionControlNotSimulated { requested } => {
            format!("Congestion control {requested} is not simulated: CUBIC was used.")
        }
        Note::FlowFailed { direction, message } => format!("A load flow ({direction}) failed: {message}."),
        Note::ClockStepped { step_s } => {
            format!("The wall clock was set by {step_s:+.3} s, without effect.")
        }
        Note::NotRecorded { tool, what } => {
            let mut all: Vec<&str> = what.iter().copied().map(unrecorded).collect();
            let last = all.pop().unwrap_or("more");
            let but_last = if all.is_empty() { String::new() } else { format!("{} or ", all.join(", ")) };
            format!("{tool} recorded no {but_last}{last}.")
        }
        Note::Text { text } => text.clone(),
        of_server => server_note(of_server),
    }
}

/// A note of a server without load, or of that of the load.
fn server_note(note: &Note) -> String {
    match note {
        Note::NoLoad { protocol } => {
            format!("{protocol} carries no load: add one with --load URL.")
        }
        Note::NoUploads => "The load's server takes no uploads.".to_string(),
        Note::ThroughNat64 => "The test passes NAT64.".to_string(),
        Note::ServerInterval { interval_s } => {
            format!("The server allows one probe per {}.", seconds(*interval_s))
        }
        of_line => lab_note(of_line),
    }
}

/// What a file lacks, to follow "no".
const fn unrecorded(what: Unrecorded) -> &'static str {
    match what {
        Unrecorded::Load => "load",
        Unrecorded::Probes => "latency probes",
        Unrecorded::OneWayDelays => "one-way delays",
        Unrecorded::SendTimes => "send times",
        Unrecorded::SingleRoundTrips => "single round trips",
        Unrecorded::ReceivedRates => "received rates",
    }
}

/// A note of an emulated line or of its workloads.
fn lab_note(note: &Note) -> String {
    match note {
        Note::MalformedPackets { packets } => {
            format!("{} discarded: not IP.", were(*packets))
        }
        Note::RefusedPackets { packets } => {
            format!("The receiving kernel refused {}.", crate::queue::packets(*packets))
        }
        Note::LostWhileDown { packets } => format!("{} lost while the line was down.", were(*packets)),
        Note::DroppedBeforeLine { packets } => {
            format!("{} dropped before the line: its thread was slow.", were(*packets))
        }
        Note::LineBursts { paced_bits_per_second } => {
            format!("Above {} packets leave the line in small bursts.", rate(*paced_bits_per_second as f64))
        }
        Note::LinePriority { priority } => {
            format!("The line's thread has priority \"{priority}\" (real time needs root).")
        }
        Note::NoIpv6 { message } => {
            format!("The lab has no IPv6: {message}.")
        }
        Note::SettingRefused { setting, value, message } => {
            format!("{setting} could not be set to {value} in the lab: {message}.")
        }
        Note::WorkloadEndedEarly { workload, message } => {
            format!("Workload {workload} ended early: {message}.")
        }
        Note::WorkloadLacksFlow { workload, message } => {
            format!("Workload {workload} lacks a flow: no thread started ({message}).")
        }
        Note::ConnectionRefused { message } => format!("A connection was not accepted: {message}."),
        Note::DatagramsCutShort { message } => {
            format!("Receiving datagrams ended early: {message}.")
        }
        _ => String::new(),
    }
}

/// `1 packet was`, `2,000 packets were`, to start a sentence.
fn were(count: u64) -> String {
    format!("{} {}", crate::queue::packets(count), if count == 1 { "was" } else { "were" })
}

/// Why a run is incomplete, without a full stop.
pub fn interruption(why: &Interruption) -> String {
    match why {
        Interruption::Stopped => "stopped by the user".to_string(),
        Interruption::ServerSilent { server, waited_s } => {
            format!("server {server} sent nothing for {}: the line or the server is down", seconds(*waited_s))
        }
        Interruption::NoReports { server, waited_s } => {
            format!("server {server} sent no load report for {}", seconds(*waited_s))
        }
        Interruption::SessionEnded { server, message } => format!("server {server}: {message}"),
        Interruption::NoFlowLeft { direction, message } => {
            format!("all load flows ({direction}) failed: {message}")
        }
        Interruption::ProbingFailed => "the probing thread failed".to_string(),
        Interruption::CaptureUnreadable { capture, message } => format!("{capture}: {message}"),
        Interruption::Text { text } => text.clone(),
    }
}

/// Why probes were not sent, to follow "because".
pub fn not_sent(why: &NotSent) -> &str {
    match why {
        NotSent::NotRunInTime => "the probing thread was late",
        NotSent::TooManyConnections => "too many connections were open",
        NotSent::NotConnected => "the persistent connection was not established",
        NotSent::BufferFull => "the persistent connection's send buffer was full",
        NotSent::NoRoute => "the target had no address or route",
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
        Fact::TcpEcn => "TCP with ECN",
        Fact::ProbeInterval => "probe interval",
        Fact::Priority => "priority of the probing thread",
        named => named.name(),
    }
}
