//! Capture files of a running line, and the fate of the packets in them.
mod block;
mod point;
mod recorder;
mod writer;

pub(crate) use point::Point;
pub(crate) use recorder::{Recorder, Seen};

use fathom_units::{Direction, WallTime};
use std::fmt;
use std::path::PathBuf;

/// Settings of captures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaptureOptions {
    /// Directory of the files; it is created if missing.
    pub directory: PathBuf,
    /// Bytes kept of each packet, from the IP header on.
    pub snaplen: u32,
    /// At the ends, captures super-packets as the kernels exchange them, as on a network card with
    /// TSO and GRO. Otherwise captures each packet as on the wire, as with a card without offloads.
    pub super_packets: bool,
}

impl CaptureOptions {
    /// Headers of packets as on the wire.
    #[must_use]
    pub const fn new(directory: PathBuf) -> Self {
        // IPv6 and TCP with all options take 100 bytes.
        CaptureOptions { directory, snaplen: 128, super_packets: false }
    }
}

/// Results of a capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaptureReport {
    /// Files along the path, from client to server.
    pub files: Vec<CapturedFile>,
    /// Packets dropped by queues or lost on links, in order of time.
    pub losses: Vec<Loss>,
}

impl CaptureReport {
    /// Names of the files before and after the queue of `hop`, counted from 0.
    ///
    /// # Panics
    /// If the line has no such hop.
    #[must_use]
    pub fn around(&self, hop: usize, direction: Direction) -> [&str; 2] {
        let position = fathom_link::LinePosition { hop, direction };
        [Point::before(position), Point::behind(position)]
            .map(|point| self.files[point.index()].name.as_str())
    }
}

/// A capture file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CapturedFile {
    /// File name in the directory.
    pub name: String,
    /// Description of the capture point.
    pub place: String,
    /// Number of packets in the file.
    pub packets: u64,
    /// Packets missing because the disk was slower than the line.
    pub missing: u64,
}

/// A packet that was dropped or lost.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loss {
    /// Time of the loss.
    pub at: WallTime,
    /// Hop of the queue or link, from 0.
    pub hop: usize,
    /// Direction of the packet.
    pub direction: Direction,
    /// Reason of the loss.
    pub reason: LossReason,
    /// Frame number, from 1, in the file of the sending end; `None` if it is missing there or a
    /// router sent the packet.
    pub frame: Option<u64>,
}

/// Why a packet was lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossReason {
    /// The queue was full.
    Overlimit,
    /// The AQM dropped it.
    Aqm,
    /// The queue dropped it for another reason.
    Other,
    /// The link lost it after the queue.
    Link,
}

impl fmt::Display for LossReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LossReason::Overlimit => "overlimit",
            LossReason::Aqm => "aqm",
            LossReason::Other => "other",
            LossReason::Link => "link",
        })
    }
}
