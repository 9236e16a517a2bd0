//! What is known of the probing host itself, by the names of its series in a history.
use crate::Family;

/// What stands for many values of a stretch of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Take {
    /// Their mean.
    Mean,
    /// The greatest.
    Max,
}

/// A gauge with one label.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HostGauge<'p> {
    /// Its family.
    pub family: &'static Family,
    /// Name and value of the label.
    pub label: (&'static str, &'p str),
    /// What of a stretch is told.
    pub take: Take,
}

impl<'p> HostGauge<'p> {
    /// All of their families.
    pub const FAMILIES: [&'static Family; 4] =
        [&Family::RECEIVED, &Family::SENT, &Family::BACKLOG, &Family::LATENESS];

    /// Of a series of the host: `eth0 sent`, `lateness of icmp`. `None` for what has no name elsewhere.
    pub fn of(probe: &'p str) -> Option<Self> {
        if let Some(thread) = probe.strip_prefix("lateness of ") {
            return Some(HostGauge { family: &Family::LATENESS, label: ("thread", thread), take: Take::Max });
        }
        let (interface, part) = probe.rsplit_once(' ')?;
        let (family, take) = match part {
            "received" => (&Family::RECEIVED, Take::Mean),
            "sent" => (&Family::SENT, Take::Mean),
            "backlog" => (&Family::BACKLOG, Take::Max),
            _ => return None,
        };
        Some(HostGauge { family, label: ("interface", interface), take })
    }
}
