//! What is wrong with a capture.
use alloc::format;
use alloc::string::{String, ToString};
use fathom_run::CaptureDefect;
use fathom_text::{bytes, counted, percent};

/// What is wrong with a capture, what that means, and what to do.
pub fn defect(defect: &CaptureDefect) -> String {
    match defect {
        CaptureDefect::Empty => "No frames: nothing was sent, or a filter removed everything.".to_string(),
        CaptureDefect::NoIp { frames } => {
            format!("None of its {} contains IP: wrong interface?", counted(*frames, "frame", "frames"))
        }
        CaptureDefect::DroppedFrames { dropped_frames, frames } => format!(
            "The capturing system dropped {} (and kept {frames}), so some losses are its own. Capture with a larger \
             buffer (tcpdump -B) or a shorter snapshot length (-s 128).",
            counted(*dropped_frames, "frame", "frames")
        ),
        CaptureDefect::CutHeaders { frames, stored_bytes } => format!(
            "{} cut within the headers (after at most {stored_bytes} bytes). Capture with a snapshot length of 128 or more.",
            are(*frames)
        ),
        CaptureDefect::Encrypted { frames } => {
            format!("{} encrypted by Wi-Fi (802.11): capture on the host or the wired side.", are(*frames))
        }
        CaptureDefect::UnknownLinkType { link_type, frames } => {
            format!("{} skipped: link type {link_type} is unknown.", are(*frames))
        }
        CaptureDefect::Untimed { frames } => {
            format!(
                "{} no timestamp: that of the previous frame is used.",
                counted(*frames, "frame has", "frames have")
            )
        }
        CaptureDefect::Unreadable { message } => message.clone(),
        CaptureDefect::Text { text } => text.clone(),
        of_clock @ (CaptureDefect::ClockStepsBack { .. }
        | CaptureDefect::ClockSet { .. }
        | CaptureDefect::CoarseClock { .. }
        | CaptureDefect::Gaps { .. }) => clock(of_clock),
        of_packets => packets(of_packets),
    }
}

fn clock(defect: &CaptureDefect) -> String {
    match defect {
        CaptureDefect::ClockStepsBack { count, max_ns, frame } => format!(
            "The clock steps back {}, by up to {} (frame {frame}): delays across a step are wrong.",
            times(*count),
            nanoseconds(*max_ns)
        ),
        CaptureDefect::ClockSet { count, max_ns, frame } => format!(
            "The clock was set {} by more than a year (up to {:.1} years, frame {frame}): times omit these steps.",
            times(*count),
            *max_ns as f64 / YEAR_NS
        ),
        CaptureDefect::Gaps { count, max_ns, frame } => format!(
            "{} of up to {} (before frame {frame}): the line was silent, the capture paused, or the clock was set.",
            counted(*count, "gap", "gaps"),
            nanoseconds(*max_ns)
        ),
        CaptureDefect::CoarseClock { step_ns } => {
            format!("The capture's clock has steps of {}: delays are no more precise.", nanoseconds(*step_ns))
        }
        _ => String::new(),
    }
}

fn packets(defect: &CaptureDefect) -> String {
    match defect {
        CaptureDefect::SuperPackets { packets, max_bytes } => format!(
            "{} longer than the path allows (up to {max_bytes} bytes): the network card splits or joins packets. To avoid this: \
             ethtool -K IFACE tso off gso off gro off",
            counted(*packets, "packet is", "packets are")
        ),
        CaptureDefect::Duplicates { packets, is_estimate } => {
            let about = if *is_estimate { "About " } else { "" };
            format!(
                "{about}{} in the capture more than once (from several interfaces, or a mirror port): each counts once.",
                counted(*packets, "packet is", "packets are")
            )
        }
        CaptureDefect::OneDirection { flows, all_flows, from, to } => {
            one_direction(*flows, *all_flows, [from, to])
        }
        CaptureDefect::MissedData { bytes: missed, ratio, flows, all_flows } => format!(
            "{} of the data of connections with a SYN was acknowledged but not captured ({}, in {flows} of {}): the \
             capture missed it, or it took another path. Payload and goodput are too low by that share; some losses may \
             not be real.",
            percent(*ratio),
            bytes(*missed as f64),
            counted(*all_flows, "flow", "flows")
        ),
        _ => String::new(),
    }
}

fn one_direction(flows: u64, all_flows: u64, ends: [&Option<String>; 2]) -> String {
    let count = match (flows, all_flows) {
        (1, 1) => "the only TCP flow".to_string(),
        (some, all) if some == all => format!("all {all} TCP flows"),
        (some, all) => format!("{some} of {all} TCP flows"),
    };
    let what = match ends {
        [Some(from), Some(to)] => format!("the packets from {from} to {to}"),
        [Some(from), None] => format!("the packets from {from}"),
        [None, Some(to)] => format!("the packets to {to}"),
        [None, None] => "the packets of several hosts".to_string(),
    };
    format!(
        "Only one direction of {count} was captured: {what} are missing (they took another path, or a tap copied one \
         direction). Round trips, data in flight and causes of retransmissions are unknown there. Queues are found only by \
         timestamps, before the capture point."
    )
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_string() } else { format!("{count} times") }
}

const YEAR_NS: f64 = 365.25 * 86_400e9;

fn are(frames: u64) -> String {
    counted(frames, "frame is", "frames are")
}

/// Two or three digits of a time, in the unit that suits it.
fn nanoseconds(ns: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us"), (1, "ns")];
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| ns >= *unit).unwrap_or((1, "ns"));
    let (whole, tenth) = (ns / unit, ns % unit * 10 / unit);
    if whole >= 10 || tenth == 0 { format!("{whole} {name}") } else { format!("{whole}.{tenth} {name}") }
}
