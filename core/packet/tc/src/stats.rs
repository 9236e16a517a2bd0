//! Counters of queue disciplines and classes as reported by the kernel.
mod cake;

pub use cake::{CakeStats, Tin};

use crate::attribute::{find, u32_at, u64_at};
use crate::object::{Object, What, top};

/// Counters since creation, and the current backlog.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Stats {
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Packets sent.
    pub sent_packets: u64,
    /// Packets queued.
    pub queued_packets: u32,
    /// Bytes queued.
    pub backlog_bytes: u32,
    /// Packets dropped.
    pub drops: u32,
    /// Packets that the driver returned.
    pub requeues: u32,
    /// How often a packet had to wait for its rate.
    pub overlimits: u32,
    /// Statistics of the kind.
    pub detail: Detail,
}

/// Additional statistics per kind.
#[derive(Clone, PartialEq, Default, Debug)]
pub enum Detail {
    /// None, or not interpreted.
    #[default]
    None,
    /// CAKE.
    Cake(CakeStats),
    /// `fq_codel`.
    FqCodel(FqCodelStats),
    /// HTB itself.
    Htb {
        /// Packets sent outside of all classes, unshaped.
        direct_packets: u32,
    },
    /// An HTB class.
    HtbClass {
        /// Packets sent at its own rate, or lent.
        lends: u32,
        /// Packets sent by borrowing.
        borrows: u32,
        /// Packets larger than its burst.
        giants: u32,
    },
}

/// Statistics of `fq_codel` (`struct tc_fq_codel_qd_stats`).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FqCodelStats {
    /// Largest packet in bytes.
    pub largest_packet_bytes: u32,
    /// Packets dropped at the limit.
    pub limit_drops: u32,
    /// Packets marked by CoDel.
    pub marks: u32,
    /// How often a new flow was seen.
    pub new_flows: u32,
    /// Packets marked by the CE threshold.
    pub threshold_marks: u32,
    /// Memory used, in bytes.
    pub memory_bytes: u32,
    /// Packets dropped at the memory limit.
    pub memory_drops: u32,
}

impl FqCodelStats {
    /// `None` if truncated, or about a flow.
    fn read(bytes: &[u8]) -> Option<FqCodelStats> {
        const QDISC: u32 = 0;
        if u32_at(bytes, 0)? != QDISC {
            return None;
        }
        let word = |n: usize| u32_at(bytes, 4 * n);
        Some(FqCodelStats {
            largest_packet_bytes: word(1)?,
            limit_drops: word(2)?,
            marks: word(3)?,
            new_flows: word(4)?,
            // The flows in both lists come before; later fields were added in Linux 4.2 and 4.7.
            threshold_marks: word(7).unwrap_or_default(),
            memory_bytes: word(8).unwrap_or_default(),
            memory_drops: word(9).unwrap_or_default(),
        })
    }
}

/// Attributes in `TCA_STATS2`. Source: linux/gen_stats.h.
mod number {
    pub(super) const BASIC: u16 = 1;
    pub(super) const QUEUE: u16 = 3;
    pub(super) const APP: u16 = 4;
    pub(super) const PACKETS64: u16 = 8;
}

impl Stats {
    fn read(object: &Object) -> Option<Stats> {
        let all = object.attribute(top::STATS2)?;
        let (basic, queue) = (find(all, number::BASIC)?, find(all, number::QUEUE).unwrap_or_default());
        let waits = |word: usize| u32_at(queue, 4 * word).unwrap_or_default();
        let packets = find(all, number::PACKETS64).and_then(|wide| u64_at(wide, 0));
        Some(Stats {
            sent_bytes: u64_at(basic, 0)?,
            sent_packets: packets.or_else(|| u32_at(basic, 8).map(u64::from))?,
            queued_packets: waits(0),
            backlog_bytes: waits(1),
            drops: waits(2),
            requeues: waits(3),
            overlimits: waits(4),
            detail: detail(object, all),
        })
    }
    /// Adds the tins of one queue of `cake_mq`. The kernel adds up everything else.
    pub fn add_queue(&mut self, queue: Stats) {
        match (&mut self.detail, queue.detail) {
            (Detail::Cake(all), Detail::Cake(one)) if !all.tins.is_empty() => all.add(&one),
            (all, one @ Detail::Cake(_)) => *all = one,
            _ => {}
        }
    }
    /// Packets marked CE; `None` for kinds that do not mark.
    #[must_use]
    pub fn marks(&self) -> Option<u64> {
        match &self.detail {
            Detail::Cake(cake) => Some(cake.tins.iter().map(|tin| u64::from(tin.marks)).sum()),
            Detail::FqCodel(stats) => Some(u64::from(stats.marks) + u64::from(stats.threshold_marks)),
            _ => None,
        }
    }
}

impl Object {
    /// Its counters.
    #[must_use]
    pub fn stats(&self) -> Option<Stats> {
        Stats::read(self)
    }
}

fn detail(object: &Object, stats: &[u8]) -> Detail {
    let own = find(stats, number::APP).or_else(|| object.attribute(top::XSTATS)).unwrap_or_default();
    let read = match (object.what, object.kind().as_str()) {
        (What::Qdisc, "cake" | "cake_mq") => Some(Detail::Cake(CakeStats::read(own))),
        (What::Qdisc, "fq_codel") => FqCodelStats::read(own).map(Detail::FqCodel),
        (What::Qdisc, "htb") => direct_packets(object),
        (What::Class, "htb") => htb_class(own),
        _ => None,
    };
    read.unwrap_or_default()
}

fn direct_packets(object: &Object) -> Option<Detail> {
    const INIT: u16 = 2;
    Some(Detail::Htb { direct_packets: u32_at(find(object.options()?, INIT)?, 16)? })
}

fn htb_class(bytes: &[u8]) -> Option<Detail> {
    let [lends, borrows, giants] = [0, 4, 8].map(|at| u32_at(bytes, at));
    Some(Detail::HtbClass { lends: lends?, borrows: borrows?, giants: giants? })
}
