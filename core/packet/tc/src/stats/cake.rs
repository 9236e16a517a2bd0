//! Statistics of CAKE and of its tins. Its delays are moving averages that do not change without
//! traffic; base decisions on the counters.
use crate::attribute::{attributes, find, find_u32, find_u64};
use alloc::vec::Vec;
use fathom_units::{Duration, Rate};

/// Statistics of CAKE.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct CakeStats {
    /// Estimated rate, with `autorate-ingress`.
    pub capacity: Rate,
    /// Memory limit in bytes.
    pub memory_limit_bytes: u32,
    /// Maximum memory used, in bytes.
    pub memory_most_bytes: u32,
    /// Average bytes before the IP packet: 14 on plain Ethernet, 18 with a tag, 22 with PPPoE.
    pub average_offset_bytes: u32,
    /// Tins, lowest priority first.
    pub tins: Vec<Tin>,
}

/// Statistics of a tin.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Tin {
    /// Rate above which it loses its priority.
    pub threshold: Rate,
    /// Acceptable standing delay.
    pub target: Duration,
    /// How long a longer delay is tolerated.
    pub interval: Duration,
    /// Packets sent.
    pub sent_packets: u32,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Packets dropped.
    pub drops: u32,
    /// Packets marked CE.
    pub marks: u32,
    /// Redundant ACKs dropped.
    pub filtered_acks: u32,
    /// Bytes queued.
    pub backlog_bytes: u32,
    /// Delay of the most delayed flows, as a moving average.
    pub peak_delay: Duration,
    /// Mean delay, as a moving average.
    pub average_delay: Duration,
    /// Delay of sparse flows, as a moving average.
    pub base_delay: Duration,
    /// Number of sparse flows now.
    pub sparse_flows: u32,
    /// Number of backlogged flows now.
    pub bulk_flows: u32,
    /// Number of unresponsive flows.
    pub unresponsive_flows: u32,
    /// Largest packet in bytes.
    pub largest_packet_bytes: u32,
    /// DRR quantum of a flow in bytes.
    pub quantum_bytes: u32,
}

impl CakeStats {
    /// Adds the statistics of another queue under the same shaper.
    pub(super) fn add(&mut self, other: &CakeStats) {
        self.memory_limit_bytes = self.memory_limit_bytes.saturating_add(other.memory_limit_bytes);
        self.memory_most_bytes = self.memory_most_bytes.saturating_add(other.memory_most_bytes);
        self.tins.iter_mut().zip(&other.tins).for_each(|(tin, other)| tin.add(other));
    }
    /// Attributes `TCA_CAKE_STATS_...`.
    pub(super) fn read(bytes: &[u8]) -> CakeStats {
        let word = |number| find_u32(bytes, number).unwrap_or_default();
        CakeStats {
            capacity: rate(bytes, 2),
            memory_limit_bytes: word(3),
            memory_most_bytes: word(4),
            average_offset_bytes: word(5),
            tins: attributes(find(bytes, 10).unwrap_or_default()).map(|tin| Tin::read(tin.value)).collect(),
        }
    }
}

fn rate(bytes: &[u8], number: u16) -> Rate {
    Rate::from_bits_per_second(find_u64(bytes, number).unwrap_or_default().saturating_mul(8))
}

impl Tin {
    /// Adds counters, and takes the larger delays; settings are equal in both.
    fn add(&mut self, other: &Tin) {
        let sum = u32::saturating_add;
        *self = Tin {
            sent_packets: sum(self.sent_packets, other.sent_packets),
            sent_bytes: self.sent_bytes.saturating_add(other.sent_bytes),
            drops: sum(self.drops, other.drops),
            marks: sum(self.marks, other.marks),
            filtered_acks: sum(self.filtered_acks, other.filtered_acks),
            backlog_bytes: sum(self.backlog_bytes, other.backlog_bytes),
            peak_delay: self.peak_delay.max(other.peak_delay),
            average_delay: self.average_delay.max(other.average_delay),
            base_delay: self.base_delay.max(other.base_delay),
            sparse_flows: sum(self.sparse_flows, other.sparse_flows),
            bulk_flows: sum(self.bulk_flows, other.bulk_flows),
            unresponsive_flows: sum(self.unresponsive_flows, other.unresponsive_flows),
            largest_packet_bytes: self.largest_packet_bytes.max(other.largest_packet_bytes),
            ..*self
        };
    }
    /// Attributes `TCA_CAKE_TIN_STATS_...`.
    fn read(bytes: &[u8]) -> Tin {
        let word = |number| find_u32(bytes, number).unwrap_or_default();
        let time = |number| Duration::from_micros(u64::from(word(number)));
        Tin {
            sent_packets: word(2),
            sent_bytes: find_u64(bytes, 3).unwrap_or_default(),
            drops: word(4),
            filtered_acks: word(6),
            marks: word(8),
            backlog_bytes: word(11),
            threshold: rate(bytes, 12),
            target: time(13),
            interval: time(14),
            peak_delay: time(18),
            average_delay: time(19),
            base_delay: time(20),
            sparse_flows: word(21),
            bulk_flows: word(22),
            unresponsive_flows: word(23),
            largest_packet_bytes: word(24),
            quantum_bytes: word(25),
        }
    }
}
