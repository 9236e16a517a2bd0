//! Metadata of a run as data: notes, the reason why it ended early, reasons why probes were not
//! sent, and facts.
//!
//! Files of earlier versions contain sentences in these places. Sentences and unknown kinds are
//! read as text.
use crate::bounded::parse;
use crate::{Metric, PhaseKind};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use fathom_units::Direction;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value as Json;
use serde_json::value::RawValue;

/// Something that could not be measured, or deviated from the request.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Note {
    /// The kernel rounds this program's timers up by up to 50 us.
    CoarseTimers {
        /// Response of the operating system to the request for precise timers.
        message: String,
    },
    /// Probes of one kind could not be sent at all.
    ProbesUnavailable {
        /// Metric of the probes.
        metric: Metric,
        /// The reason.
        message: String,
    },
    /// No probe of one kind was answered.
    ProbesUnanswered {
        /// Metric of the probes.
        metric: Metric,
        /// Number of probes sent.
        sent_packets: u64,
    },
    /// A new TCP connection of a probe failed; further failures are only counted.
    ProbeConnectionFailed {
        /// The reason.
        message: String,
    },
    /// The persistent connection of probes broke and was reopened; further breaks are not reported.
    PersistentConnectionBroke {
        /// The reason.
        message: String,
    },
    /// A phase was skipped because the data limit was reached.
    PhaseLeftOut {
        /// The phase.
        phase: PhaseKind,
    },
    /// No datagram of a size arrived, and smaller ones did: the path has a smaller MTU, and its
    /// ICMP errors are lost, too.
    LongPacketsLost {
        /// Size of their IP packets.
        ip_bytes: u64,
        /// The largest size that arrived.
        passed_ip_bytes: u64,
    },
    /// The load of a phase started while latency was still higher than without load.
    QueueNotEmpty {
        /// The phase.
        phase: PhaseKind,
        /// Time waited for the queue to drain.
        waited_s: f64,
    },
    /// The load ended close to the server's limit of bytes per session.
    ServerByteLimit {
        /// Share of the limit at which the load ended.
        limit_ratio: f64,
        /// Payload transferred.
        payload_bytes: u64,
    },
    /// The server ends sessions earlier than this test may need.
    ServerTimeLimit {
        /// The server's limit.
        limit_s: f64,
        /// Maximum duration of the test.
        needed_s: f64,
    },
    /// Other clients loaded the server at the same time.
    ServerShared {
        /// Most of them at once.
        sessions: u32,
    },
    /// The server does not run `fathom serve`, so it measures nothing itself.
    OtherServer {
        /// Its protocol.
        protocol: String,
        /// Whether the protocol carries uploads.
        takes_uploads: bool,
    },
    /// The server carries no load.
    NoLoad {
        /// Its protocol.
        protocol: String,
    },
    /// The server of the load takes no uploads.
    NoUploads,
    /// The server's IPv4 address is reached through NAT64, because this host has no IPv4.
    ThroughNat64,
    /// The server allows probes less often than requested.
    ServerInterval {
        /// The shortest interval that it allows.
        interval_s: f64,
    },
    /// The server sent a second Hello.
    SecondHello,
    /// The server's kernel lacks a congestion control.
    CongestionControlUnavailable {
        /// The requested congestion control.
        requested: String,
    },
    /// A sender uses a different congestion control than requested.
    CongestionControlReplaced {
        /// The requested congestion control.
        requested: String,
        /// The congestion control in use.
        used: String,
    },
    /// The simulator lacks a congestion control and used CUBIC instead.
    CongestionControlNotSimulated {
        /// The requested congestion control.
        requested: String,
    },
    /// A flow of the load failed.
    FlowFailed {
        /// Direction of the flow.
        direction: Direction,
        /// The reason.
        message: String,
    },
    /// The wall clock was set during the run.
    ClockStepped {
        /// Size of the step.
        step_s: f64,
    },
    /// Packets other than IP packets were discarded.
    MalformedPackets {
        /// Number of packets.
        packets: u64,
    },
    /// The receiving kernel rejected packets of the emulated line.
    RefusedPackets {
        /// Number of packets.
        packets: u64,
    },
    /// Packets were lost while the emulated line was down.
    LostWhileDown {
        /// Number of packets.
        packets: u64,
    },
    /// The thread of the emulated line was too slow, so the kernel dropped packets before the line.
    DroppedBeforeLine {
        /// Number of packets.
        packets: u64,
    },
    /// A fast emulated line sends packets in small bursts.
    LineBursts {
        /// The rate above which bursts occur.
        paced_bits_per_second: u64,
    },
    /// Other programs can delay the emulated line, which has no real-time priority.
    LinePriority {
        /// Its actual priority.
        priority: String,
    },
    /// The emulated line does not support IPv6.
    NoIpv6 {
        /// Response of the operating system.
        message: String,
    },
    /// A kernel setting could not be changed in the lab.
    SettingRefused {
        /// Name of the setting.
        setting: String,
        /// The requested value.
        value: String,
        /// Response of the operating system.
        message: String,
    },
    /// A workload ended early.
    WorkloadEndedEarly {
        /// Name of the workload.
        workload: String,
        /// The reason.
        message: String,
    },
    /// A workload lacks a flow because its thread could not be started.
    WorkloadLacksFlow {
        /// Name of the workload.
        workload: String,
        /// Response of the operating system.
        message: String,
    },
    /// A connection of a workload was not accepted.
    ConnectionRefused {
        /// The reason.
        message: String,
    },
    /// The receiver of workload datagrams stopped early.
    DatagramsCutShort {
        /// The reason.
        message: String,
    },
    /// The file of another tool, from which the run was imported, lacks something.
    NotRecorded {
        /// The tool.
        tool: String,
        /// What it did not record.
        what: Vec<Unrecorded>,
    },
    /// A sentence of an earlier version, or an entry of a newer version.
    Text {
        /// The original text.
        text: String,
    },
}

/// What a file of another tool may lack.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unrecorded {
    /// A load: the tool made none, and what others sent is unknown.
    Load,
    /// Latency probes: it has only what the load itself observed.
    Probes,
    /// Delay of each direction.
    OneWayDelays,
    /// When each probe was sent. They are in order, at the interval of the tool.
    SendTimes,
    /// Single round trips: it has means.
    SingleRoundTrips,
    /// What the receiver got: rates are those of the sender, with what its buffer took.
    ReceivedRates,
}

/// Why a run is incomplete.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Interruption {
    /// The user stopped it.
    Stopped,
    /// The server sent nothing.
    ServerSilent {
        /// The server.
        server: String,
        /// Time without data from the server.
        waited_s: f64,
    },
    /// The server sent no load report.
    NoReports {
        /// The server.
        server: String,
        /// Time without a report.
        waited_s: f64,
    },
    /// The session with the server ended.
    SessionEnded {
        /// The server.
        server: String,
        /// The reason.
        message: String,
    },
    /// All flows of a direction failed.
    NoFlowLeft {
        /// The direction.
        direction: Direction,
        /// Why the last flow failed.
        message: String,
    },
    /// The probing thread failed.
    ProbingFailed,
    /// A capture could not be read to its end.
    CaptureUnreadable {
        /// The file or interface.
        capture: String,
        /// Message of the operating system or of the file parser.
        message: String,
    },
    /// A sentence of an earlier version, or an entry of a newer version.
    Text {
        /// The original text.
        text: String,
    },
}

/// A type that replaced a sentence of earlier file versions.
pub(crate) trait FromText: for<'a> Deserialize<'a> {
    fn text(text: String) -> Self;
}

impl FromText for Note {
    fn text(text: String) -> Self {
        Note::Text { text }
    }
}

impl FromText for Interruption {
    fn text(text: String) -> Self {
        Interruption::Text { text }
    }
}

impl FromText for crate::CaptureDefect {
    fn text(text: String) -> Self {
        crate::CaptureDefect::Text { text }
    }
}

/// Maximum size of an entry, in bytes. Most have less than 300.
const MAX_ENTRY_BYTES: usize = 64 << 10;
/// Maximum number of entries of a list. A run has tens, a capture of many files hundreds.
const MAX_ENTRIES: usize = 10_000;

/// Parses an entry. An entry that does not match `T` becomes a text.
fn read<T: FromText, E: de::Error>(entry: &RawValue) -> Result<T, E> {
    Ok(match parse::<MAX_ENTRY_BYTES, Json, E>(entry)? {
        Json::String(text) => T::text(text),
        data => T::deserialize(&data).unwrap_or_else(|_| T::text(data.to_string())),
    })
}

struct List<T>(PhantomData<T>);

impl<'a, T: FromText> de::Visitor<'a> for List<T> {
    type Value = Vec<T>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }
    fn visit_seq<A: de::SeqAccess<'a>>(self, mut entries: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = entries.next_element::<Box<RawValue>>()? {
            if list.len() == MAX_ENTRIES {
                return Err(de::Error::custom(format_args!(
                    "a list of entries exceeds the limit of {MAX_ENTRIES}"
                )));
            }
            list.push(read(&entry)?);
        }
        Ok(list)
    }
}

/// Deserializes a list of data or sentences.
pub(crate) fn list<'a, T: FromText, D: Deserializer<'a>>(from: D) -> Result<Vec<T>, D::Error> {
    from.deserialize_seq(List(PhantomData))
}

/// Deserializes data or a sentence.
pub(crate) fn option<'a, T: FromText, D: Deserializer<'a>>(from: D) -> Result<Option<T>, D::Error> {
    Option::<Box<RawValue>>::deserialize(from)?.map(|entry| read(&entry)).transpose()
}

/// Defines a type that is written as the name of its variant, or as free text.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident, $text:ident, $text_doc:literal, { $($variant:ident = $code:literal $(| $old:literal)*, $doc:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $(#[doc = $doc] $variant,)*
            #[doc = $text_doc]
            $text(String),
        }
        impl $name {
            /// Name in files.
            pub fn name(&self) -> &str {
                match self {
                    $($name::$variant => $code,)*
                    $name::$text(text) => text,
                }
            }
        }
        impl From<String> for $name {
            fn from(text: String) -> Self {
                match text.as_str() {
                    $($code $(| $old)* => $name::$variant,)*
                    _ => $name::$text(text),
                }
            }
        }
        impl From<$name> for String {
            fn from(one: $name) -> Self {
                one.name().to_owned()
            }
        }
    };
}

named! {
    /// Why a due probe was not sent.
    NotSent, System, "The operating system's error message, or a reason of another version.", {
        NotRunInTime = "not_run_in_time" | "the probing thread did not run in time", "The program got no CPU time when the probe was due.";
        TooManyConnections = "too_many_connections", "The maximum number of connections was open.";
        NotConnected = "not_connected" | "the persistent connection was not established", "The persistent connection was not established.";
        BufferFull = "send_buffer_full" | "the persistent connection's send buffer was full", "The send buffer of the persistent connection was full.";
        NoRoute = "no_route" | "the target had no address or no route", "The target had no address or no route.";
    }
}

named! {
    /// A fact about the path or the settings of a run.
    Fact, Other, "A fact of another version, with its name.", {
        Server = "server", "The server, as requested.";
        Address = "address", "Address and port of the server.";
        Dscp = "dscp", "DSCP of what this host sends, if any: of probes and of the load.";
        LoadServer = "load_server", "The server of the load, as requested, if it is another one.";
        SeenAs = "seen_as" | "seen as", "Address of this host, as the server sees it.";
        Browser = "browser", "The browser of the page that measured, as it names itself.";
        Protocol = "protocol", "Protocol of a server that does not run `fathom serve`.";
        ServerVersion = "server_version" | "server version", "Version of the server.";
        Tool = "tool", "Another tool that measured, with its version.";
        Line = "line", "The emulated line.";
        Program = "program", "The program that ran behind the emulated line.";
        Workloads = "workloads" | "works", "The workloads.";
        FlowsPerDirection = "flows_per_direction" | "flows per direction", "Flows in each direction.";
        Pace = "pace", "Rate to which the load of each direction was paced, as payload.";
        Ecn = "ecn", "ECN codepoint of UDP probes and of a UDP load, as sent.";
        TcpEcn = "tcp_ecn", "How many TCP flows of the load use ECN.";
        Udp = "udp", "Rate of a load of UDP datagrams in each direction, as payload.";
        CongestionControl = "congestion_control" | "congestion control" | "congestion control asked for", "Congestion control, as requested.";
        ProbeInterval = "probe_interval" | "probe interval", "Time between two probes of the same kind.";
        Priority = "priority" | "priority of the probing thread", "Priority of the probing thread.";
        Seed = "seed", "Random seed.";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_and_unknown_kinds_are_read_as_text() {
        #[derive(Deserialize)]
        struct Parts {
            #[serde(deserialize_with = "list")]
            notes: Vec<Note>,
            #[serde(deserialize_with = "option")]
            partial: Option<Interruption>,
        }
        let json = r#"{"notes":["Old.",{"kind":"second_hello"},{"kind":"of_tomorrow","level":3}],"partial":"stopped by the user"}"#;
        let Parts { notes, partial } = serde_json::from_str(json).unwrap();
        let text = |text: &str| Note::Text { text: text.into() };
        assert_eq!(notes, [text("Old."), Note::SecondHello, text(r#"{"kind":"of_tomorrow","level":3}"#)]);
        assert_eq!(partial, Some(Interruption::Text { text: "stopped by the user".into() }));
    }

    #[test]
    fn names_of_old_and_new_files_are_accepted() {
        for (text, reason) in [
            ("not_run_in_time", NotSent::NotRunInTime),
            ("the probing thread did not run in time", NotSent::NotRunInTime),
            ("No buffer space available", NotSent::System("No buffer space available".into())),
        ] {
            assert_eq!(NotSent::from(text.to_owned()), reason);
            assert_eq!(NotSent::from(String::from(reason.clone())), reason);
        }
        assert_eq!(Fact::from("seen as".to_owned()).name(), "seen_as");
    }
}
