//! Bytes that pass beside flows that are looked into: pings, UDP, fragments, short flows. They take their part of a link, too.
use crate::bins::{Bin, Grid};
use alloc::collections::BTreeMap;
use fathom_capture::Address;

/// Pairs of addresses kept, and bins of each way: 17 MB at most. A capture of many has no two that matter more than others.
const PAIRS: usize = 512;
const BINS: usize = 512;

/// Bytes of IP packets of each pair of addresses over time.
#[derive(Clone, Default, Debug)]
pub(crate) struct CrossTraffic {
    /// The lesser address first; from it, then to it.
    pairs: BTreeMap<[Address; 2], Grid<2>>,
}

/// The pair, and the way in it.
fn place(from: Address, to: Address) -> ([Address; 2], usize) {
    if from <= to { ([from, to], 0) } else { ([to, from], 1) }
}

impl CrossTraffic {
    pub(crate) fn add(&mut self, [from, to]: [Address; 2], at: i64, ip_bytes: u32) {
        let (pair, way) = place(from, to);
        if self.pairs.len() < PAIRS || self.pairs.contains_key(&pair) {
            let grid = self.pairs.entry(pair).or_insert_with(Grid::new);
            grid.turn_to(at, BINS);
            grid.add(way, f64::from(ip_bytes));
        }
    }
    /// Nothing more comes.
    pub(crate) fn close(&mut self) {
        self.pairs.values_mut().for_each(Grid::close);
    }
    /// What passed from one address to another, and how wide its bins are.
    pub(crate) fn passed(&self, [from, to]: [Address; 2]) -> Option<(&[Bin], u32)> {
        let (pair, way) = place(from, to);
        self.pairs.get(&pair).map(|grid| (grid.bins(way), grid.shift()))
    }
}
