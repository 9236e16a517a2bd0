//! What is wrong with a capture.
use alloc::format;
use alloc::string::{String, ToString};
use fathom_run::CaptureDefect;
use fathom_text::{bytes, percent, thousands};

/// What is wrong with a capture, what that means, and what to do.
pub fn defect(defect: &CaptureDefect) -> String {
    match defect {
        CaptureDefect::Empty => {
            "It holds no frame: nothing passed, or a filter let nothing through.".to_string()
        }
        CaptureDefect::NoIp { frames } => {
            format!("None of its {frames} frames holds IP: was it captured on the right interface?")
        }
        CaptureDefect::DroppedFrames { dropped_frames, frames } => format!(
            "The capturing system dropped {dropped_frames} frames and kept {frames}: some losses seen here are its own; \
             capture with a larger buffer (tcpdump -B) or a smaller snapshot length (-s 128)."
        ),
        CaptureDefect::CutHeaders { frames, stored_bytes } => format!(
            "{} cut within their headers, after at most {stored_bytes} bytes: their timestamps or more are missing; \
             capture with a snapshot length of 128 or more.",
            are(*frames)
        ),
        CaptureDefect::Encrypted { frames } => {
            format!("{} encrypted by 802.11: capture on the host or on the wired side instead.", are(*frames))
        }
        CaptureDefect::UnknownLinkType { link_type, frames } => {
            format!("{} of an unknown link type ({link_type}) and skipped.", are(*frames))
        }
        CaptureDefect::Untimed { frames } => {
            format!("{} without a time: the time of the frame before is used.", are(*frames))
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
            "The clock steps back {}, by up to {} (frame {frame}): delays across such a step are wrong.",
            times(*count),
            nanoseconds(*max_ns)
        ),
        CaptureDefect::ClockSet { count, max_ns, frame } => format!(
            "The clock was set {} by more than a year, by up to {:.1} years (frame {frame}): times are given as if it had \
             gone on.",
            times(*count),
            *max_ns as f64 / YEAR_NS
        ),
        CaptureDefect::Gaps { count, max_ns, frame } => format!(
            "Nothing was captured {} for more than a minute, for up to {} (before frame {frame}): \
             the line was silent, the capture paused, or the clock set.",
            times(*count),
            nanoseconds(*max_ns)
        ),
        CaptureDefect::CoarseClock { step_ns } => {
            format!(
                "The capture's clock counts in steps of {}: no delay is known better than that.",
                nanoseconds(*step_ns)
            )
        }
        _ => String::new(),
    }
}

fn packets(defect: &CaptureDefect) -> String {
    match defect {
        CaptureDefect::SuperPackets { packets, max_bytes } => format!(
            "{packets} packets are longer than the path allows (up to {max_bytes} bytes): they were captured before the network \
             card split them or after it joined them, and represent several; ethtool -K IFACE tso off gso off gro off avoids it."
        ),
        CaptureDefect::Duplicates { packets, is_estimate } => {
            let count = match (packets, is_estimate) {
                (n, true) => format!("About {n} packets are"),
                (1, false) => "1 packet is".to_string(),
                (n, false) => format!("{n} packets are"),
            };
            format!(
                "{count} there more than once, as captured on several interfaces of one path or by a mirror port: each counts \
                 once, as it was seen first."
            )
        }
        CaptureDefect::OneDirection { flows, all_flows, from, to } => {
            one_direction(*flows, *all_flows, [from, to])
        }
        CaptureDefect::MissedData { bytes: missed, ratio, flows, all_flows } => format!(
            "{} of the data of connections seen from their SYN on was acknowledged and never captured ({}, in {} of {} flows): \
             the capture missed packets, or they took another path. Payload and goodput are too low by as much; what seems lost \
             or retransmitted for no reason may be what was missed.",
            percent(*ratio),
            bytes(*missed as f64),
            thousands(*flows as f64),
            thousands(*all_flows as f64)
        ),
        _ => String::new(),
    }
}

fn one_direction(flows: u64, all_flows: u64, ends: [&Option<String>; 2]) -> String {
    let count = match (flows, all_flows) {
        (1, 1) => "Of the one TCP flow".to_string(),
        (some, all) if some == all => format!("Of all {all} TCP flows"),
        (some, all) => format!("Of {some} of {all} TCP flows"),
    };
    let what = match ends {
        [Some(from), Some(to)] => format!("the packets from {from} to {to}"),
        [Some(from), None] => format!("the packets from {from}"),
        [None, Some(to)] => format!("the packets to {to}"),
        [None, None] => "the packets of several hosts".to_string(),
    };
    format!(
        "{count} only one direction was captured: {what} are missing, as packets took another path, or a tap took one \
         direction. Round trips, data in flight and causes of retransmissions cannot be known there; a queue shows by \
         timestamps alone, and only before the point of capture."
    )
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_string() } else { format!("{count} times") }
}

const YEAR_NS: f64 = 365.25 * 86_400e9;

fn are(frames: u64) -> String {
    if frames == 1 { "1 frame is".to_string() } else { format!("{frames} frames are") }
}

/// Two or three digits of a time, in the unit that suits it.
fn nanoseconds(ns: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us"), (1, "ns")];
    let (unit, name) = UNITS.into_iter().find(|(unit, _)| ns >= *unit).unwrap_or((1, "ns"));
    let (whole, tenth) = (ns / unit, ns % unit * 10 / unit);
    if whole >= 10 || tenth == 0 { format!("{whole} {name}") } else { format!("{whole}.{tenth} {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_carry_their_figures() {
        let host = |name: &str| Some(String::from(name));
        for (of, words) in [
            (
                CaptureDefect::CutHeaders { frames: 1, stored_bytes: 85 },
                "1 frame is cut within their headers, after at most 85 b",
            ),
            (
                CaptureDefect::ClockStepsBack { count: 2, max_ns: 1_000_000_000, frame: 2 },
                "The clock steps back 2 times, by up to 1 s (frame 2): ",
            ),
            (
                CaptureDefect::ClockSet { count: 3, max_ns: 1_800_000_002_000_000_000, frame: 6 },
                "The clock was set 3 times by more than a year, by up to 57.0 years (frame 6): ",
            ),
            (
                CaptureDefect::CoarseClock { step_ns: 1_500_000 },
                "The capture's clock counts in steps of 1.5 ms: ",
            ),
            (
                CaptureDefect::Gaps { count: 1, max_ns: 196_010_999_998, frame: 6 },
                "Nothing was captured once for more",
            ),
            (
                CaptureDefect::Duplicates { packets: 9, is_estimate: true },
                "About 9 packets are there more than once",
            ),
            (
                CaptureDefect::OneDirection { flows: 4, all_flows: 4, from: host("a"), to: host("b") },
                "Of all 4 TCP flows only one direction was captured: the packets from a to b are missing",
            ),
            (
                CaptureDefect::MissedData { bytes: 2_000_000, ratio: 0.2, flows: 2, all_flows: 3 },
                "20 % of the data of connections seen from their SYN on",
            ),
        ] {
            let text = defect(&of);
            assert!(text.starts_with(words), "{text}");
        }
    }
}
