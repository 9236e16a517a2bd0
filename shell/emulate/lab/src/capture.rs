//! Capture files of a line while it runs, and what became of the packets in them.
mod block;
mod point;
mod recorder;
mod writer;

pub(crate) use point::Point;
pub(crate) use recorder::{Recorder, Seen};

use fathom_units::{Direction, WallTime};
use std::fmt;
use std::path::PathBuf;

/// Where captures of the line go, and what is in them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaptureOptions {
    /// The folder for the files; it is made if it is not there.
    pub directory: PathBuf,
    /// Bytes kept of each packet, from its IP header on.
    pub snaplen: u32,
    /// At the ends super-packets as the kernels hand them over, as in a capture on a network card that segments (TSO) and
    /// joins (GRO). Else each packet as a wire carries it, as behind a card without offloads.
    pub super_packets: bool,
}

impl CaptureOptions {
    /// Headers of packets as on a wire.
    #[must_use]
    pub const fn new(directory: PathBuf) -> Self {
        // IPv6 and TCP with all options are 100 bytes.
        CaptureOptions { directory, snaplen: 128, super_packets: false }
    }
}

/// What was captured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CaptureReport {
    /// Along the path, from the client to the server.
    pub files: Vec<CapturedFile>,
    /// Packets that queues dropped or links lost, in the order of time.
    pub losses: Vec<Loss>,
}

impl CaptureReport {
    /// Names of the files before and behind the queue of `hop`, counted from 0.
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
    /// Its name in the folder.
    pub name: String,
    /// What it saw, in words.
    pub place: String,
    /// Packets in it.
    pub packets: u64,
    /// Packets that are not in it, as the disk was slower than the line.
    pub missing: u64,
}

/// A packet that did not arrive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loss {
    /// When it was dropped.
    pub at: WallTime,
    /// Hop of the queue or link, from 0.
    pub hop: usize,
    /// Where it was going.
    pub direction: Direction,
    /// Why.
    pub reason: LossReason,
    /// Its number, from 1, in the file of the end that sent it; `None` if it is not there, or a router sent it.
    pub frame: Option<u64>,
}

/// Why a packet did not arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LossReason {
    /// The queue had no room.
    Overlimit,
    /// The queue's algorithm chose it.
    Aqm,
    /// The queue dropped it for another reason.
    Other,
    /// The link lost it behind the queue.
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
