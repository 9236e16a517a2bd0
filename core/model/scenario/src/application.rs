//! Applications of tests: workloads that run over the real line.
use crate::error::ScenarioError;
use crate::file::parse_workloads;
use crate::workload::{WorkloadKind, WorkloadPlan};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_units::Duration;

/// The built-in applications, as a file.
pub const APPLICATIONS: &str = include_str!("../../../../scenarios/applications/common.toml");

/// IPv4 and UDP headers, and those of an echo with the code of a session: `docs/protocol.md`.
const SMALLEST_PACKET: u16 = 28 + 80;
/// Of Ethernet.
const LARGEST_PACKET: u16 = 1500;

/// What an application is in a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It is measured.
    Victim,
    /// It is the load.
    Load,
}

/// The applications of a file: `[[workload]]` tables.
///
/// # Errors
/// The first problem, with its line.
pub fn applications(text: &str, file: &str) -> Result<Vec<WorkloadPlan>, ScenarioError> {
    parse_workloads(text, file)
}

/// Why a test cannot run an application in this role; `None` if it can.
#[must_use]
pub fn refusal(plan: &WorkloadPlan, role: Role) -> Option<String> {
    kind_refusal(plan.kind, role).or_else(|| key_refusal(plan))
}

fn kind_refusal(kind: WorkloadKind, role: Role) -> Option<String> {
    use WorkloadKind::{Adaptive, Bulk, Call, Game, Swarm, Web};
    let (fits, why) = match role {
        Role::Victim => (
            matches!(kind, Web(_) | Adaptive(_) | Call | Game { .. }),
            "cannot be measured (expected a web, a video with rates, a call or a game)",
        ),
        Role::Load => (
            matches!(kind, Web(_) | Adaptive(_) | Bulk { bytes: None } | Swarm { churn: None }),
            "cannot be the load (expected a web, a video with rates, or a bulk, backup or swarm without end)",
        ),
    };
    if !fits {
        return Some(why.into());
    }
    match kind {
        Game { size, .. } if !(SMALLEST_PACKET..=LARGEST_PACKET).contains(&size) => {
            Some(format!("size: invalid value {size} (expected {SMALLEST_PACKET} to {LARGEST_PACKET})"))
        }
        _ => None,
    }
}

/// Keys that only the simulator has.
fn key_refusal(plan: &WorkloadPlan) -> Option<String> {
    let (edge, transport) = (&plan.edge, &plan.transport);
    let given = [
        ("start", plan.start > Duration::ZERO),
        ("stop", plan.stop.is_some()),
        ("extra_rtt", !edge.extra_rtt.is_empty()),
        ("access_rate", edge.access_rate.is_some()),
        ("hosts", edge.hosts > 1),
        ("first_host", edge.first_host > 0),
        ("ecn", transport.ecn),
        ("initial_window", transport.initial_window.is_some()),
        ("window", transport.window.is_some()),
        ("pacing", transport.pacing),
        ("min_rto", transport.min_rto.is_some()),
    ];
    let (key, _) = given.into_iter().find(|(_, is_given)| *is_given)?;
    Some(format!("{key}: not supported in a test (omit it, or use fathom sim)"))
}
