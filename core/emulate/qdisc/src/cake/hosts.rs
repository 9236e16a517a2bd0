//! The hosts on one side of the link and their bulk flow counts.
use super::hash::{PLACES, Tags};

/// The source hosts or the destination hosts.
pub(super) struct Hosts {
    tags: Tags,
    bulk_flows: [u16; PLACES],
}

impl Hosts {
    pub(super) const fn new() -> Self {
        Hosts { tags: Tags::new(), bulk_flows: [0; PLACES] }
    }
    /// The place of the host with this hash. A host without bulk flows can lose its place.
    pub(super) fn place(&mut self, hash: u64) -> u16 {
        let bulk_flows = &self.bulk_flows;
        self.tags.find(hash, |place| bulk_flows[place] > 0).place as u16
    }
    pub(super) fn add_bulk_flow(&mut self, host: u16) {
        self.bulk_flows[usize::from(host)] += 1;
    }
    pub(super) fn remove_bulk_flow(&mut self, host: u16) {
        self.bulk_flows[usize::from(host)] -= 1;
    }
    pub(super) fn bulk_flows(&self, host: u16) -> u32 {
        u32::from(self.bulk_flows[usize::from(host)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_without_bulk_flows_may_lose_its_place_and_one_with_any_keeps_it() {
        let mut hosts = Hosts::new();
        // Ten hosts that hash to the first place of the first set of eight.
        let hash = |host: u64| (host + 1) * PLACES as u64;
        (0..8).for_each(|host| {
            let place = hosts.place(hash(host));
            hosts.add_bulk_flow(place);
            assert_eq!(u64::from(place), host);
        });
        hosts.remove_bulk_flow(3);
        assert_eq!((hosts.place(hash(8)), hosts.place(hash(8))), (3, 3));
        hosts.add_bulk_flow(3);
        // No place is free: it shares the first.
        assert_eq!((hosts.place(hash(9)), hosts.bulk_flows(0)), (0, 1));
    }
}
