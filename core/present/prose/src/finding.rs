//! One or two sentences for each kind of finding.
use crate::phase::{doing, noun, while_doing};
use crate::verdict::limit;
use crate::{audit, burst, fix, history, instrument, location, queue, switch, timer, traffic};
use alloc::format;
use alloc::string::{String, ToString};
use fathom_run::{
    AckStarvation, BoundCause, BufferCheck, BufferLimit, BufferSize, Capture, Conclusion, DatagramLoss,
    DrainTime, FillTime, Finding, LatencyIncrease, LatencyVariation, LowerBound, Outage, PhaseKind,
    ProbeLoss, QueueEmptied, RateChange, StartUp,
};
use fathom_text::{bytes, milliseconds, percent, rate, seconds, thousands};
use fathom_units::{Direction, FULL_IP_PACKET};

/// A finding in words. `capture` is that of the run it was made from, which names flows and places.
pub fn finding(finding: &Finding, capture: Option<&Capture>) -> String {
    let direction = finding.direction;
    match &finding.conclusion {
        Conclusion::Bufferbloat(increase) => raised(increase, direction),
        Conclusion::LowLatency(increase) => low(increase),
        Conclusion::LatencyVariation(variation) => self::variation(variation),
        Conclusion::QueueDelay(delay) => queue::delay(delay, capture),
        Conclusion::Outage(found) => outage(found),
        Conclusion::BufferSize(size) => buffer(size, direction),
        Conclusion::MeasuredBuffer(measured) => burst::buffer(measured, direction),
        Conclusion::PortOverload(overload) => switch::overload(overload),
        Conclusion::LosslessBurst(burst) => switch::lossless(burst),
        Conclusion::SharedBuffer(shared) => switch::shared(shared),
        Conclusion::HeadOfLineBlocking(blocking) => switch::blocking(blocking),
        Conclusion::PauseFrames(frames) => switch::pause(frames),
        Conclusion::Bottleneck(link) => queue::bottleneck(link),
        Conclusion::QueueManagement(management) => queue::management(management, direction),
        Conclusion::FillTime(fill) => fill_time(fill),
        Conclusion::DrainTime(drain) => drain_time(drain),
        Conclusion::QueueEmptied(found) => emptied(found),
        Conclusion::AckStarvation(starvation) => starved(starvation),
        Conclusion::Oscillation(oscillation) => queue::oscillation(oscillation),
        Conclusion::DelayedFlows(flows) => queue::delayed_flows(flows),
        Conclusion::DelayedProbes(probes) => queue::delayed_probes(probes),
        Conclusion::Remarking(remarking) => queue::remarking(remarking),
        Conclusion::ProbeLoss(loss) => probe_loss(loss, direction),
        Conclusion::DatagramLoss(loss) => datagram_loss(loss, direction),
        Conclusion::RateChange(change) => rate_change(change, direction),
        Conclusion::OtherTraffic(found) => traffic::other(found, direction),
        Conclusion::LocalTraffic(found) => traffic::local(found, direction),
        Conclusion::QueueLocation(found) => location::known(found, direction),
        Conclusion::UnknownLocation(unknown) => location::unknown(unknown),
        Conclusion::StartUp(start) => start_up(start),
        Conclusion::ExceededTimers(found) => timer::exceeded(found),
        Conclusion::PathLoss(loss) => queue::path_loss(loss),
        Conclusion::Reordering(order) => queue::reordering(order),
        Conclusion::Retransmission(flow) => queue::retransmission(flow),
        Conclusion::RecurringDelay(delay) => history::recurring_delay(delay),
        Conclusion::RecurringLoss(loss) => history::recurring_loss(loss),
        Conclusion::OwnLoad(load) => history::own_load(load, direction),
        Conclusion::BaseChange(change) => history::base_change(change),
        Conclusion::ShaperCheck(check) => fix::check(check),
        Conclusion::ShaperConflict(conflict) => fix::conflict(conflict),
        Conclusion::LowerBound(bound) => lower_bound(bound),
        Conclusion::Instrument(effect) => instrument::effect(effect),
        Conclusion::BloatedQueue(point)
        | Conclusion::QdiscBypass(point)
        | Conclusion::DarkBuffer(point)
        | Conclusion::UnreadableQueue(point)
        | Conclusion::HarmlessQueue(point) => audit::sentence(finding.kind(), point),
        Conclusion::Unknown { kind, .. } => {
            format!("This version does not know findings of the kind \"{kind}\".")
        }
    }
}

fn raised(increase: &LatencyIncrease, found: Option<Direction>) -> String {
    format!(
        "{} raises latency from {} to {}{} (median), {} (p90).{}",
        doing(increase.phase),
        milliseconds(increase.idle_p50_s),
        if increase.is_lower_bound { "at least " } else { about(increase) },
        milliseconds(increase.loaded_p50_s),
        milliseconds(increase.loaded_p90_s),
        increase.up_ratio.map(|up| place(increase.phase, found, up)).unwrap_or_default(),
    )
}

/// "about", if the figures under load are approximate.
pub(crate) const fn about(increase: &LatencyIncrease) -> &'static str {
    if increase.is_approximate { "about " } else { "" }
}

fn low(increase: &LatencyIncrease) -> String {
    format!(
        "Latency {} is {}{} (median), {} (p90); idle it is {} (median).",
        while_doing(increase.phase),
        about(increase),
        milliseconds(increase.loaded_p50_s),
        milliseconds(increase.loaded_p90_s),
        milliseconds(increase.idle_p50_s),
    )
}

fn variation(variation: &LatencyVariation) -> String {
    format!(
        "Latency was {} (median), {} (p90), {} (p95), {} (max). Without a queue it is about {} (p5).",
        milliseconds(variation.p50_s),
        milliseconds(variation.p90_s),
        milliseconds(variation.p95_s),
        milliseconds(variation.max_s),
        milliseconds(variation.base_p5_s)
    )
}

/// In which direction the delay was added.
fn place(phase: PhaseKind, found: Option<Direction>, up_ratio: f64) -> String {
    let Some(found) = found else {
        return format!(
            " {} of the added delay is on the uplink, the rest on the downlink.",
            percent(up_ratio)
        );
    };
    let (ratio, link) = match found {
        Direction::Up => (up_ratio, "uplink"),
        Direction::Down => (1.0 - up_ratio, "downlink"),
    };
    let loaded = match phase {
        PhaseKind::Up => Some(Direction::Up),
        PhaseKind::Down => Some(Direction::Down),
        _ => None,
    };
    let surprise = match loaded {
        Some(loaded) if loaded != found => {
            format!(", where the {}'s ACKs wait", noun(loaded))
        }
        _ => String::new(),
    };
    format!(" {} of the added delay is on the {link}{surprise}.", nearly_all(ratio))
}

/// A share to start a sentence: `All` or a percentage.
fn nearly_all(ratio: f64) -> String {
    if ratio > 0.995 { "All".to_string() } else { percent(ratio) }
}

fn outage(outage: &Outage) -> String {
    let (longest, when) = (seconds(outage.longest_s), while_doing(outage.phase));
    match outage.count {
        1 => format!("The link delivered nothing for {longest} {when}: an outage, not a queue."),
        n => format!(
            "The link delivered nothing {n} times {when} (longest {longest}, {} in total): outages, not a queue.",
            seconds(outage.total_s)
        ),
    }
}

fn buffer(size: &BufferSize, direction: Option<Direction>) -> String {
    let link = match direction {
        Some(Direction::Down) => "downlink",
        _ => "uplink",
    };
    let or_more = if size.is_rate_lower_bound { " or more" } else { "" };
    let rate = format!("{}{or_more}", rate(size.rate_bits_per_second));
    let held = match size.limit {
        Some(BufferLimit::Packets) => {
            format!("{} packets", thousands(size.ip_bytes / FULL_IP_PACKET.get() as f64))
        }
        Some(BufferLimit::Bytes) | None => bytes(size.ip_bytes),
    };
    let delay = milliseconds(size.delay_s);
    let about = if size.is_lower_bound { "at least" } else { "about" };
    let check = size.check.as_ref().map(|check| buffer_check(check, size)).unwrap_or_default();
    format!("The {link} buffer holds {about} {held} ({delay} at {rate}).{check}")
}

fn buffer_check(check: &BufferCheck, size: &BufferSize) -> String {
    if check.agrees && !size.is_lower_bound {
        return " Bursts confirm it.".to_string();
    }
    let least = if check.is_lower_bound { "at least " } else { "" };
    let held = format!("{least}{} ({})", bytes(check.ip_bytes), milliseconds(check.delay_s));
    if check.agrees { format!(" Bursts found {held}.") } else { format!(" Bursts found {held} instead.") }
}

fn fill_time(fill: &FillTime) -> String {
    format!(
        "The queue took {} to fill {}: the delay grew by {} per second.",
        seconds(fill.fill_s),
        while_doing(fill.phase),
        milliseconds(fill.growth_ratio)
    )
}

fn drain_time(drain: &DrainTime) -> String {
    let time = seconds(drain.drain_s);
    if drain.is_empty {
        format!("The queue took {time} to empty after the load stopped.")
    } else {
        format!("The queue was still not empty {time} after the load stopped.")
    }
}

fn emptied(found: &QueueEmptied) -> String {
    format!(
        "A queue emptied {}: {} replies arrived together after {}, with delays falling from {} to {}.",
        if found.count == 1 { "once".into() } else { format!("{} times", found.count) },
        found.answered_packets,
        seconds(found.at_s + found.first_s),
        milliseconds(found.first_s),
        milliseconds(found.last_s)
    )
}

fn starved(starvation: &AckStarvation) -> String {
    let AckStarvation { alone_bits_per_second, loaded_bits_per_second, ack_delay_s } = starvation;
    format!(
        "Uploading slows the download from {} to {} ({}): its ACKs wait {} (median) in the upload queue.",
        rate(*alone_bits_per_second),
        rate(*loaded_bits_per_second),
        percent(loaded_bits_per_second / alone_bits_per_second),
        milliseconds(*ack_delay_s)
    )
}

fn probe_loss(loss: &ProbeLoss, direction: Option<Direction>) -> String {
    let link = match direction {
        Some(Direction::Up) => " on the uplink",
        Some(Direction::Down) => " on the downlink",
        None => "",
    };
    format!(
        "{} of the probes were lost{link} {} ({} of {}).",
        percent(loss.lost_packets as f64 / loss.sent_packets.max(1) as f64),
        while_doing(loss.phase),
        thousands(loss.lost_packets as f64),
        thousands(loss.sent_packets as f64)
    )
}

fn datagram_loss(loss: &DatagramLoss, direction: Option<Direction>) -> String {
    let way = match direction {
        Some(Direction::Up) => " sent up",
        Some(Direction::Down) => " sent down",
        None => "",
    };
    format!(
        "{} of the datagrams of \"{}\"{way} were lost ({} of {}).",
        percent(loss.lost_packets as f64 / loss.sent_packets.max(1) as f64),
        loss.workload,
        thousands(loss.lost_packets as f64),
        thousands(loss.sent_packets as f64)
    )
}

fn rate_change(change: &RateChange, direction: Option<Direction>) -> String {
    let link = match direction {
        Some(Direction::Down) => "downlink",
        _ => "uplink",
    };
    let (first, last) = (rate(change.first_bits_per_second), rate(change.last_bits_per_second));
    let range = format!(
        "between {} and {}",
        rate(change.lowest_bits_per_second),
        rate(change.highest_bits_per_second)
    );
    if change.change_count == 0 {
        return format!("The rate of the {link} varied under load, {range} (p10, p90).");
    }
    if change.change_count == 1 {
        let verb =
            if change.last_bits_per_second < change.first_bits_per_second { "dropped" } else { "rose" };
        let after = seconds(change.last_change_s);
        return format!("The rate of the {link} {verb} from {first} to {last} after {after} of load.");
    }
    format!(
        "The rate of the {link} changed {} times under load, {range}. At the end it was {last}.",
        change.change_count
    )
}

fn start_up(start: &StartUp) -> String {
    let load = match start.phase {
        PhaseKind::Up => "an upload",
        PhaseKind::Down => "a download",
        _ => "both",
    };
    format!(
        "Starting {load} raised latency to {} for {}. Then it was {} (median), {} (p90).",
        milliseconds(start.start_max_s),
        seconds(start.duration_s),
        milliseconds(start.steady_p50_s),
        milliseconds(start.steady_p90_s)
    )
}

fn lower_bound(bound: &LowerBound) -> String {
    let when = while_doing(bound.phase);
    match &bound.cause {
        BoundCause::StillGrowing { end, middle_p50_s, last_p50_s } => {
            let limit = limit(*end);
            format!(
                "Latency {when} was still growing when {limit} ended the load (median {} in its middle third, {} in its last): \
                 the numbers are lower bounds.",
                milliseconds(*middle_p50_s),
                milliseconds(*last_p50_s)
            )
        }
        BoundCause::NotReached { .. } => {
            format!("The load {when} may not have filled the line: no packet waited or was lost.")
        }
    }
}
