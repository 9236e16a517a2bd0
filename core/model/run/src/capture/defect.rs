//! Defects of a capture.
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// A defect of a capture, reported so that it is not mistaken for behavior of the network.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CaptureDefect {
    /// The capture contains no frames.
    Empty,
    /// No frame contains an IP packet.
    NoIp {
        /// Number of frames.
        frames: u64,
    },
    /// The capturing system dropped frames.
    DroppedFrames {
        /// Number of dropped frames.
        dropped_frames: u64,
        /// Number of captured frames.
        frames: u64,
    },
    /// The stored length cuts frames off within their headers.
    CutHeaders {
        /// Number of truncated frames.
        frames: u64,
        /// Snapshot length: the most bytes stored of a frame.
        stored_bytes: u64,
    },
    /// Timestamps step backwards.
    ClockStepsBack {
        /// Number of backward steps.
        count: u64,
        /// Largest backward step.
        max_ns: u64,
        /// Number of the frame after the largest step.
        frame: u64,
    },
    /// The clock was set by more than a year. Times are reported as if it had continued steadily.
    ClockSet {
        /// Number of steps.
        count: u64,
        /// Largest step.
        max_ns: u64,
        /// Number of the frame after the largest step.
        frame: u64,
    },
    /// The clock has a coarse resolution.
    CoarseClock {
        /// Resolution of the clock.
        step_ns: u64,
    },
    /// Nothing was captured for more than a minute.
    Gaps {
        /// Number of gaps.
        count: u64,
        /// Longest gap.
        max_ns: u64,
        /// Number of the frame after the longest gap.
        frame: u64,
    },
    /// Packets exceed the MTU because segmentation or receive offload was active while capturing.
    SuperPackets {
        /// Number of super-packets.
        packets: u64,
        /// Size of the largest super-packet.
        max_bytes: u64,
    },
    /// The capture contains duplicate packets.
    Duplicates {
        /// Number of duplicates.
        packets: u64,
        /// The number is an estimate from a sample.
        is_estimate: bool,
    },
    /// 802.11 frames are encrypted.
    Encrypted {
        /// Number of encrypted frames.
        frames: u64,
    },
    /// Frames have an unsupported link type.
    UnknownLinkType {
        /// Link type number (pcap `LINKTYPE_*`) of the first such frame.
        link_type: u16,
        /// Number of such frames.
        frames: u64,
    },
    /// Frames have no timestamp.
    Untimed {
        /// Number of frames without a timestamp.
        frames: u64,
    },
    /// Only one direction of some flows was captured.
    OneDirection {
        /// Number of flows with one direction.
        flows: u64,
        /// Number of TCP flows in the capture.
        all_flows: u64,
        /// Sender of the missing direction, if it is the same host for all flows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// Receiver of the missing direction, if it is the same host for all flows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    },
    /// Data was acknowledged that is missing from the capture.
    MissedData {
        /// Number of missing bytes.
        bytes: u64,
        /// Missing data as a share of all data, 0 to 1.
        ratio: f64,
        /// Number of flows with missing data.
        flows: u64,
        /// Number of TCP flows in the capture.
        all_flows: u64,
    },
    /// The capture could not be read to its end.
    Unreadable {
        /// Message of the operating system or of the file parser.
        message: String,
    },
    /// A sentence from a file of schema version 1.
    Text {
        /// The sentence.
        text: String,
    },
}
