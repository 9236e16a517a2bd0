//! What a run says of itself besides its observations, as data: notes, why it ended early, why probes were not sent, and facts.
//!
//! Files of earlier versions of the program had sentences in these places. A sentence, and a kind that this version does not know,
//! are read as text.
use crate::{Metric, PhaseKind};
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_units::Direction;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

/// What could not be measured, or was not as requested.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Note {
    /// The kernel rounds timers of this program up by as much as 50 us.
    CoarseTimers {
        /// The system's answer to the request for precise ones.
        message: String,
    },
    /// Probes of a kind could not be sent at all.
    ProbesUnavailable {
        /// Their metric.
        metric: Metric,
        /// Why not.
        message: String,
    },
    /// No probe of a kind was answered.
    ProbesUnanswered {
        /// Their metric.
        metric: Metric,
        /// How many were sent.
        sent_packets: u64,
    },
    /// A new TCP connection of a probe failed; further failures are only counted.
    ProbeConnectionFailed {
        /// Why.
        message: String,
    },
    /// The persistent connection of probes broke and was opened again; further breaks are not reported.
    PersistentConnectionBroke {
        /// Why.
        message: String,
    },
    /// A phase was left out because the limit of bytes was reached.
    PhaseLeftOut {
        /// The phase.
        phase: PhaseKind,
    },
    /// The load ended close to the server's limit of bytes per session.
    ServerByteLimit {
        /// Share of the limit at which it ended.
        limit_ratio: f64,
        /// Payload transferred.
        payload_bytes: u64,
    },
    /// The server ends sessions before this test needs.
    ServerTimeLimit {
        /// The server's limit.
        limit_s: f64,
        /// Longest time of the test.
        needed_s: f64,
    },
    /// The server sent a second Hello.
    SecondHello,
    /// The server's kernel does not offer a congestion control.
    CongestionControlUnavailable {
        /// As requested.
        requested: String,
    },
    /// A sender uses another congestion control than requested.
    CongestionControlReplaced {
        /// As requested.
        requested: String,
        /// As used.
        used: String,
    },
    /// The simulator does not have a congestion control, and used CUBIC.
    CongestionControlNotSimulated {
        /// As requested.
        requested: String,
    },
    /// A flow of the load failed.
    FlowFailed {
        /// Its direction.
        direction: Direction,
        /// Why.
        message: String,
    },
    /// The wall clock was set during the run.
    ClockStepped {
        /// By so much.
        step_s: f64,
    },
    /// Packets that were no IP packets were discarded.
    MalformedPackets {
        /// How many.
        packets: u64,
    },
    /// The receiving kernel refused packets of the emulated line.
    RefusedPackets {
        /// How many.
        packets: u64,
    },
    /// Packets were lost while the emulated line was down.
    LostWhileDown {
        /// How many.
        packets: u64,
    },
    /// The thread of the emulated line was too slow for packets, which the kernel dropped before the line.
    DroppedBeforeLine {
        /// How many.
        packets: u64,
    },
    /// Packets leave a fast emulated line in small bursts.
    LineBursts {
        /// Above this rate.
        paced_bits_per_second: u64,
    },
    /// The thread of the emulated line does not run in real time, so that other programs can make the line late.
    LinePriority {
        /// As it runs.
        priority: String,
    },
    /// The emulated line has no IPv6.
    NoIpv6 {
        /// The system's answer.
        message: String,
    },
    /// A setting of the kernel could not be changed in the lab.
    SettingRefused {
        /// Name of the setting.
        setting: String,
        /// The value.
        value: String,
        /// The system's answer.
        message: String,
    },
    /// A workload ended early.
    WorkloadEndedEarly {
        /// Its name.
        workload: String,
        /// Why.
        message: String,
    },
    /// A workload lacks a flow, as no thread could be started for it.
    WorkloadLacksFlow {
        /// Its name.
        workload: String,
        /// The system's answer.
        message: String,
    },
    /// A connection of the workloads was not accepted.
    ConnectionRefused {
        /// Why.
        message: String,
    },
    /// Datagrams of the workloads were not received to the end.
    DatagramsCutShort {
        /// Why.
        message: String,
    },
    /// A sentence of an earlier version, or what a newer version wrote.
    Text {
        /// As it was read.
        text: String,
    },
}

/// Why a run is not whole.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Interruption {
    /// The user stopped it.
    Stopped,
    /// Nothing arrived from the server.
    ServerSilent {
        /// The server.
        server: String,
        /// For so long.
        waited_s: f64,
    },
    /// The server sent no report of the load.
    NoReports {
        /// The server.
        server: String,
        /// For so long.
        waited_s: f64,
    },
    /// The session with the server ended.
    SessionEnded {
        /// The server.
        server: String,
        /// Why.
        message: String,
    },
    /// All flows of a direction failed.
    NoFlowLeft {
        /// The direction.
        direction: Direction,
        /// Why the last one did.
        message: String,
    },
    /// The thread that probes failed.
    ProbingFailed,
    /// A sentence of an earlier version, or what a newer version wrote.
    Text {
        /// As it was read.
        text: String,
    },
}

/// What is read where a sentence may be in place of data.
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

fn read<T: FromText>(json: Json) -> T {
    match json {
        Json::String(text) => T::text(text),
        data => T::deserialize(&data).unwrap_or_else(|_| T::text(data.to_string())),
    }
}

/// Reads a list of data or sentences.
pub(crate) fn list<'a, T: FromText, D: Deserializer<'a>>(from: D) -> Result<Vec<T>, D::Error> {
    Ok(Vec::<Json>::deserialize(from)?.into_iter().map(read).collect())
}

/// Reads data or a sentence.
pub(crate) fn option<'a, T: FromText, D: Deserializer<'a>>(from: D) -> Result<Option<T>, D::Error> {
    Ok(Option::<Json>::deserialize(from)?.map(read))
}

/// A type that is written as the name of its variant, or as a text of its own.
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
    /// Why a probe was not sent when it was due.
    NotSent, System, "What the system said, or a reason of another version.", {
        NotRunInTime = "not_run_in_time" | "the probing thread did not run in time", "The program did not get the CPU in time.";
        TooManyConnections = "too_many_connections", "As many connections were open as may be.";
        NotConnected = "not_connected" | "the persistent connection was not established", "The persistent connection was not established.";
        BufferFull = "send_buffer_full" | "the persistent connection's send buffer was full", "The send buffer of the persistent connection was full.";
        NoRoute = "no_route" | "the target had no address or no route", "The target had no address or no route.";
    }
}

named! {
    /// What a fact of a run is of: its path or its settings.
    Fact, Other, "A fact of another version, by its name.", {
        Server = "server", "The server, as requested.";
        Address = "address", "Its address and port.";
        SeenAs = "seen_as" | "seen as", "Address of this host, as the server sees it.";
        ServerVersion = "server_version" | "server version", "Version of the server.";
        Line = "line", "The emulated line.";
        Program = "program", "The program that ran behind it.";
        Workloads = "workloads" | "works", "The workloads.";
        FlowsPerDirection = "flows_per_direction" | "flows per direction", "TCP flows in each direction.";
        CongestionControl = "congestion_control" | "congestion control" | "congestion control asked for", "Congestion control, as requested.";
        ProbeInterval = "probe_interval" | "probe interval", "Time between two probes of a kind.";
        Priority = "priority" | "priority of the probing thread", "Priority of the thread that probes.";
        Seed = "seed", "Seed of random numbers.";
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
    fn names_are_read_as_they_are_written_and_as_they_were() {
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
