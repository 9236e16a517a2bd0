//! A host of a survey, as it is kept in its file.
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_ecn::{EcnFlags, Finding, FromHost, Report, Summary};
use fathom_run::Hop;
use serde::{Deserialize, Serialize};

/// What happened to a host of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// ECN survives.
    Survives,
    /// Codepoints or flags change.
    Altered,
    /// Packets with ECN are dropped or refused.
    Blocked,
    /// Too little could be seen.
    Unknown,
    /// The host does not answer.
    NoAnswer,
    /// The host refuses connections to the port.
    PortClosed,
    /// Another host of the list has the same address, and is tested instead.
    Duplicate,
    /// The name has no IPv4 address. Nothing was sent.
    Unresolved,
    /// This computer could not send packets to it.
    NotSent,
}

impl Outcome {
    /// The outcome of a test.
    #[must_use]
    pub fn of(report: &Report) -> Outcome {
        match report.summary() {
            _ if report.is_port_closed => Outcome::PortClosed,
            Summary::NoAnswer => Outcome::NoAnswer,
            Summary::Blocked => Outcome::Blocked,
            Summary::Altered => Outcome::Altered,
            Summary::Survives => Outcome::Survives,
            Summary::Unknown => Outcome::Unknown,
        }
    }
    /// The name of the outcome in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::Survives => "survives",
            Outcome::Altered => "altered",
            Outcome::Blocked => "blocked",
            Outcome::Unknown => "unknown",
            Outcome::NoAnswer => "no_answer",
            Outcome::PortClosed => "port_closed",
            Outcome::Duplicate => "duplicate",
            Outcome::Unresolved => "unresolved",
            Outcome::NotSent => "not_sent",
        }
    }
    /// Whether packets were sent to the host, so that it must not be tested again.
    #[must_use]
    pub const fn is_final(self) -> bool {
        !matches!(self, Outcome::Unresolved | Outcome::NotSent)
    }
    /// Whether the host accepted a connection.
    #[must_use]
    pub const fn is_tested(self) -> bool {
        matches!(self, Outcome::Survives | Outcome::Altered | Outcome::Blocked | Outcome::Unknown)
    }
    /// Whether ECN does not survive.
    #[must_use]
    pub const fn is_problem(self) -> bool {
        matches!(self, Outcome::Altered | Outcome::Blocked)
    }
}

/// A host of a survey. Its file has one of these per line.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// The host, as the list names it.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// Rank in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u64>,
    /// IPv4 address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// IPv4 address of this computer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_address: Option<String>,
    /// Start of the test, in the format of RFC 3339.
    pub started: String,
    /// End of the test.
    pub ended: String,
    /// Outcome of the test.
    pub outcome: Outcome,
    /// Why the host was not tested. For a duplicate, the host that was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether the host agrees to ECN of RFC 3168.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classic_agreed: Option<bool>,
    /// Whether the host agrees to accurate ECN of RFC 9768.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accurate_agreed: Option<bool>,
    /// Whether the SYN-ACK repeats the ECN flags of the SYN.
    #[serde(default)]
    pub is_reflected: bool,
    /// Packets of data from the host by codepoint: not-ECT, ECT(1), ECT(0), CE.
    #[serde(default)]
    pub data_packets: [u32; 4],
    /// The most important problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// All findings, if ECN does not survive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// What happens to packets with ECN, and where.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// What happens to the packets.
    #[serde(flatten)]
    pub finding: Finding,
    /// The last hop that shows what was sent; `None` if it is this computer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Hop>,
    /// The first hop that does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Hop>,
}

impl Problem {
    fn worst(report: &Report) -> Option<Problem> {
        let finding = *report.worst()?;
        let hop = |number: u8| report.hops.iter().find(|(known, _)| *known == number).map(hop);
        let [after, before] =
            [finding.place.map(|place| place.after), finding.place.map(|place| place.before)]
                .map(|number| number.and_then(hop));
        Some(Problem { finding, after, before })
    }
    /// The hops on both sides of the problem.
    pub fn hops_mut(&mut self) -> impl Iterator<Item = &mut Hop> {
        self.after.iter_mut().chain(&mut self.before)
    }
}

fn hop((number, address): &(u8, Option<core::net::Ipv4Addr>)) -> Hop {
    Hop {
        number: *number,
        address: address.map_or_else(String::new, |address| alloc::format!("{address}")),
        flow_address: None,
        other_address: None,
        name: None,
        autonomous_system: None,
        return_hops: None,
    }
}

impl Record {
    /// A host that has not been tested, at this time in the format of RFC 3339.
    #[must_use]
    pub fn untested(host: &str, port: u16, rank: Option<u64>, now: String) -> Record {
        Record {
            host: host.to_string(),
            port,
            rank,
            address: None,
            own_address: None,
            started: now.clone(),
            ended: now,
            outcome: Outcome::Unknown,
            reason: None,
            classic_agreed: None,
            accurate_agreed: None,
            is_reflected: false,
            data_packets: [0; 4],
            problem: None,
            findings: Vec::new(),
        }
    }
    /// Adds the result of a test.
    #[must_use]
    pub fn with(self, report: &Report, from_host: &FromHost) -> Record {
        const BOTH: u8 = EcnFlags::CWR | EcnFlags::ECE;
        let outcome = Outcome::of(report);
        Record {
            outcome,
            classic_agreed: report.has_classic(),
            accurate_agreed: report.accurate_reply.map(|_| report.accurate_codepoint().is_some()),
            is_reflected: report.classic_reply.is_some_and(|flags| flags.has(BOTH)),
            data_packets: from_host.data,
            problem: Problem::worst(report),
            findings: if outcome.is_problem() { report.findings.clone() } else { Vec::new() },
            ..self
        }
    }
}
