//! Workload settings that a lab does not support.
use fathom_scenario::{WorkloadKind, WorkloadPlan};
use fathom_units::Duration;
use std::fs;

/// Maximum concurrent connections and datagram flows; each takes two threads.
pub const MAX_CONNECTIONS: u32 = 512;
/// MTU of the lab's interfaces.
const LARGEST_PACKET: u16 = 1500;
/// IPv4 and UDP headers, and the numbers that identify a datagram.
const SMALLEST_PACKET: u16 = 36;

/// Why these workloads cannot be played, with workload and key; `None` if they can.
#[must_use]
pub fn refusal(workloads: &[WorkloadPlan]) -> Option<String> {
    let has = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    let by_key = workloads.iter().find_map(|workload| {
        let why = key(workload).or_else(|| size(workload)).or_else(|| control(workload, has.trim()))?;
        Some(format!("workload {}: {why}", workload.name))
    });
    by_key.or_else(|| together(workloads))
}

/// Checks for keys that only the simulator supports.
fn key(workload: &WorkloadPlan) -> Option<String> {
    let (edge, transport) = (&workload.edge, &workload.transport);
    let asked = [
        ("extra_rtt", edge.extra_rtt.iter().any(|extra| *extra > Duration::ZERO)),
        ("access_rate", edge.access_rate.is_some()),
        ("hosts", edge.hosts > 1),
        ("first_host", edge.first_host > 0),
        ("from_hop and to_hop", edge.hops.is_some()),
        ("initial_window", workload.is_tcp() && transport.initial_window.is_some()),
        ("min_rto", workload.is_tcp() && transport.min_rto.is_some()),
    ];
    let (name, _) = asked.into_iter().find(|(_, given)| *given)?;
    Some(format!("{name}: not supported in the lab (omit it, or use fathom sim)"))
}

fn size(workload: &WorkloadPlan) -> Option<String> {
    let (size, least) = match workload.kind {
        WorkloadKind::Datagrams { exponential_sizes: true, .. } => {
            return Some("sizes = \"exponential\": not supported in the lab (omit it)".to_owned());
        }
        WorkloadKind::Datagrams { size, .. } => (size, 0),
        WorkloadKind::Game { size, .. } | WorkloadKind::Camera { size, .. } => (size, SMALLEST_PACKET),
        _ => return None,
    };
    let fits = (least..=LARGEST_PACKET).contains(&size);
    (!fits).then(|| {
        format!("size: invalid value {size} (expected {SMALLEST_PACKET} to {LARGEST_PACKET} in the lab)")
    })
}

/// Checks the congestion control against `has`, the names known to the kernel.
fn control(workload: &WorkloadPlan, has: &str) -> Option<String> {
    let name = workload.transport.congestion_control.as_str();
    let known = !workload.is_tcp() || has.split_whitespace().any(|other| other == name);
    (!known).then(|| {
        format!(
            "this kernel does not support congestion control \"{name}\" (available: {has}); choose another, or load it: \
             sudo modprobe tcp_{name}"
        )
    })
}

fn together(workloads: &[WorkloadPlan]) -> Option<String> {
    let ecn = |wanted| workloads.iter().any(|workload| workload.is_tcp() && workload.transport.ecn == wanted);
    if ecn(true) && ecn(false) {
        return Some("ecn: in the lab, all TCP workloads must have the same setting".to_owned());
    }
    let count = workloads.iter().map(WorkloadPlan::connections).fold(0, u32::saturating_add);
    (count > MAX_CONNECTIONS).then(|| {
        format!("{count} concurrent connections exceed the lab's limit of {MAX_CONNECTIONS} (use fathom sim)")
    })
}
