//! Tests of a switch.
use crate::numbers::{Number, Value, value};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use fathom_diagnose::Diagnosis;
use fathom_run::{
    BufferLimit, Conclusion, HeadOfLineBlocking, LosslessBurst, PauseFrames, PortOverload, SharedBuffer,
    Spacing,
};
use fathom_text::{bytes, counted, milliseconds, percent, seconds, thousands};

pub(crate) fn overload(overload: &PortOverload) -> String {
    let spacing = match overload.spacing {
        Spacing::Even => "even",
        Spacing::Random => "random",
    };
    let delay =
        overload.delay_s.map_or_else(String::new, |delay| format!("pings take {}; ", milliseconds(delay)));
    let fill = overload.fill_s.map_or_else(String::new, |fill| {
        format!(" The buffer fills in {}, and empties in {}.", seconds(fill), milliseconds(overload.drain_s))
    });
    format!(
        "At {} load ({spacing} spacing), {delay}{} of the frames and {} of the pings are lost.{fill}",
        percent(overload.load_ratio),
        percent(overload.loss_ratio),
        percent(overload.ping_loss_ratio),
    )
}

pub(crate) fn lossless(burst: &LosslessBurst) -> String {
    let ports = if burst.port_count > 1 { "all ports at once" } else { "one port" };
    let frames = thousands(burst.sent_packets as f64);
    format!("{frames} frames ({}) from {ports} pass without loss.", bytes(burst.bytes))
}

pub(crate) fn shared(shared: &SharedBuffer) -> String {
    match shared.is_shared {
        true => {
            format!("Ports share the buffer: with another full one, {} is left.", percent(shared.left_ratio))
        }
        false => "Ports have separate buffers.".to_string(),
    }
}

pub(crate) fn blocking(blocking: &HeadOfLineBlocking) -> String {
    match blocking.is_blocked {
        true => format!(
            "Head-of-line blocking: pings to another port take {} longer, and {} are lost.",
            milliseconds(blocking.delay_s),
            percent(blocking.loss_ratio)
        ),
        false => "No head-of-line blocking.".to_string(),
    }
}

pub(crate) fn pause(frames: &PauseFrames) -> String {
    frames.sent_packets.map_or_else(
        || "No interface counts pause frames.".to_string(),
        |sent| format!("The switch sent {}.", counted(sent, "pause frame", "pause frames")),
    )
}

/// Rows of numbers, in addition to those of the buffer.
pub(crate) fn numbers(diagnosis: &Diagnosis) -> Vec<Number> {
    let row = |label, of: fn(&Conclusion) -> Vec<Value>| Number {
        label,
        values: diagnosis.findings.iter().flat_map(|finding| of(&finding.conclusion)).collect(),
    };
    Vec::from([
        row("Counts", |conclusion| match conclusion {
            Conclusion::MeasuredBuffer(buffer) => buffer.limit.into_iter().map(limit).collect(),
            _ => Vec::new(),
        }),
        row("Overload", |conclusion| match conclusion {
            Conclusion::PortOverload(overload) => overloaded(overload),
            _ => Vec::new(),
        }),
        row("Lossless burst", |conclusion| match conclusion {
            Conclusion::LosslessBurst(burst) => {
                let frames = format!("{} frames", thousands(burst.sent_packets as f64));
                Vec::from([value(frames, if burst.port_count > 1 { "incast" } else { "one port" })])
            }
            _ => Vec::new(),
        }),
        row("Other ports", |conclusion| match conclusion {
            Conclusion::SharedBuffer(shared) => {
                let kind = if shared.is_shared { "shared" } else { "separate" };
                Vec::from([value(kind.to_string(), "buffers")])
            }
            Conclusion::HeadOfLineBlocking(blocking) => {
                let delay = format!("+{}", milliseconds(blocking.delay_s));
                Vec::from([value(delay, "delay"), value(percent(blocking.loss_ratio), "loss")])
            }
            _ => Vec::new(),
        }),
        row("Pause frames", |conclusion| match conclusion {
            Conclusion::PauseFrames(frames) => {
                let sent = frames.sent_packets.map(|sent| thousands(sent as f64));
                Vec::from([value(sent.unwrap_or_else(|| "not counted".to_string()), "")])
            }
            _ => Vec::new(),
        }),
    ])
}

fn limit(limit: BufferLimit) -> Value {
    let counts = match limit {
        BufferLimit::Packets => "packets",
        BufferLimit::Bytes => "bytes",
    };
    value(counts.to_string(), "")
}

fn overloaded(overload: &PortOverload) -> Vec<Value> {
    let delay = overload.delay_s.map(|delay| value(milliseconds(delay), "ping"));
    let lost = [(overload.loss_ratio, "of frames lost"), (overload.ping_loss_ratio, "of pings lost")];
    delay.into_iter().chain(lost.map(|(ratio, of)| value(percent(ratio), of))).collect()
}
