//! What this host sent and received during a test.
use crate::PhaseKind;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::PerDirection;
use serde::{Deserialize, Serialize};

/// Traffic of this host in a phase of a test.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HostTraffic {
    /// The phase. Only the first of its kind is observed.
    pub phase: PhaseKind,
    /// All bytes of all interfaces except loopback, including those of the test.
    pub bits_per_second: PerDirection<f64>,
    /// TCP connections of other programs, combined by program and remote host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramTraffic>,
}

/// What a program exchanged with a host by TCP, without headers and retransmissions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ProgramTraffic {
    /// Its process; absent if that may not be known, or the kernel itself sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// Address of the remote host.
    pub remote: String,
    /// Payload that the remote host acknowledged, and that arrived.
    pub bits_per_second: PerDirection<f64>,
}

/// A process of this host.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Process {
    /// Its number (PID).
    pub id: u32,
    /// Name of its program.
    pub name: String,
}
