//! Queue points 23 to 26: containers, flow offload, the link beyond, managers of queue disciplines.
use super::Context;
use crate::audited::{AuditedQueue, Severity};
use crate::facts::Interface;
use crate::quote::quoted;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::{ContainerNetwork, HostQueue, InterfaceKind, Remedy, threshold};
use fathom_units::Rate;

/// Firewall configuration of OpenWrt.
const UCI_FIREWALL: &str = "/etc/config/firewall";

pub(super) fn queues(context: &Context<'_>) -> Vec<AuditedQueue> {
    [containers, flow_offload, link_beyond, managers].iter().filter_map(|rule| rule(context)).collect()
}

fn containers(context: &Context<'_>) -> Option<AuditedQueue> {
    let host = &context.facts.host;
    let userland = ["slirp4netns", "pasta", "passt"].into_iter().find(|program| host.runs(program));
    let is_veth = |interface: &Interface| interface.kind == InterfaceKind::Veth;
    let is_inside = host.is_container || context.facts.on_default_route().is_some_and(is_veth);
    let has_engine = ["dockerd", "containerd", "podman"].iter().any(|program| host.runs(program));
    let (network, severity) = match (userland, is_inside, has_engine) {
        (Some(program), ..) => (ContainerNetwork::Program { name: program.to_string() }, Severity::Unknown),
        (None, true, _) => (ContainerNetwork::Inside, Severity::None),
        (None, false, true) => (ContainerNetwork::Host, Severity::None),
        (None, false, false) => return None,
    };
    Some(AuditedQueue::new(HostQueue::Containers { network }, None).severity(severity))
}

fn flow_offload(context: &Context<'_>) -> Option<AuditedQueue> {
    let host = &context.facts.host;
    let cards = context.facts.up().filter(|i| i.has_hw_offload).map(|i| i.name.clone());
    let is_off = host.offload_files.is_empty() && host.offloaded == 0 && host.flow_tables.is_empty();
    if is_off && !host.is_forwarding {
        return None;
    }
    let queue = HostQueue::FlowOffload {
        flow_tables: host.flow_tables.clone(),
        files: host.offload_files.iter().map(|file| (*file).to_string()).collect(),
        connection_count: host.offloaded as u64,
        tc_offload_interfaces: cards.collect(),
    };
    let queue = AuditedQueue::new(queue, None);
    if is_off {
        return Some(queue);
    }
    let queue = queue.severity(Severity::Bad);
    Some(if host.offload_files.contains(&UCI_FIREWALL) {
        queue.command(set_flow_offloading("0"), set_flow_offloading("1"))
    } else {
        queue.remedy(Remedy::DeleteFlowTables)
    })
}

fn set_flow_offloading(value: &str) -> String {
    format!(
        "uci set firewall.@defaults[0].flow_offloading={value} && uci commit firewall && service firewall restart"
    )
}

/// Nothing beyond the host can be read. If the link there is slower, the queue is there.
fn link_beyond(context: &Context<'_>) -> Option<AuditedQueue> {
    let interface = context.facts.on_default_route()?;
    let line = context.rates.line();
    let queue = HostQueue::LinkBeyond { rate_bits_per_second: line.map(Rate::as_bits_per_second) };
    let mut queue = context.queue(interface, queue).severity(Severity::Unknown);
    let link = context.rate_of_link(interface);
    let ratio = link
        .zip(line)
        .map(|(link, line)| link.as_bits_per_second() as f64 / line.as_bits_per_second() as f64);
    queue.point.arrival_ratio = ratio;
    let (Some(ratio), Some(line)) = (ratio, line) else { return Some(queue) };
    if ratio <= 1.0 {
        return Some(queue.severity(Severity::None));
    }
    let undo = format!("fathom fix --undo {}", quoted(&interface.name));
    Some(queue.severity(Severity::Bad).command(shape_below(interface, line), undo))
}

/// Shapes slightly below the rate of the line. The actual capacity should be measured first.
fn shape_below(interface: &Interface, line: Rate) -> String {
    let [_, max] = threshold::shaper_rates(line.as_bits_per_second() as f64);
    let rate = Rate::from_bits_per_second((max + 0.5) as u64).to_string().to_lowercase();
    format!("fathom fix {} --up {rate}", quoted(&interface.name))
}

impl Context<'_> {
    /// Rate of the interface alone, without the rate of the line that the user gave.
    fn rate_of_link(&self, interface: &Interface) -> Option<Rate> {
        let is_nominal =
            matches!(interface.kind, InterfaceKind::Veth | InterfaceKind::Tap | InterfaceKind::Tun);
        let shaper = interface.qdiscs.iter().find(|qdisc| qdisc.is_root()).and_then(|root| root.rate);
        shaper
            .or(interface.bitrate)
            .or(interface.speed.filter(|_| !is_nominal))
            .or_else(|| self.fastest_card())
    }
    fn fastest_card(&self) -> Option<Rate> {
        self.facts.up().filter(|interface| interface.has_ring()).filter_map(|interface| interface.speed).max()
    }
}

/// Programs that set a queue discipline when an interface comes up or is reconfigured.
const MANAGERS: [(&str, &str); 6] = [
    ("NetworkManager", "NetworkManager"),
    ("systemd-network", "systemd-networkd"),
    ("cake-autorate", "cake-autorate"),
    ("sqm-autorate", "sqm-autorate"),
    ("qosify", "qosify"),
    ("connmand", "ConnMan"),
];

fn managers(context: &Context<'_>) -> Option<AuditedQueue> {
    let host = &context.facts.host;
    let running = MANAGERS.iter().filter(|(start, _)| host.runs(start));
    let programs: Vec<String> = running.map(|(_, name)| (*name).to_string()).collect();
    let files = host.manager_files.clone();
    if programs.is_empty() && files.is_empty() {
        return None;
    }
    let severity = if files.is_empty() { Severity::None } else { Severity::Dark };
    Some(AuditedQueue::new(HostQueue::QueueManagers { programs, files }, None).severity(severity))
}
