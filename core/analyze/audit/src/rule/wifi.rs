//! Queue points 14 and 15: Wi-Fi.
use super::{Context, FULL_PACKET, seconds};
use crate::audited::{AuditedQueue, Severity, Worst};
use crate::facts::{Interface, Wifi};
use alloc::vec::Vec;
use fathom_run::{AirtimeLimit, HostQueue, InterfaceKind, Remedy};
use fathom_units::{Direction, Rate};

pub(super) fn queues(context: &Context<'_>, interface: &Interface) -> Vec<AuditedQueue> {
    if interface.kind != InterfaceKind::Wifi {
        return Vec::new();
    }
    let phy = interface.phy.unwrap_or(0);
    let in_debugfs = context.facts.host.wifi.iter().find(|wifi| wifi.phy == phy);
    // A driver that uses the mac80211 queues reports their limits by nl80211 or in debugfs.
    let by_nl80211 =
        || interface.air_limit.map(|limit| Wifi { phy, limit_packets: Some(limit), ..Wifi::default() });
    let wifi = in_debugfs.cloned().or_else(by_nl80211);
    Vec::from([wifi.map_or_else(|| firmware(context, interface), |wifi| mac80211(context, interface, &wifi))])
}

/// mac80211 isolates flows with a delay near 20 ms; airtime limits the queue in the firmware.
fn mac80211(context: &Context<'_>, interface: &Interface, wifi: &Wifi) -> AuditedQueue {
    let limit_packets = wifi.limit_packets.unwrap_or(0);
    let airtime = match wifi.airtime_us {
        Some(_) => AirtimeLimit::Timer,
        None if context.facts.host.has_debugfs => AirtimeLimit::None,
        None => AirtimeLimit::Unknown,
    };
    let memory = wifi.memory_limit.or(interface.air_memory);
    let worst = context.rate(interface).map(|rate| by_memory(limit_packets, memory, rate));
    let backlog = context.observed(interface).and_then(|observed| observed.wifi_backlog);
    let is_limited = airtime == AirtimeLimit::Timer;
    context
        .queue(interface, HostQueue::WifiQueues { limit_packets, airtime })
        .worst(worst)
        .observed(backlog)
        .timer(wifi.airtime_us.map(seconds))
        .severity(if is_limited { Severity::None } else { Severity::Unknown })
}

/// Packets take at least as much memory as their bytes.
fn by_memory(packets: u64, memory: Option<u64>, rate: Rate) -> Worst {
    match memory {
        Some(bytes) if bytes < packets.saturating_mul(FULL_PACKET.0) => Worst::bytes(bytes, rate),
        _ => Worst::packets(packets, FULL_PACKET, rate),
    }
}

fn firmware(context: &Context<'_>, interface: &Interface) -> AuditedQueue {
    let queue = HostQueue::WifiFirmware {
        driver: interface.driver.clone(),
        is_certain: context.facts.host.has_debugfs,
    };
    context
        .queue(interface, queue)
        .severity(Severity::Unknown)
        .remedy(Remedy::shape_at_unknown_rate(Some(Direction::Up)))
        .remedy(Remedy::ReplaceWifiCard)
}
