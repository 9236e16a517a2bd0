//! A queue point with what the audit concludes from its files.
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{HostQueue, QueuePoint, Remedy, WorstCase};
use fathom_units::{Bytes, Rate};

/// How much a queue point matters, the least first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// No problem.
    None,
    /// Long, but not in front of the slowest link: it shows when that changes.
    Dark,
    /// Files say nothing about it: it has to be measured.
    Unknown,
    /// In front of a slow link, and long enough to be noticed.
    Bad,
}

/// A queue point of a host, how much it matters, and what can be done.
#[derive(Clone, PartialEq, Debug)]
pub struct AuditedQueue {
    /// The queue point.
    pub point: QueuePoint,
    /// How much it matters.
    pub severity: Severity,
    /// What can be done about it.
    pub remedies: Vec<Remedy>,
}

/// The worst case of a queue that counts packets, with and without segmentation offload.
pub(crate) struct Worst {
    /// Of full packets, or of bytes.
    pub(crate) full: WorstCase,
    /// Of super-packets.
    pub(crate) super_packets: Option<WorstCase>,
}

impl Worst {
    pub(crate) fn bytes(bytes: u64, rate: Rate) -> Worst {
        Worst { full: WorstCase::new(None, Bytes(bytes), rate), super_packets: None }
    }
    pub(crate) fn packets(count: u64, each: Bytes, rate: Rate) -> Worst {
        Worst { full: WorstCase::new(Some(count), each, rate), super_packets: None }
    }
    pub(crate) fn times(self, count: u64) -> Worst {
        let times = |worst: WorstCase| worst.times(count);
        Worst { full: times(self.full), super_packets: self.super_packets.map(times) }
    }
}

impl AuditedQueue {
    /// A queue of an interface, or of the host as a whole, which is no problem.
    pub(crate) fn new(queue: HostQueue, interface: Option<&str>) -> AuditedQueue {
        let point = QueuePoint {
            interface: interface.map(String::from),
            queue,
            worst: None,
            worst_of_super_packets: None,
            timer_s: None,
            observed_bytes: None,
            observed_delay_s: None,
            arrival_ratio: None,
        };
        AuditedQueue { point, severity: Severity::None, remedies: Vec::new() }
    }
    pub(crate) fn severity(self, severity: Severity) -> AuditedQueue {
        AuditedQueue { severity, ..self }
    }
    pub(crate) fn worst(mut self, worst: Option<Worst>) -> AuditedQueue {
        if let Some(Worst { full, super_packets }) = worst {
            (self.point.worst, self.point.worst_of_super_packets) = (Some(full), super_packets);
        }
        self
    }
    pub(crate) fn timer(mut self, seconds: Option<f64>) -> AuditedQueue {
        self.point.timer_s = seconds;
        self
    }
    pub(crate) fn remedy(mut self, remedy: Remedy) -> AuditedQueue {
        self.remedies.push(remedy);
        self
    }
    /// With a command, and the one that restores the previous state.
    pub(crate) fn command(self, command: String, undo: String) -> AuditedQueue {
        self.remedy(Remedy::Run { command, undo, caution: None })
    }
    /// With the most bytes that were observed in it.
    pub(crate) fn observed(mut self, bytes: Option<Bytes>) -> AuditedQueue {
        let drain_rate =
            self.point.worst.as_ref().map(|worst| Rate::from_bits_per_second(worst.rate_bits_per_second));
        self.point.observed_delay_s =
            bytes.zip(drain_rate).map(|(held, rate)| rate.serialization_time(held).as_secs_f64());
        self.point.observed_bytes = bytes.map(|bytes| bytes.0);
        self
    }
}
