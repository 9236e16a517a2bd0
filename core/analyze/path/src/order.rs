//! Determines the order in which packets of each direction pass the captures.
use crate::between::{CapturePair, Hosts};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// Evidence for the order of captures, from the strongest to the weakest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Evidence {
    /// The hop limit decreases from one to the next.
    HopLimit,
    /// Packets have a larger time difference than those of the other direction.
    Delays,
    /// The order of timestamps, assuming that the clocks agree.
    Clocks,
}

/// Observations of each pair of captures, the lower index first.
pub(crate) type Table = BTreeMap<(usize, usize), CapturePair>;

/// Directions of hosts, and the order of captures in both directions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// By pair of hosts: the direction of sense 0, where 0 is forward and 1 is backward.
    directions: BTreeMap<u32, usize>,
    /// Captures in the order in which packets pass them, forward and backward.
    pub(crate) captures: [Vec<usize>; 2],
}

impl Order {
    /// 0 is forward, the direction with the most packets; 1 is backward.
    pub(crate) fn direction(&self, hosts: u32, sense: usize) -> Option<usize> {
        self.directions.get(&hosts).map(|of_sense_0| of_sense_0 ^ sense)
    }
    /// Determines the order of `count` captures from the observations.
    pub(crate) fn find(count: usize, table: &Table) -> Order {
        let mut order = Order::default();
        let Some((hosts, sense)) = busiest(table) else { return order };
        order.directions.insert(hosts, sense);
        // Each round adds pairs of hosts that share two captures with those of earlier rounds.
        for _ in 0..=count {
            let before = order.directions.len();
            order.settle(table);
            if order.directions.len() == before {
                break;
            }
        }
        order.captures = [0, 1].map(|direction| order.sort(count, table, direction));
        order
    }
    /// Assigns a direction to pairs of hosts that agree or disagree with assigned ones.
    fn settle(&mut self, table: &Table) {
        let mut votes = BTreeMap::<u32, i64>::new();
        for between in table.values() {
            let directions = [0, 1].map(|direction| self.way(between, direction).signum());
            let open = between.hosts.iter().filter(|(hosts, _)| !self.directions.contains_key(hosts));
            for (hosts, of) in open {
                let along: i64 = [0, 1].map(|sense| directions[sense] * of.way(sense).signum()).iter().sum();
                let against: i64 =
                    [0, 1].map(|sense| directions[1 - sense] * of.way(sense).signum()).iter().sum();
                *votes.entry(*hosts).or_default() += along - against;
            }
        }
        let settled = votes.into_iter().filter(|(_, vote)| *vote != 0);
        self.directions.extend(settled.map(|(hosts, vote)| (hosts, usize::from(vote < 0))));
    }
    /// Which of two captures comes first in a direction: packets in favor minus packets against.
    fn way(&self, between: &CapturePair, direction: usize) -> i64 {
        let of_one = |(hosts, of): (&u32, &Hosts)| {
            let of_sense_0 = self.directions.get(hosts)?;
            let sense = of_sense_0 ^ direction;
            Some(of.way(sense).signum() * of.matched.get(sense).copied().unwrap_or(0) as i64)
        };
        between.hosts.iter().filter_map(of_one).sum()
    }
    fn matched(&self, between: &CapturePair, direction: usize) -> u64 {
        let of_one =
            |(hosts, of): (&u32, &Hosts)| of.matched.get(self.directions.get(hosts)? ^ direction).copied();
        between.hosts.iter().filter_map(of_one).sum()
    }
    /// Captures with packets in this direction, sorted by the number of later captures.
    fn sort(&self, count: usize, table: &Table, direction: usize) -> Vec<usize> {
        let (mut ahead, mut seen) = (vec![0_i64; count], vec![false; count]);
        for ((a, b), between) in table {
            let way = self.way(between, direction).signum();
            let sees = self.matched(between, direction) > 0;
            for (capture, wins) in [(*a, way), (*b, -way)] {
                if let (Some(ahead), Some(seen)) = (ahead.get_mut(capture), seen.get_mut(capture)) {
                    *ahead += wins;
                    *seen |= sees;
                }
            }
        }
        let sees = |capture: &usize| seen.get(*capture).copied().unwrap_or(false);
        let mut captures: Vec<usize> = (0..count).filter(sees).collect();
        captures.sort_by_key(|capture| -ahead.get(*capture).copied().unwrap_or(0));
        captures
    }
    /// Strongest evidence for the order of two captures in a direction.
    pub(crate) fn evidence(&self, between: &CapturePair, direction: usize) -> Evidence {
        let sum = |by: fn(&Hosts, usize) -> i64| -> i64 {
            let of =
                |(hosts, of): (&u32, &Hosts)| Some(by(of, self.directions.get(hosts)? ^ direction).abs());
            between.hosts.iter().filter_map(of).sum()
        };
        match (sum(Hosts::by_hop_limit), sum(Hosts::by_delays)) {
            (1.., _) => Evidence::HopLimit,
            (_, 1..) => Evidence::Delays,
            _ => Evidence::Clocks,
        }
    }
}

/// The pair of hosts and the direction with the most packets in two captures.
fn busiest(table: &Table) -> Option<(u32, usize)> {
    let of = table.values().flat_map(|between| between.hosts.iter());
    let counts = of.flat_map(|(hosts, of)| [0, 1].map(|sense| (of.matched[sense], *hosts, sense)));
    counts.max().map(|(_, hosts, sense)| (hosts, sense))
}
