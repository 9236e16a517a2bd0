//! Queue points with the conclusions of the audit.
use alloc::string::String;
use alloc::vec::Vec;
use fathom_run::{HostQueue, QueuePoint, Remedy, WorstCase};
use fathom_units::{Bytes, Rate};

/// Severity of a queue point, in ascending order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// No problem.
    None,
    /// Long, but not in front of the slowest link: a problem only if that changes.
    Dark,
    /// Cannot be read from files; has to be measured.
    Unknown,
    /// In front of a slow link and long enough to be noticed.
    Bad,
}

/// A queue point of a host with its severity and remedies.
#[derive(Clone, PartialEq, Debug)]
pub struct AuditedQueue {
    /// The queue point.
    pub point: QueuePoint,
    /// Severity of the queue point.
    pub severity: Severity,
    /// Recommended actions.
    pub remedies: Vec<Remedy>,
}

/// Worst case of a queue with a packet limit, with and without segmentation offload.
pub(crate) struct Worst {
    /// With full-size packets, or of a limit in bytes.
    pub(crate) full: WorstCase,
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
    /// Creates a harmless queue of an interface, or of the host as a whole.
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
    pub(crate) fn command(self, command: String, undo: String) -> AuditedQueue {
        self.remedy(Remedy::Run { command, undo, caution: None })
    }
    pub(crate) fn observed(mut self, bytes: Option<Bytes>) -> AuditedQueue {
        let drain_rate =
            self.point.worst.as_ref().map(|worst| Rate::from_bits_per_second(worst.rate_bits_per_second));
        self.point.observed_delay_s =
            bytes.zip(drain_rate).map(|(held, rate)| rate.serialization_time(held).as_secs_f64());
        self.point.observed_bytes = bytes.map(|bytes| bytes.0);
        self
    }
}
