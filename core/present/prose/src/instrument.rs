//! What the instrument did to a result, and why a run has no verdict.
use crate::phase::while_doing;
use crate::queue::{self, host, packets};
use crate::traffic;
use alloc::format;
use alloc::string::{String, ToString};
use fathom_run::{CpuCause, InstrumentEffect, InstrumentPart, Reason};
use fathom_text::{counted, milliseconds, percent, rate, thousands};
use fathom_units::Direction;

const fn part_name(part: InstrumentPart) -> &'static str {
    match part {
        InstrumentPart::ProbeTimer => "the probe timer",
        InstrumentPart::ProbeSending => "probe sending",
        InstrumentPart::EmulatedLine => "the emulated line",
    }
}

const fn cpu_cause(cause: CpuCause) -> &'static str {
    match cause {
        CpuCause::Busy => "the CPUs were busy",
        CpuCause::Stolen => "the hypervisor gave the CPUs to other guests",
    }
}

/// `The ...`, from `the ...`.
pub(crate) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + chars.as_str())
}

pub(crate) fn effect(effect: &InstrumentEffect) -> String {
    match effect {
        InstrumentEffect::Incomplete { why } => {
            format!("The result is incomplete: {}.", crate::interruption(why))
        }
        InstrumentEffect::Late { part, lateness_p95_s } => {
            format!("{} was {} late (p95).", capitalized(part_name(*part)), milliseconds(*lateness_p95_s))
        }
        InstrumentEffect::LackOfCpu { cause, cpu_ratio } => {
            let limited = match cause {
                CpuCause::Busy => ", which may have limited it",
                CpuCause::Stolen => "",
            };
            format!(
                "{} for {} of the time under load (median){limited}.",
                capitalized(cpu_cause(*cause)),
                percent(*cpu_ratio)
            )
        }
        InstrumentEffect::FewKernelTimestamps { kernel_timestamp_ratio } => format!(
            "Only {} of the replies carried a kernel timestamp: the others include this program's wake-up time.",
            percent(*kernel_timestamp_ratio)
        ),
        InstrumentEffect::ClockStepped { largest_s } => format!(
            "The wall clock was set during the run, by up to {}. Delays are not affected.",
            milliseconds(*largest_s)
        ),
        InstrumentEffect::ProbesNotSent { not_sent_packets, due_packets, why } => format!(
            "{} of {} probes were not sent in time, mostly because {}.",
            thousands(*not_sent_packets as f64),
            thousands(*due_packets as f64),
            crate::note::not_sent(why)
        ),
        InstrumentEffect::CaptureDefect { source, defect } => {
            format!("{source}: {}", crate::defect::defect(defect))
        }
        InstrumentEffect::Undetermined { unknown } => queue::unknown(unknown),
        captures => between_captures(captures),
    }
}

/// What two captures are to each other.
fn between_captures(effect: &InstrumentEffect) -> String {
    match effect {
        InstrumentEffect::CaptureClockSet { captures: [from, to] } => {
            format!("A clock was set during capture: the delay between {from} and {to} is unknown.")
        }
        InstrumentEffect::CaptureMissed { captures: [_, to], missed_packets } => format!(
            "{to} missed {} that a later capture has: the network did not lose {}.",
            packets(*missed_packets),
            them(*missed_packets)
        ),
        InstrumentEffect::CaptureAppeared { captures: [from, to], appeared_packets } => format!(
            "{to} has {} that {from} lacks: {from} missed {}, or they entered in between.",
            packets(*appeared_packets),
            them(*appeared_packets)
        ),
        InstrumentEffect::CaptureUnjudged { captures: [from, to], unjudged_packets } => format!(
            "The fate of {} from {from} is unknown: {to} was not running then.",
            packets(*unjudged_packets)
        ),
        InstrumentEffect::Translated { captures: [from, to], flow_count } => format!(
            "A NAT between {from} and {to} rewrites {}; packets are matched by content.",
            counted(*flow_count, "flow", "flows")
        ),
        _ => String::new(),
    }
}

const fn them(count: u64) -> &'static str {
    if count == 1 { "it" } else { "them" }
}

/// That an end, and not the line, was the limit.
fn end_limit(reason: &Reason) -> String {
    match reason {
        Reason::ReceiverLimited { direction, limited_ratio } => format!(
            "{}, not your line, was the limit: its receive window was full {} of the time.",
            if *direction == Direction::Up { "The server" } else { "This computer" },
            percent(*limited_ratio)
        ),
        Reason::SenderIdle => {
            "The server, not your line, was the limit: it often had nothing to send.".to_string()
        }
        _ => "The server, not your line, was probably the limit: nothing waited or was lost.".to_string(),
    }
}

/// Why there is no result, in one or two sentences.
pub(crate) fn reason(reason: &Reason) -> String {
    match reason {
        Reason::NoAnswers => "Too few probes were answered.".to_string(),
        Reason::NotMeasured => "Nothing was measured.".to_string(),
        Reason::NoIdleLatency => "The latency of the idle line was not measured.".to_string(),
        Reason::NotLoaded => "The line was not loaded while latency was measured.".to_string(),
        Reason::BelowCapacity => "The load never filled the line.".to_string(),
        Reason::NoQueueFilled => "No burst filled a buffer.".to_string(),
        Reason::UnknownDirection => "Requests or replies waited: use `fathom serve`.".to_string(),
        Reason::RepliesLimited => "The host limits replies, or a policer drops requests.".to_string(),
        Reason::NothingDelivered => "The load delivered nothing.".to_string(),
        Reason::ConnectionBroken { phase, loss_ratio } => {
            format!("Too many probes were lost {}: {}.", while_doing(*phase), percent(*loss_ratio))
        }
        Reason::Late { part, lateness_p95_s, increase_s } => format!(
            "This computer was too busy: {} was {} late (p95), enough to explain +{}.",
            part_name(*part),
            milliseconds(*lateness_p95_s),
            milliseconds(*increase_s)
        ),
        Reason::CpuExplains { cause, cpu_ratio, increase_s } => format!(
            "This computer was too busy: {} for {} of the time (median), enough to explain +{}.",
            cpu_cause(*cause),
            percent(*cpu_ratio),
            milliseconds(*increase_s)
        ),
        Reason::CpuLimited { cause, cpu_ratio, phase } => format!(
            "This computer limited the load, not the line: {} for {} of the time {} (median).",
            cpu_cause(*cause),
            percent(*cpu_ratio),
            while_doing(*phase)
        ),
        Reason::ReceiverLimited { .. } | Reason::SenderLimited | Reason::SenderIdle => end_limit(reason),
        Reason::ProbesLeftOut { left_out_ratio } => {
            format!("This computer was too busy to send {} of the probes in time.", percent(*left_out_ratio))
        }
        Reason::UnknownLoad { increase_p50_s, increase_p90_s } => format!(
            "Latency rose by {} (median), {} (p90), but the load is unknown.",
            milliseconds(*increase_p50_s),
            milliseconds(*increase_p90_s)
        ),
        Reason::OtherTraffic { .. } | Reason::LineInUse { .. } => {
            format!("Before the load, {}. Stop it and test again.", traffic::before_load(reason))
        }
        Reason::NoTcp => "This capture contains no TCP.".to_string(),
        Reason::NoProbes { from, to, bits_per_second } => {
            let host = host(to);
            format!(
                "This capture contains UDP ({} from {from} to {to}), but no round trips that show its delay. Capture again \
                 with a ping, from before the load: ping {host}",
                rate(*bits_per_second)
            )
        }
        Reason::NeverIdle { from, to, rtt_p50_s } => format!(
            "The latency to {to} was {} (median), and {from} sent UDP throughout: a queue that was always full \
             does not show. Capture again from before the load.",
            milliseconds(*rtt_p50_s)
        ),
        Reason::NoQueueSeen { flows: 1 } => "The only TCP flow in this capture shows no queue.".to_string(),
        Reason::NoQueueSeen { flows } => {
            format!("None of the {flows} TCP flows in this capture shows a queue.")
        }
    }
}
