//! Which way packets go between two captures.
use crate::capture::Capture;
use crate::pairing::Partners;
use alloc::collections::BTreeMap;

/// Which of two captures packets pass first: above 0 the first, below 0 the second, 0 unknown.
pub(crate) type Way = i64;

/// What two captures say about the packets of one pair of hosts, of both senses.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Hosts {
    /// Packets in both captures.
    pub(crate) matched: [u64; 2],
    /// How many of them had the greater hop limit in the first capture, less those that had it in the second.
    hops: [i64; 2],
    /// Time in the second capture less that in the first, of the last packet of each sense.
    last: [Option<i64>; 2],
    /// How often sense 0 took longer by these two clocks than sense 1, less how often it was the other way round.
    longer: i64,
    /// The least of those times, for want of anything else.
    min: [Option<i64>; 2],
}

/// Two captures, by pair of hosts.
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
        // The clocks' offset is in both; packets that go from the first capture to the second have their delay on top of it,
        // the others have theirs below it.
        if let Some(back) = self.last[other] {
            self.longer += if sense == 0 { delta.cmp(&back) as i64 } else { back.cmp(&delta) as i64 };
        }
    }
    /// By hop limits, which only fall.
    pub(crate) fn by_hop_limit(&self, sense: usize) -> Way {
        self.hops[sense]
    }
    /// By delays both ways.
    pub(crate) fn by_delays(&self, sense: usize) -> Way {
        if sense == 0 { self.longer } else { -self.longer }
    }
    /// By the times themselves, if the clocks agree.
    pub(crate) fn by_clocks(&self, sense: usize) -> Way {
        self.min[sense].map_or(0, i64::signum)
    }
    /// By the best of these that says anything.
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
