//! Counters of an applied shaper.
use crate::error::ApplyError;
use crate::kernel::Kernel;
use crate::plan::{ETHERNET_HEADER_BYTES, Plan, Side};
use fathom_shape::fix::{Counters, InterfaceCounters, ShaperCounters};
use fathom_tc::{Detail, Handle, Link, Object, Stats};
use fathom_units::PerDirection;

/// Counters at one time.
#[derive(Clone, PartialEq, Debug)]
pub struct Look {
    /// The interface.
    pub link: Link,
    /// The egress shaper.
    pub up: Option<Stats>,
    /// The ingress shaper.
    pub down: Option<Stats>,
    /// Packets that bypassed all HTB classes unshaped; the number must not grow.
    pub direct_packets: u64,
}

impl Look {
    /// The counters in the form that the state machine of a fix uses.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let bytes = PerDirection { up: self.link.sent_bytes, down: self.link.received_bytes };
        let full_frame_bytes = u64::from(self.link.mtu) + u64::from(ETHERNET_HEADER_BYTES);
        let of = |stats: &Stats| ShaperCounters {
            sent_bytes: stats.sent_bytes,
            sent_packets: stats.sent_packets,
            dropped_packets: u64::from(stats.drops),
            marked_packets: stats.marks().unwrap_or_default(),
            overlimits: u64::from(stats.overlimits),
            backlog_bytes: u64::from(stats.backlog_bytes),
        };
        Counters {
            interface: InterfaceCounters { bytes, full_frame_bytes },
            shapers: PerDirection { up: self.up.as_ref().map(of), down: self.down.as_ref().map(of) },
            unclassified_packets: self.direct_packets,
            processors: Vec::new(),
        }
    }
}

/// Reads all counters of an applied plan.
///
/// # Errors
/// If the kernel does not answer, or the interface or a shaper is missing.
pub fn look(kernel: &mut Kernel, plan: &Plan) -> Result<Look, ApplyError> {
    let link = kernel
        .link(&plan.device)?
        .ok_or_else(|| ApplyError::words(&plan.device, "the interface is missing"))?;
    let mut direct_packets = 0;
    let mut of = |side: &Option<Side>| -> Result<Option<Stats>, ApplyError> {
        let Some(side) = side else { return Ok(None) };
        let (stats, direct) = counters(kernel, side)?;
        direct_packets += direct;
        Ok(Some(stats))
    };
    let (up, down) = (of(&plan.up)?, of(&plan.down)?);
    Ok(Look { link, up, down, direct_packets })
}

fn counters(kernel: &mut Kernel, side: &Side) -> Result<(Stats, u64), ApplyError> {
    shaper_counters(kernel, &side.device, side.major)
}

/// Counters of a shaper by its interface and major number: those of its root qdisc, with the marks
/// of the inner one; and the packets that bypassed all HTB classes.
///
/// # Errors
/// If the kernel does not answer, or if the shaper is missing.
pub fn shaper_counters(kernel: &mut Kernel, device: &str, major: u16) -> Result<(Stats, u64), ApplyError> {
    let gone =
        || ApplyError::words(device, format!("the shaper {major:x}: is missing; another program removed it"));
    let link = kernel.link(device)?.ok_or_else(gone)?;
    let qdiscs = kernel.qdiscs(link.index)?;
    let is_root = |handle: Handle| handle == Handle::new(major, 0);
    let root = qdiscs.iter().find(|q| is_root(Handle(q.header.handle))).ok_or_else(gone)?;
    let mut stats = root.stats().ok_or_else(gone)?;
    let mut direct = 0;
    let is_of_queue = |q: &&Object| Handle(q.header.parent).qdisc() == Handle::new(major, 0);
    qdiscs.iter().filter(is_of_queue).filter_map(Object::stats).for_each(|queue| stats.add_queue(queue));
    for inner in qdiscs.iter().filter_map(|qdisc| Some(qdisc.stats()?.detail)) {
        match inner {
            Detail::Htb { direct_packets } => direct += u64::from(direct_packets),
            // HTB and TBF do not count marks; the inner qdisc does.
            Detail::FqCodel(_) => stats.detail = inner,
            _ => {}
        }
    }
    Ok((stats, direct))
}
