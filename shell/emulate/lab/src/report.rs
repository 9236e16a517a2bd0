//! The report of a line.
use crate::CaptureReport;
use fathom_run::Series;
use fathom_stats::DelayHistogram;
use fathom_units::{Bytes, Direction};

/// Ground truth about the line, as only the emulator knows it.
#[derive(Clone, Debug)]
pub struct LabReport {
    /// Sampled backlog, sojourn time, drops and marks of each queue, ready for a `Run`; `scope` is
    /// the name of the hop.
    pub series: Vec<Series>,
    /// Delay between the scheduled time of each packet and its delivery to the receiving kernel.
    /// For `Instrument::line_lateness`.
    pub line_lateness: DelayHistogram,
    /// Totals of each queue, from the client to the server, up before down.
    pub queues: Vec<QueueReport>,
    /// Results of the capture, if enabled.
    pub capture: Option<CaptureReport>,
    /// Packets that did not pass the line.
    pub strays: Strays,
    /// Notes for the reader, such as missing IPv6 or refused real-time priority.
    pub notes: Vec<fathom_run::Note>,
}

/// Totals of one queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueueReport {
    /// Name of its hop.
    pub hop: String,
    /// Direction of its packets.
    pub direction: Direction,
    /// Packets that arrived.
    pub arrived_packets: u64,
    /// Dropped packets.
    pub dropped_packets: u64,
    /// Packets marked CE.
    pub marked_packets: u64,
    /// Largest sampled backlog.
    pub max_backlog: Bytes,
}

/// Packets that did not pass the line, by reason.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Strays {
    /// Not IP packets.
    pub malformed_packets: u64,
    /// Refused by the receiving kernel.
    pub refused_packets: u64,
    /// Lost while the line was down.
    pub while_down_packets: u64,
}
