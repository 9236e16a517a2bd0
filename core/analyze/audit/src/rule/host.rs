//! The host's own buffers: places 1 to 5 and 13.
use super::{Context, FELT, FULL_PACKET};
use crate::facts::Kind;
use crate::place::{Level, Place, Spot, Worst};
use crate::sum::Sum;
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use fathom_text::bytes;
use fathom_units::{Bytes, Duration};

/// Unsent data is not limited: the kernel's default.
const UNLIMITED: u64 = u32::MAX as u64;

/// A receive backlog refuses no packets in a healthy host.
const NO_DROPS: u64 = 0;

pub(super) fn places(context: &Context<'_>) -> Vec<Place> {
    [unsent, send_buffer, receive_buffer, small_queues, congestion_control, rx_backlog]
        .iter()
        .filter_map(|rule| rule(context))
        .collect()
}

fn at_way_out(context: &Context<'_>, bytes: u64) -> Option<Worst> {
    let rate = context.rates.way_out()?;
    Some(Worst { sum: Sum::bytes(Bytes(bytes), rate), super_packets: None })
}

fn unsent(context: &Context<'_>) -> Option<Place> {
    let lowat = context.facts.host.notsent_lowat?;
    let buffer = context.facts.host.tcp_wmem.unwrap_or(lowat);
    let what = if lowat >= UNLIMITED { "not limited".to_string() } else { bytes(lowat as f64) };
    let place = Place::new(Spot::Unsent, None, what)
        .holds(at_way_out(context, lowat.min(buffer)))
        .seen(context.seen.and_then(|seen| seen.unsent))
        .why("delays only the program that wrote it, whose newest data waits behind its older");
    let set = |value: u64| format!("sysctl -w net.ipv4.tcp_notsent_lowat={value}");
    Some(if lowat >= UNLIMITED { place.fix(set(131_072), set(lowat)) } else { place })
}

fn send_buffer(context: &Context<'_>) -> Option<Place> {
    let host = &context.facts.host;
    let most = host.tcp_wmem?;
    let set_max = host.wmem_max.map_or_else(|| "unknown".to_string(), |max| bytes(max as f64));
    let place = Place::new(
        Spot::SendBuffer,
        None,
        format!("{} at most; programs may ask for {set_max}", bytes(most as f64)),
    )
    .holds(at_way_out(context, most))
    .seen(context.seen.map(|seen| seen.unacknowledged))
    .why("a full one is in flight or unsent: it fills the queues on the path, which are to be managed there");
    let is_long = place.delay() > Duration::from_secs(1);
    let text =
        host.tcp_wmem_text.as_deref().filter(|text| text.chars().all(|c| c.is_ascii_digit() || c == ' '));
    let (Some(text), Some(rate), true) = (text, context.rates.way_out(), is_long) else { return Some(place) };
    let first: Vec<&str> = text.split(' ').take(2).collect();
    // Twice what a path of 200 ms has in flight; never below 256 KiB, which is one of today's initial bursts.
    let enough = (rate.bytes_in(Duration::from_millis(400)).0).max(262_144);
    Some(place.fix(
        format!(
            "sysctl -w net.ipv4.tcp_wmem=\"{} {enough}\" # only on a host of this line alone",
            first.join(" ")
        ),
        format!("sysctl -w net.ipv4.tcp_wmem=\"{text}\""),
    ))
}

fn receive_buffer(context: &Context<'_>) -> Option<Place> {
    let host = &context.facts.host;
    let most = host.tcp_rmem?;
    let set_max = host.rmem_max.map_or_else(|| "unknown".to_string(), |max| bytes(max as f64));
    let place = Place::new(
        Spot::ReceiveBuffer,
        None,
        format!("{} at most; programs may ask for {set_max}", bytes(most as f64)),
    )
    .holds(at_way_out(context, most))
    .seen(context.seen.map(|seen| seen.unread))
    .why("as much may others have in flight to here; leave it, and manage the queue that it fills");
    Some(place)
}

/// A millisecond of each flow's pacing rate; Wi-Fi asks for eight. Source: `sk_pacing_shift` 10, and 7 of mac80211.
fn small_queues(context: &Context<'_>) -> Option<Place> {
    let limit = context.facts.host.limit_output?;
    let is_wifi = context.facts.up().any(|interface| interface.kind == Kind::Wifi);
    let (shift, whose) = if is_wifi { (7, "1/128 s, as Wi-Fi asks") } else { (10, "1/1024 s") };
    let timer = Duration::from_nanos(1_000_000_000 >> shift);
    let what = format!("{whose} of each flow's rate; {limit}b where a flow is not paced");
    Some(
        Place { timer: Some(timer), ..Place::new(Spot::SmallQueues, None, what) }
            .why("per flow: many flows add up"),
    )
}

fn congestion_control(context: &Context<'_>) -> Option<Place> {
    let host = &context.facts.host;
    let name = host.congestion_control.as_deref()?;
    let paced =
        host.pacing_ratios.map_or_else(|| "unknown".to_string(), |[ss, ca]| format!("{ss} % and {ca} %"));
    let place = |end: &str| {
        Place::new(Spot::CongestionControl, None, format!("{name}, paced to {paced} of its rate{end}"))
    };
    let Some(default) = host.default_qdisc.as_deref() else {
        return Some(
            place("").why("which queue discipline new interfaces get stands outside this namespace"),
        );
    };
    let place = place(&format!("; new interfaces get {default}"));
    let is_fifo = default.starts_with("pfifo") || default == "bfifo";
    Some(if is_fifo {
        let set = |value: &str| format!("sysctl -w net.core.default_qdisc={value}");
        place
            .level(Level::Dark)
            .why("every interface that comes up gets one queue for all")
            .fix(set("fq_codel"), set(&crate::quote::quoted(default)))
    } else {
        place.why("flows are kept apart on every interface that comes up")
    })
}

fn rx_backlog(context: &Context<'_>) -> Option<Place> {
    let host = &context.facts.host;
    let most = host.max_backlog?;
    let (drops, squeezed) = (host.softnet.drops, host.softnet.squeezed);
    let flow_limit = if host.flow_limit { "on" } else { "off" };
    let what = format!(
        "{most} packets, {drops} refused and {squeezed} rounds cut short since boot, flow limit {flow_limit}"
    );
    let fastest = context.rates.fastest();
    let worst = fastest.map(|rate| Worst { sum: Sum::packets(most, FULL_PACKET, rate), super_packets: None });
    let now = context.seen.map_or(NO_DROPS, |seen| seen.backlog_drops);
    let place = Place::new(Spot::RxBacklog, None, what).holds(worst);
    Some(if now > NO_DROPS {
        let why = format!("{now} packets were refused while it was watched: the CPU is the bottleneck");
        place
            .level(Level::Bad)
            .why(why)
            .fix("spread the work over CPUs: /sys/class/net/NAME/queues/rx-0/rps_cpus", "")
    } else if place.delay() > FELT {
        place.why("long only where the CPU is slower than the link; nothing says so")
    } else {
        place.why("drained as fast as the CPU works")
    })
}
