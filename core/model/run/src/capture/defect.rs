//! What can be wrong with a capture.
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// What is wrong with a capture, so that none of it is taken for what the network did.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CaptureDefect {
    /// It holds no frame.
    Empty,
    /// None of its frames holds IP.
    NoIp {
        /// Frames.
        frames: u64,
    },
    /// The capturing system dropped frames.
    DroppedFrames {
        /// How many.
        dropped_frames: u64,
        /// Frames that it kept.
        frames: u64,
    },
    /// Frames are cut within their headers.
    CutHeaders {
        /// How many.
        frames: u64,
        /// Bytes stored of a frame, at most.
        stored_bytes: u64,
    },
    /// The clock steps back.
    ClockStepsBack {
        /// How often.
        count: u64,
        /// The largest step.
        max_ns: u64,
        /// The frame after it.
        frame: u64,
    },
    /// The clock was set by more than a year; times are given as if it had gone on.
    ClockSet {
        /// How often.
        count: u64,
        /// The largest step.
        max_ns: u64,
        /// The frame after it.
        frame: u64,
    },
    /// The clock counts in coarse steps.
    CoarseClock {
        /// One step.
        step_ns: u64,
    },
    /// Nothing was captured for more than a minute.
    Gaps {
        /// How often.
        count: u64,
        /// The longest time.
        max_ns: u64,
        /// The frame after it.
        frame: u64,
    },
    /// Packets are longer than the path allows, as the network card splits or joins them.
    SuperPackets {
        /// How many.
        packets: u64,
        /// The longest.
        max_bytes: u64,
    },
    /// Packets are there more than once.
    Duplicates {
        /// How many.
        packets: u64,
        /// The number is an estimate, from a sample.
        is_estimate: bool,
    },
    /// Frames are encrypted by 802.11.
    Encrypted {
        /// How many.
        frames: u64,
    },
    /// Frames are of a link type that is not known.
    UnknownLinkType {
        /// The first such type, by its number in pcap.
        link_type: u16,
        /// How many.
        frames: u64,
    },
    /// Frames have no time of their own.
    Untimed {
        /// How many.
        frames: u64,
    },
    /// Of some flows one direction was captured.
    OneDirection {
        /// How many.
        flows: u64,
        /// TCP flows in the capture.
        all_flows: u64,
        /// The sender of what is missing, if it is one host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// The receiver of what is missing, if it is one host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    },
    /// Data was acknowledged that the capture does not hold.
    MissedData {
        /// Bytes.
        bytes: u64,
        /// Share of the data, 0 to 1.
        ratio: f64,
        /// Flows that lack data.
        flows: u64,
        /// TCP flows in the capture.
        all_flows: u64,
    },
    /// It could not be read to its end.
    Unreadable {
        /// What the system or the reader of its format says.
        message: String,
    },
    /// As schema version 1 has it.
    Text {
        /// A sentence.
        text: String,
    },
}
