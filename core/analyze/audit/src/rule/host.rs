//! Queue points 1 to 5 and 13: the host's own buffers.
use super::{Context, FULL_PACKET};
use crate::audited::{AuditedQueue, Severity, Worst};
use crate::quote::quoted;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{Caution, HostQueue, InterfaceKind, Remedy};
use fathom_units::Duration;

/// The kernel's default: no limit on unsent data.
const UNLIMITED: u64 = u32::MAX as u64;

/// A send buffer with a longer delay gets a remedy.
const LONG_S: f64 = 1.0;

pub(super) fn queues(context: &Context<'_>) -> Vec<AuditedQueue> {
    [unsent, send_buffer, receive_buffer, small_queues, congestion_control, receive_backlog]
        .iter()
        .filter_map(|rule| rule(context))
        .collect()
}

/// Worst case of bytes that leave at the rate of the default route.
fn on_default_route(context: &Context<'_>, bytes: u64) -> Option<Worst> {
    Some(Worst::bytes(bytes, context.rates.default_route()?))
}

fn unsent(context: &Context<'_>) -> Option<AuditedQueue> {
    let low_water = context.facts.host.notsent_lowat?;
    let buffer = context.facts.host.tcp_wmem.unwrap_or(low_water);
    let limit_bytes = Some(low_water).filter(|bytes| *bytes < UNLIMITED);
    let queue = AuditedQueue::new(HostQueue::UnsentData { limit_bytes }, None)
        .worst(on_default_route(context, low_water.min(buffer)))
        .observed(context.observed.and_then(|observed| observed.unsent));
    let set = |value: u64| format!("sysctl -w net.ipv4.tcp_notsent_lowat={value}");
    Some(if limit_bytes.is_none() { queue.command(set(131_072), set(low_water)) } else { queue })
}

fn send_buffer(context: &Context<'_>) -> Option<AuditedQueue> {
    let host = &context.facts.host;
    let limit_bytes = host.tcp_wmem?;
    let queue = HostQueue::SendBuffer { limit_bytes, request_limit_bytes: host.wmem_max };
    let queue = AuditedQueue::new(queue, None)
        .worst(on_default_route(context, limit_bytes))
        .observed(context.observed.map(|observed| observed.unacknowledged));
    let is_long = queue.point.delay_s() > LONG_S;
    let text =
        host.tcp_wmem_text.as_deref().filter(|text| text.chars().all(|c| c.is_ascii_digit() || c == ' '));
    let (Some(text), Some(rate), true) = (text, context.rates.default_route(), is_long) else {
        return Some(queue);
    };
    let first: Vec<&str> = text.split(' ').take(2).collect();
    // Twice the data in flight on a 200 ms path; at least 256 KiB, a typical initial burst.
    let enough = (rate.bytes_in(Duration::from_millis(400)).0).max(262_144);
    let set = |values: String| format!("sysctl -w net.ipv4.tcp_wmem=\"{values}\"");
    Some(queue.remedy(Remedy::Run {
        command: set(format!("{} {enough}", first.join(" "))),
        undo: set(text.into()),
        caution: Some(Caution::OnlyLinkOfHost),
    }))
}

fn receive_buffer(context: &Context<'_>) -> Option<AuditedQueue> {
    let host = &context.facts.host;
    let limit_bytes = host.tcp_rmem?;
    let queue = HostQueue::ReceiveBuffer { limit_bytes, request_limit_bytes: host.rmem_max };
    let queue = AuditedQueue::new(queue, None)
        .worst(on_default_route(context, limit_bytes))
        .observed(context.observed.map(|observed| observed.unread));
    Some(queue)
}

/// TCP small queues allow 1 ms of each flow's pacing rate, and 8 ms on Wi-Fi. Source:
/// `sk_pacing_shift` 10, and 7 in mac80211.
fn small_queues(context: &Context<'_>) -> Option<AuditedQueue> {
    let limit_bytes = context.facts.host.limit_output?;
    let is_wifi = context.facts.up().any(|interface| interface.kind == InterfaceKind::Wifi);
    let pacing_divisor: u64 = if is_wifi { 128 } else { 1_024 };
    let timer = Some(1.0 / pacing_divisor as f64);
    Some(AuditedQueue::new(HostQueue::SmallQueues { limit_bytes, pacing_divisor }, None).timer(timer))
}

fn congestion_control(context: &Context<'_>) -> Option<AuditedQueue> {
    let host = &context.facts.host;
    let ratio = |percent: u64| percent as f64 / 100.0;
    let queue = HostQueue::CongestionControl {
        name: host.congestion_control.clone()?,
        slow_start_pacing_ratio: host.pacing_percents.map(|[slow_start, _]| ratio(slow_start)),
        avoidance_pacing_ratio: host.pacing_percents.map(|[_, avoidance]| ratio(avoidance)),
        default_qdisc: host.default_qdisc.clone(),
    };
    let queue = AuditedQueue::new(queue, None);
    let fifo = host.default_qdisc.as_deref().filter(|qdisc| qdisc.starts_with("pfifo") || *qdisc == "bfifo");
    let Some(fifo) = fifo else { return Some(queue) };
    let set = |value: &str| format!("sysctl -w net.core.default_qdisc={value}");
    Some(queue.severity(Severity::Dark).command(set("fq_codel"), set(&quoted(fifo))))
}

fn receive_backlog(context: &Context<'_>) -> Option<AuditedQueue> {
    let host = &context.facts.host;
    let limit_packets = host.max_backlog?;
    let observed_dropped_packets = context.observed.map_or(0, |observed| observed.backlog_drops);
    let queue = HostQueue::ReceiveBacklog {
        limit_packets,
        dropped_packets: host.softnet.drops,
        squeezed_count: host.softnet.squeezed,
        has_flow_limit: host.flow_limit,
        observed_dropped_packets,
    };
    let fastest = context.rates.fastest();
    let worst = fastest.map(|rate| Worst::packets(limit_packets, FULL_PACKET, rate));
    let queue = AuditedQueue::new(queue, None).worst(worst);
    // A healthy host drops nothing here.
    Some(if observed_dropped_packets > 0 {
        queue.severity(Severity::Bad).remedy(Remedy::SpreadReceiveWork)
    } else {
        queue
    })
}
