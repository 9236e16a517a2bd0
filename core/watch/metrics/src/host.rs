//! Gauges of the probing host, by the names of their series in a history.
use crate::Family;

/// How the values of an interval are reduced to one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Take {
    /// The mean.
    Mean,
    /// The maximum.
    Max,
}

/// A gauge with one label.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HostGauge<'p> {
    /// The metric family.
    pub family: &'static Family,
    /// Name and value of the label.
    pub label: (&'static str, &'p str),
    /// Reduction of an interval.
    pub take: Take,
}

impl<'p> HostGauge<'p> {
    /// All families of host gauges.
    pub const FAMILIES: [&'static Family; 4] =
        [&Family::RECEIVED, &Family::SENT, &Family::BACKLOG, &Family::LATENESS];

    /// The gauge of a host series: `eth0 sent`, `lateness of icmp`. `None` for series that are not
    /// exported.
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
