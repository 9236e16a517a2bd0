//! Captured queues, their flows and paths.
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_run::{
    Bottleneck, Capture, CapturedFlow, CapturedQueue, DelayedParty, DelayedProbes, Estimate,
    FlowRetransmission, IpMarking, Management, ManagementRule, Oscillation, PathLoss, PathRemarking,
    ProbeKind, ProbedDelay, QueueAlternative, QueueDelay, QueueManagement, QueuePlace, QueueVictims,
    Remarking, Reordering, UnknownQueue, UnknownReason,
};
use fathom_text::{bytes, counted, milliseconds, percent, rate, seconds, thousands};
use fathom_units::Direction;

use crate::phase::noun;

/// Share of a queue's bytes by which a flow alone filled it.
const ALONE: f64 = 0.8;
/// Certainty of a fingerprint from which the kind of a queue is named.
const NAMED: f64 = 0.5;

fn queue_of(capture: Option<&Capture>, number: u32) -> Option<(&Capture, &CapturedQueue)> {
    let capture = capture?;
    Some((capture, capture.queues.get(number.checked_sub(1)? as usize)?))
}

/// Who filled the queue, to start a sentence.
pub(crate) fn who(capture: &Capture, queue: &CapturedQueue) -> String {
    let flow = |number: u32| capture.flows.iter().find(|flow| flow.number == number);
    match queue.filled_by.as_slice() {
        [first, ..] if first.bytes_ratio >= ALONE => match flow(first.flow) {
            Some(flow) => format!("One transfer ({})", route(flow)),
            None => format!("Flow {}", first.flow),
        },
        [] => format!("Traffic from {} to {}", queue.from, queue.to),
        [first, rest @ ..] => format!(
            "{} flows from {} (flow {} with {})",
            rest.len() + 1,
            queue.from,
            first.flow,
            percent(first.bytes_ratio)
        ),
    }
}

/// The address of a socket, without its port.
pub(crate) fn host(socket: &str) -> &str {
    let address = socket.rsplit_once(':').map_or(socket, |(address, _)| address);
    address.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(address)
}

/// By which program, from where to where, and how much.
fn route(flow: &CapturedFlow) -> String {
    let side = usize::from(flow.sent[1].payload_bytes > flow.sent[0].payload_bytes);
    let payload = flow.sent[side].payload_bytes;
    let program = flow.program.iter().map(|program| format!("{}: ", program.name));
    let program: String = program.collect();
    format!("{program}{} to {}, {}", flow.ends[side], flow.ends[1 - side], bytes(payload as f64))
}

/// The part of the path that holds it.
pub(crate) fn part(queue: &CapturedQueue) -> String {
    let (from, to) = (&queue.from, &queue.to);
    match queue.place {
        QueuePlace::RoundTrip if queue.probed.is_some() => format!("between the capture point and {to}"),
        QueuePlace::InSender => format!("in the sending host {from}, or within a millisecond of it"),
        QueuePlace::BeforeCapture => format!("between {from} and the capture point"),
        QueuePlace::AfterCapture => format!("between the capture point and {to}"),
        QueuePlace::RoundTrip => format!("between {from} and {to}"),
    }
}

/// Where it is, after "The queue is".
pub(crate) fn place(queue: &CapturedQueue) -> String {
    let (from, to, part) = (&queue.from, &queue.to, part(queue));
    match queue.place {
        QueuePlace::InSender => part,
        QueuePlace::BeforeCapture => format!("{part}, for packets to {to}"),
        QueuePlace::AfterCapture => format!("{part}, for packets from {from}"),
        QueuePlace::RoundTrip => {
            format!("{part} (TCP timestamps would locate it)")
        }
    }
}

/// What kind of a queue, with its article.
pub(crate) fn manager(queue: &CapturedQueue) -> &'static str {
    let management = queue.management.filter(|management| management.confidence_ratio >= NAMED);
    match management.map(|management| management.kind) {
        Some(QueueManagement::TailDrop) => "a tail-drop buffer",
        Some(QueueManagement::Red) => "a RED queue",
        Some(QueueManagement::Codel) => "a CoDel queue",
        Some(QueueManagement::FairQueueing) => "a fair-queueing buffer",
        Some(QueueManagement::NoneSeen) | None => "a buffer",
    }
}

/// What manages a queue, by its usual name; `None` if that is not known.
pub(crate) fn rule_name(queue: &CapturedQueue) -> Option<&'static str> {
    let management = queue.management.filter(|management| management.confidence_ratio >= NAMED)?;
    match management.kind {
        QueueManagement::TailDrop => Some("tail drop"),
        QueueManagement::Red => Some("RED"),
        QueueManagement::Codel => Some("CoDel"),
        QueueManagement::FairQueueing => Some("fair queueing"),
        QueueManagement::NoneSeen => None,
    }
}

/// How large it is.
pub(crate) fn size(queue: &CapturedQueue) -> String {
    let about = if queue.was_full { "about" } else { "at least" };
    queue.buffer_bytes.map_or_else(String::new, |buffer| format!(" of {about} {}", bytes(buffer.value)))
}

/// `1.25 MB (within 2.0 %)`.
pub(crate) fn with_error(estimate: Estimate, written: fn(f64) -> String) -> String {
    let value = written(estimate.value);
    if estimate.value <= 0.0 || estimate.error <= 0.0 {
        return value;
    }
    // No less than is shown.
    format!("{value} (within {})", percent((estimate.error / estimate.value).max(0.001)))
}

pub(crate) fn delay(delay: &QueueDelay, capture: Option<&Capture>) -> String {
    let figures = format!(
        "It delays packets by {} (median), {} (p95), {} (max).",
        milliseconds(delay.delay_p50_s),
        milliseconds(delay.delay_p95_s),
        milliseconds(delay.delay_max_s)
    );
    if let Some((_, queue)) = queue_of(capture, delay.queue)
        && let Some(probed) = &queue.probed
    {
        let figures = if delay.queue == 1 { String::new() } else { format!("{figures} ") };
        return probed_delay(probed, &figures);
    }
    match queue_of(capture, delay.queue) {
        // The headline says who filled the first one, and how long packets waited.
        Some((_, queue)) if delay.queue == 1 => format!("The queue is {}.{}", place(queue), elsewhere(queue)),
        Some((capture, queue)) => {
            format!(
                "{} filled another queue, {}. {figures}{}",
                who(capture, queue),
                place(queue),
                elsewhere(queue)
            )
        }
        None => format!("Queue {} is part of the path. {figures}", delay.queue),
    }
}

/// The delay that probes showed, and the UDP flow that was sent at that time.
fn probed_delay(probed: &ProbedDelay, figures: &str) -> String {
    let place = format!("The delay arises between the capture point and {}, there or back.", probed.to);
    let load = probed.loads.first().map(|load| {
        let share = if load.bytes_ratio < 0.995 { percent(load.bytes_ratio) } else { "all".to_string() };
        format!(
            " The UDP flow {} to {} carried {} at that time, {share} of the UDP in its direction.",
            load.from,
            load.to,
            rate(load.bits_per_second)
        )
    });
    format!("{figures}{place}{}", load.unwrap_or_default())
}

/// The other parts of the path, which do not hold the queue.
fn elsewhere(queue: &CapturedQueue) -> String {
    match queue.elsewhere.iter().map(|other| other.p95_s).reduce(f64::max) {
        Some(most) => {
            format!(" Elsewhere packets wait at most {} (p95).", milliseconds(most.max(0.0)))
        }
        None => String::new(),
    }
}

pub(crate) fn bottleneck(link: &Bottleneck) -> String {
    let held = link.buffer_bytes.map(|buffer| {
        let drain = buffer.value * 8.0 / link.rate_bits_per_second.value.max(1.0);
        format!(
            ". Its buffer holds {}{}: {}",
            if link.was_full { "" } else { "at least " },
            with_error(buffer, bytes),
            milliseconds(drain)
        )
    });
    let rate = with_error(link.rate_bits_per_second, rate);
    format!("The link behind the queue carries {rate}{}.", held.unwrap_or_default())
}

pub(crate) fn management(management: &Management, direction: Option<Direction>) -> String {
    match (direction, management.delay_p95_s) {
        (Some(direction), Some(height_s)) => measured_management(management, direction, height_s),
        _ => captured_management(management),
    }
}

/// By probes and retransmissions of a test.
fn measured_management(management: &Management, direction: Direction, height_s: f64) -> String {
    let name = noun(direction);
    match management.rule {
        ManagementRule::KeptShort => format!(
            "The {name} queue stays short: packets are dropped while it adds only {} (median).",
            milliseconds(management.delay_p50_s.unwrap_or(0.0).max(0.0))
        ),
        ManagementRule::NeverDropped => {
            format!("The {name} queue never dropped a packet: the buffer is larger than this load.")
        }
        ManagementRule::FairQueueing => format!(
            "Fair queueing of {name}s{}: packets of the load wait {}, others {} (medians).",
            management
                .least_bits_per_second
                .map(|bits| format!(" at {} or more", rate(bits)))
                .unwrap_or_default(),
            milliseconds(management.flow_delay_p50_s.unwrap_or(0.0).max(0.0)),
            milliseconds(management.delay_p50_s.unwrap_or(0.0).max(0.0))
        ),
        ManagementRule::Policer => format!(
            "A policer on the {name} drops what exceeds {}.",
            rate(management.policed_bits_per_second.unwrap_or(0.0))
        ),
        _ => {
            let ratio = management.top_ratio.unwrap_or(0.0);
            let all = if ratio > 0.995 { "All".to_string() } else { format!("{} of the", percent(ratio)) };
            format!(
                "The {name} queue drops packets only when it is full: tail drop, no AQM. {all} losses came near its \
                 delay of {} (p95).",
                milliseconds(height_s)
            )
        }
    }
}

/// How a queue drops, in a sentence.
pub(crate) const fn measured_rule(rule: ManagementRule) -> &'static str {
    match rule {
        ManagementRule::TailDrop => "Packets are dropped only when the buffer is full: tail drop, no AQM.",
        ManagementRule::HeadDrop => {
            "The oldest packets are dropped when the buffer is full: head drop, no AQM."
        }
        ManagementRule::Red => "Packets are dropped at random as the queue grows: RED.",
        ManagementRule::Codel => "The queue is kept at a target delay: CoDel.",
        ManagementRule::Pie => "Packets that wait long are dropped at random: PIE.",
        ManagementRule::FairQueueing => "Each flow has a queue: others did not wait.",
        ManagementRule::Policer => "A policer drops excess packets.",
        ManagementRule::KeptShort => "The queue is kept short.",
        ManagementRule::NeverDropped | ManagementRule::NoneSeen => {
            "Without drops or marks, queue management is unknown."
        }
    }
}

/// By the fingerprint of a captured queue.
fn captured_management(management: &Management) -> String {
    let what = measured_rule(management.rule);
    let losses = match (management.loss_count, management.mark_packets) {
        (0, 0) => String::new(),
        // These say that there were none.
        _ if matches!(management.rule, ManagementRule::NeverDropped | ManagementRule::NoneSeen) => {
            String::new()
        }
        (lost, 0) => format!(
            " {} in {}.",
            counted(lost, "loss", "losses"),
            counted(management.episode_count.unwrap_or(0), "episode", "episodes")
        ),
        (lost, marked) => {
            format!(" {} and {}.", counted(lost, "loss", "losses"), counted(marked, "mark", "marks"))
        }
    };
    let at = management.delay_at_loss.map(|delay| {
        let (low, high) = (milliseconds(delay.p10_s), milliseconds(delay.p90_s));
        format!(" Queueing delay at the losses: {low} (p10) to {high} (p90).")
    });
    format!("{what}{losses}{}", at.unwrap_or_default())
}

pub(crate) fn oscillation(oscillation: &Oscillation) -> String {
    let cause = oscillation.congestion_control.as_ref().map(|name| {
        let predicted = oscillation.predicted_s.map(|s| format!(" (predicted: {})", seconds(s)));
        format!(", as {name} does{}", predicted.unwrap_or_default())
    });
    format!(
        "The queue oscillates with a period of {}{}.",
        seconds(oscillation.period_s),
        cause.unwrap_or_default()
    )
}

pub(crate) fn delayed_flows(victims: &QueueVictims) -> String {
    let Some((first, rest)) = victims.flows.split_first() else { return String::new() };
    let others = match rest.len() {
        0 => String::new(),
        n => format!(", and {} too", counted(n as u64, "more flow", "more flows")),
    };
    format!("{} was delayed by {} (p95){others}.", party(&first.who), milliseconds(first.added_p95_s))
}

pub(crate) fn delayed_probes(probes: &DelayedProbes) -> String {
    let (one, several) = match probes.probe {
        ProbeKind::Echo => ("ICMP echo", "ICMP echoes"),
        ProbeKind::Dns => ("DNS query", "DNS queries"),
        ProbeKind::QuicHandshake => ("QUIC handshake", "QUIC handshakes"),
        ProbeKind::QuicSpin => ("QUIC spin-bit round trip", "QUIC spin-bit round trips"),
    };
    let none = match probes.unanswered {
        0 => String::new(),
        n => format!(" In the whole capture, {} had no reply.", thousands(n as f64)),
    };
    format!(
        "{} from {} to {} took up to {} in this queue ({} without it).{none}",
        counted(probes.answers, one, several),
        probes.from,
        probes.to,
        milliseconds(probes.max_s),
        milliseconds(probes.min_s)
    )
}

/// Flows that waited, to start a sentence.
pub(crate) fn party(who: &DelayedParty) -> String {
    match who {
        DelayedParty::Flow { number, ends: Some([a, b]) } => format!("Flow {number} ({a} to {b})"),
        DelayedParty::Flow { number, ends: None } => format!("Flow {number}"),
        DelayedParty::Datagrams { from, to } => format!("The UDP flow {from} to {to}"),
        DelayedParty::ShortFlows { count: 1 } => "The first exchange of a short flow".to_string(),
        DelayedParty::ShortFlows { count } => format!("The first exchange of {count} short flows"),
    }
}

/// `DSCP 10 ECT(0)`.
fn marking(IpMarking { dscp, ecn }: IpMarking) -> String {
    let ecn = match ecn & 3 {
        0 => "Not-ECT",
        1 => "ECT(1)",
        2 => "ECT(0)",
        _ => "CE",
    };
    format!("DSCP {dscp} {ecn}")
}

pub(crate) fn remarking(remarking: &PathRemarking) -> String {
    let [from, to] = &remarking.captures;
    let change = |change: &Remarking| {
        format!("{} to {} in {}", marking(change.from), marking(change.to), packets(change.packets))
    };
    let changes: Vec<String> = remarking.changes.iter().map(change).collect();
    format!("DSCP or ECN is re-marked between {from} and {to}: {}.", changes.join("; "))
}

pub(crate) fn path_loss(loss: &PathLoss) -> String {
    let [from, to] = &loss.captures;
    let all = (loss.lost_packets + loss.matched_packets).max(1);
    let were = if loss.lost_packets == 1 { "was" } else { "were" };
    format!(
        "{} {were} lost between {from} and {to} ({}).",
        packets(loss.lost_packets),
        percent(loss.lost_packets as f64 / all as f64)
    )
}

pub(crate) fn reordering(order: &Reordering) -> String {
    let [from, to] = &order.captures;
    let (late, twice) = (order.reordered_packets, order.duplicated_packets);
    let were = |count: u64| if count == 1 { "was" } else { "were" };
    let reordered = format!("{} {} reordered", packets(late), were(late));
    let duplicated = format!("{} {} duplicated", packets(twice), were(twice));
    match (late, twice) {
        (_, 0) => format!("{reordered} between {from} and {to}."),
        (0, _) => format!("{duplicated} between {from} and {to}."),
        _ => format!("{reordered} and {duplicated} between {from} and {to}."),
    }
}

pub(crate) fn retransmission(flow: &FlowRetransmission) -> String {
    let again = flow.retransmissions;
    let causes = [
        (again.fast_packets, "after duplicate ACKs or SACK"),
        (again.probe_packets, "as tail loss probes or by RACK"),
        (again.timeout_packets, "by timeout"),
        (again.spurious_packets, "spuriously (the original had arrived)"),
        (again.unknown_packets, "for an unknown reason"),
    ];
    let causes: Vec<String> =
        causes.iter().filter(|(n, _)| *n > 0).map(|(n, why)| format!("{n} {why}")).collect();
    format!(
        "Flow {} ({} to {}) retransmitted {} ({}): {}.",
        flow.flow,
        flow.from,
        flow.to,
        counted(again.packets(), "segment", "segments"),
        percent(again.packets() as f64 / flow.sent_packets.max(1) as f64),
        causes.join(", ")
    )
}

/// What else would look like a captured queue, as a noun phrase.
pub(crate) fn alternative(alternative: &QueueAlternative) -> String {
    match alternative {
        QueueAlternative::UnsteadyClock { host, hertz, packets, error_s } => format!(
            "timestamps of {host} from an unsteady clock (although {} packets fit {hertz:.1} Hz within {:.1} ms)",
            thousands(*packets as f64),
            error_s * 1e3
        ),
        QueueAlternative::AcknowledgedElsewhere => {
            "acknowledged data that bypassed the link behind the queue".to_string()
        }
        QueueAlternative::ArrivedElsewhere => "data that bypassed the link behind the queue".to_string(),
        QueueAlternative::SenderOrNextHop => {
            "a queue in the next hop instead of the sender, or the reverse".to_string()
        }
        QueueAlternative::Text { text } => text.clone(),
    }
}

/// Why the location of a flow's queueing delay is unknown, as a sentence.
pub fn unknown(UnknownQueue { flow, reason }: &UnknownQueue) -> String {
    let why = match reason {
        UnknownReason::NoQueue { p95_s, error_s } => {
            return format!(
                "Flow {flow} showed no measurable queue: at most {:.1} ms (p95), with a clock error of {:.1} ms.",
                p95_s * 1e3,
                error_s * 1e3
            );
        }
        UnknownReason::SeveralParts { parts: [first, second] } => {
            return format!(
                "Flow {flow} was delayed equally on two parts of its path: {first}, and {second}."
            );
        }
        UnknownReason::Text { text } => return text.clone(),
        UnknownReason::TooFewRoundTrips => "it has too few round trips, and no TCP timestamps".to_string(),
        UnknownReason::NoTimestamps => "it has no TCP timestamps".to_string(),
        UnknownReason::TooFewTicks { ticks, duration_s } => {
            format!("its timestamps cover only {ticks:.0} ticks ({duration_s:.1} s)")
        }
        UnknownReason::RestartedClock { frame } => format!("its timestamps restart in frame {frame}"),
        UnknownReason::AmbiguousClock { min_hertz, max_hertz } => {
            format!("its clock may tick at {min_hertz:.0} to {max_hertz:.0} Hz")
        }
        UnknownReason::UncertainClock { error_s, variation_s } => format!(
            "its clock may be off by {:.1} ms, and delays vary by {:.1} ms",
            error_s * 1e3,
            variation_s * 1e3
        ),
        UnknownReason::AcksQueued => "its ACKs queued behind its own data".to_string(),
        UnknownReason::NothingSeen => "no packet was seen in that direction".to_string(),
    };
    format!("The queueing delay of flow {flow} cannot be located: {why}.")
}

pub(crate) fn packets(count: u64) -> String {
    counted(count, "packet", "packets")
}
