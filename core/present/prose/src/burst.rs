//! Buffers as bursts of datagrams found them.
use crate::phase::noun;
use crate::queue::{measured_rule, with_error};
use crate::verdict::{Level, Verdict};
use alloc::format;
use alloc::string::{String, ToString};
use fathom_diagnose::{Diagnosis, Health};
use fathom_run::{BufferLimit, Conclusion, FirstBuffer, ManagementRule, Marks, MeasuredBuffer};
use fathom_text::{bytes, milliseconds, rate, thousands};
use fathom_units::Direction;

/// A buffer, in sentences.
pub(crate) fn buffer(buffer: &MeasuredBuffer, direction: Option<Direction>) -> String {
    let name = direction.map_or("port", noun);
    let link = rate(buffer.rate_bits_per_second.value);
    let bucket = buffer.bucket_bytes.map(bytes);
    if buffer.rule == Some(ManagementRule::Policer) {
        let bucket = bucket.unwrap_or_default();
        return format!("A policer on the {name} drops what exceeds {link} and {bucket} at once.");
    }
    let held = size(buffer);
    let shown = match buffer.is_lower_bound {
        true => format!("The {name} queue reached {held}: {} at {link}.", milliseconds(buffer.delay_s)),
        false => format!("The {name} buffer holds {held}: {} at {link}.", milliseconds(buffer.delay_s)),
    };
    let rule = match (buffer.is_per_flow, buffer.rule) {
        (true, _) => Some(ManagementRule::FairQueueing),
        (false, rule) => rule,
    };
    let rule = match rule {
        Some(rule) => format!(" {}", measured_rule(rule)),
        None if buffer.drops_early => " Packets were lost earlier.".to_string(),
        None => String::new(),
    };
    let bucket = bucket.filter(|_| management(buffer).is_none());
    let bucket = bucket.map_or_else(String::new, |bytes| format!(" A shaper passes {bytes} at once."));
    let (marks, first) = (buffer.marks.as_ref().map(marks), buffer.first.as_ref().map(first));
    format!("{shown}{rule}{bucket}{}{}", marks.unwrap_or_default(), first.unwrap_or_default())
}

fn marks(marks: &Marks) -> String {
    let from = |kind: &str, wait_s: f64| format!(" It marks {kind} packets from {}.", milliseconds(wait_s));
    let classic = match (marks.threshold_s, marks.rule.and_then(name)) {
        (Some(wait_s), _) => from("ECN", wait_s),
        (None, Some(rule)) => format!(" It marks ECN packets like {rule}."),
        (None, None) => " It marks ECN packets.".to_string(),
    };
    classic + &marks.l4s_threshold_s.map_or_else(String::new, |wait_s| from("L4S", wait_s))
}

fn first(first: &FirstBuffer) -> String {
    let (count, size) = (thousands(first.packets), bytes(first.packet_bytes));
    format!(" A buffer before it holds {count} packets of {size}.")
}

/// What keeps the queue short, or drops without one; `None` if packets wait in a plain buffer.
pub(crate) const fn management(buffer: &MeasuredBuffer) -> Option<&'static str> {
    match (buffer.is_per_flow, buffer.rule) {
        (true, _) => Some("fair queueing"),
        (false, Some(rule)) => name(rule),
        (false, None) => None,
    }
}

const fn name(rule: ManagementRule) -> Option<&'static str> {
    match rule {
        ManagementRule::Red => Some("RED"),
        ManagementRule::Codel => Some("CoDel"),
        ManagementRule::Pie => Some("PIE"),
        ManagementRule::Policer => Some("policer"),
        _ => None,
    }
}

/// `100 packets (within 1 %), 144 kB of full ones`.
fn size(buffer: &MeasuredBuffer) -> String {
    match (buffer.packets, buffer.limit) {
        (Some(packets), _) => {
            let count = with_error(packets, |count| format!("{} packets", thousands(count)));
            format!("{count}, {} of full ones", bytes(buffer.bytes.value))
        }
        (None, Some(BufferLimit::Bytes)) => {
            format!("{}, whatever the packets", with_error(buffer.bytes, bytes))
        }
        (None, _) => bytes(buffer.bytes.value),
    }
}

/// The verdict on the larger buffer.
pub(crate) fn verdict(diagnosis: &Diagnosis) -> Verdict {
    let measured = diagnosis.findings.iter().filter_map(|finding| match &finding.conclusion {
        Conclusion::MeasuredBuffer(buffer) => Some((finding.direction, buffer)),
        _ => None,
    });
    let rank = |(_, buffer): &(_, &MeasuredBuffer)| if buffer.is_bloated { buffer.delay_s } else { 0.0 };
    let worst = measured.max_by(|a, b| rank(a).total_cmp(&rank(b)));
    let level = Level::of(diagnosis.health);
    let headline = match worst {
        Some((direction, buffer)) if buffer.is_bloated => {
            let least = if buffer.is_lower_bound { "at least " } else { "" };
            let name = direction.map_or("port", noun);
            format!("The {name} buffer is too large: {least}{} when full.", milliseconds(buffer.delay_s))
        }
        // Pings waited for it, although no buffer is known.
        _ if diagnosis.health == Health::Bloated => "Everything waits when the line is busy.".to_string(),
        _ => {
            let is_port = worst.is_some_and(|(direction, _)| direction.is_none());
            format!("No buffer of this {} delays packets for long.", if is_port { "port" } else { "line" })
        }
    };
    Verdict { level, headline, consequence: None }
}
