//! Determines the direction of packets between two captures.
use crate::capture::Capture;
use crate::pairing::Partners;
use alloc::collections::BTreeMap;

/// Positive if packets pass the first of two captures first, negative if the second; or 0.
pub(crate) type Way = i64;

/// Observations of one pair of hosts in two captures, for both directions.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Hosts {
    /// Number of packets in both captures.
    pub(crate) matched: [u64; 2],
    /// Packets with a larger hop limit in the first capture, minus those in the second.
    hops: [i64; 2],
    /// Time difference of the last packet in each direction: second capture minus first.
    last: [Option<i64>; 2],
    /// How often direction 0 had the larger time difference, minus how often direction 1 had.
    longer: i64,
    /// Minimum time differences, used if there is no other evidence.
    min: [Option<i64>; 2],
}

/// Observations of two captures, by pair of hosts.
#[derive(Clone, Debug, Default)]
pub(crate) struct CapturePair {
    pub(crate) hosts: BTreeMap<u32, Hosts>,
}

impl Hosts {
    fn add(&mut self, sense: usize, hops: i64, delta: i64) {
        let other = 1 - sense;
        self.matched[sense] += 1;
        self.hops[sense] += hops;
        self.last[sense] = Some(delta);
        self.min[sense] = Some(self.min[sense].map_or(delta, |min| min.min(delta)));
        // Both differences contain the clock offset. The delay increases it for packets from the
        // first capture to the second, and decreases it for the others.
        if let Some(back) = self.last[other] {
            self.longer += if sense == 0 { delta.cmp(&back) as i64 } else { back.cmp(&delta) as i64 };
        }
    }
    /// Order by hop limits, which only decrease along the path.
    pub(crate) fn by_hop_limit(&self, sense: usize) -> Way {
        self.hops[sense]
    }
    pub(crate) fn by_delays(&self, sense: usize) -> Way {
        if sense == 0 { self.longer } else { -self.longer }
    }
    /// Order by timestamps, which is only correct if the clocks agree.
    pub(crate) fn by_clocks(&self, sense: usize) -> Way {
        self.min[sense].map_or(0, i64::signum)
    }
    pub(crate) fn way(&self, sense: usize) -> Way {
        [self.by_hop_limit(sense), self.by_delays(sense), self.by_clocks(sense)]
            .into_iter()
            .find(|way| *way != 0)
            .unwrap_or(0)
    }
}

impl CapturePair {
    pub(crate) fn new(a: &Capture, b: &Capture, partners: &Partners) -> Self {
        let mut between = CapturePair::default();
        for (from, to) in partners.certain() {
            if let (Some(first), Some(second)) = (a.marks.get(from), b.marks.get(to)) {
                let hops = i64::from(first.hop_limit) - i64::from(second.hop_limit);
                let hosts = between.hosts.entry(first.hosts()).or_default();
                hosts.add(first.sense(), hops.signum(), second.at.saturating_sub(first.at));
            }
        }
        between
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }
    pub(crate) fn of(&self, hosts: u32) -> Hosts {
        self.hosts.get(&hosts).copied().unwrap_or_default()
    }
}
