//! What a lab cannot do of what a scenario may say.
use fathom_scenario::{WorkKind, WorkPlan};
use fathom_units::Duration;
use std::fs;

/// Connections and flows of datagrams at once. Each has two threads.
pub const MAX_CONNECTIONS: u32 = 512;
/// What the lab's interfaces carry in one piece.
const LARGEST_PACKET: u16 = 1500;
/// Headers of IPv4 and UDP, and the numbers by which a datagram is known.
const SMALLEST_PACKET: u16 = 36;

/// Why these works cannot be played, if they cannot; names the work and the key.
#[must_use]
pub fn refusal(works: &[WorkPlan]) -> Option<String> {
    let has = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    let by_key = works.iter().find_map(|work| {
        let why = key(work).or_else(|| size(work)).or_else(|| control(work, has.trim()))?;
        Some(format!("work {}: {why}", work.name))
    });
    by_key.or_else(|| together(works))
}

/// A key that only the simulator has.
fn key(work: &WorkPlan) -> Option<String> {
    let (edge, transport) = (&work.edge, &work.transport);
    let asked = [
        ("extra_rtt", edge.extra_rtt.iter().any(|extra| *extra > Duration::ZERO)),
        ("access_rate", edge.access_rate.is_some()),
        ("hosts", edge.hosts > 1),
        ("first_host", edge.first_host > 0),
        ("from_hop and to_hop", edge.hops.is_some()),
        ("initial_window", work.is_tcp() && transport.initial_window.is_some()),
        ("min_rto", work.is_tcp() && transport.min_rto.is_some()),
    ];
    let (name, _) = asked.into_iter().find(|(_, given)| *given)?;
    Some(format!("{name}: only a simulation has it, the lab does not (leave it out, or try: fathom sim)"))
}

fn size(work: &WorkPlan) -> Option<String> {
    let (size, least) = match work.kind {
        WorkKind::Datagrams { exponential_sizes: true, .. } => {
            return Some(
                "sizes = \"exponential\": the lab's packets are of one size (leave it out)".to_owned(),
            );
        }
        WorkKind::Datagrams { size, .. } => (size, 0),
        WorkKind::Game { size, .. } | WorkKind::Camera { size, .. } => (size, SMALLEST_PACKET),
        _ => return None,
    };
    let fits = (least..=LARGEST_PACKET).contains(&size);
    (!fits).then(|| format!("size: {size} (the lab can send {SMALLEST_PACKET} to {LARGEST_PACKET})"))
}

/// `has` are the names that the kernel knows.
fn control(work: &WorkPlan, has: &str) -> Option<String> {
    let name = work.transport.congestion_control.as_str();
    let known = !work.is_tcp() || has.split_whitespace().any(|other| other == name);
    (!known).then(|| {
        format!(
            "this kernel does not have congestion control \"{name}\" (it has: {has}); choose one of those, or load it: \
             sudo modprobe tcp_{name}"
        )
    })
}

fn together(works: &[WorkPlan]) -> Option<String> {
    let ecn = |wanted| works.iter().any(|work| work.is_tcp() && work.transport.ecn == wanted);
    if ecn(true) && ecn(false) {
        return Some("ecn: the lab has it for all works over TCP, or for none".to_owned());
    }
    let count = works.iter().map(connections).fold(0, u32::saturating_add);
    (count > MAX_CONNECTIONS).then(|| {
        format!("{count} connections at once: the lab has up to {MAX_CONNECTIONS} (try: fathom sim)")
    })
}

fn connections(work: &WorkPlan) -> u32 {
    match work.kind {
        WorkKind::Web(page) => work.flows.saturating_mul(page.connections).saturating_mul(page.shards),
        WorkKind::Call | WorkKind::Game { .. } => work.flows.saturating_mul(2),
        _ => work.flows,
    }
}
