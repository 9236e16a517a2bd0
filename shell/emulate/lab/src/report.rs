//! What a lab saw of its own line.
use crate::CaptureReport;
use fathom_run::Series;
use fathom_stats::DelayHistogram;
use fathom_units::{Bytes, Direction};

/// The truth about the line, as only the emulator knows it.
#[derive(Clone, Debug)]
pub struct LabReport {
    /// Backlog, sojourn, drops and marks of each queue, sampled; `scope` is the hop's name. Ready for a `Run`.
    pub series: Vec<Series>,
    /// How late each packet was handed to the receiving kernel after its scheduled moment. For `Instrument::line_lateness`.
    pub line_lateness: DelayHistogram,
    /// Totals of each queue, from the user's edge to the far side, up before down.
    pub queues: Vec<QueueReport>,
    /// What was captured, if that was asked for.
    pub capture: Option<CaptureReport>,
    /// Packets that did not take part.
    pub strays: Strays,
    /// What the reader should know: IPv6 left out, real-time priority refused.
    pub notes: Vec<fathom_run::Note>,
}

/// Totals of one queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueueReport {
    /// Name of the hop that the queue is in.
    pub hop: String,
    /// Direction of the packets in it.
    pub direction: Direction,
    /// Packets that came in.
    pub arrived_packets: u64,
    /// Packets that it dropped.
    pub dropped_packets: u64,
    /// Packets that it marked CE.
    pub marked_packets: u64,
    /// Largest backlog at a sample.
    pub max_backlog: Bytes,
}

/// Packets that did not take part, and why.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Strays {
    /// They were no IP packets.
    pub malformed_packets: u64,
    /// The receiving kernel refused them.
    pub refused_packets: u64,
    /// They were lost while the line was down.
    pub while_down_packets: u64,
}
