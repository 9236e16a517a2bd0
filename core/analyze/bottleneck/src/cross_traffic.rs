//! Link traffic in addition to the sampled flows: pings, UDP, fragments, short flows.
use crate::bins::{Bin, Grid};
use alloc::collections::BTreeMap;
use fathom_capture::Address;

/// Maximum number of address pairs and of bins per direction: at most 17 MB. In a capture of many
/// hosts no single pair matters.
const PAIRS: usize = 512;
const BINS: usize = 512;

/// Bytes of IP packets between each pair of addresses over time.
#[derive(Clone, Default, Debug)]
pub(crate) struct CrossTraffic {
    /// Key: the smaller address first. Series: from it, then to it.
    pairs: BTreeMap<[Address; 2], Grid<2>>,
}

/// The pair, and the index of the direction.
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
    pub(crate) fn close(&mut self) {
        self.pairs.values_mut().for_each(Grid::close);
    }
    /// Bytes from one address to another, and the width of the bins as a power of two of ns.
    pub(crate) fn passed(&self, [from, to]: [Address; 2]) -> Option<(&[Bin], u32)> {
        let (pair, way) = place(from, to);
        self.pairs.get(&pair).map(|grid| (grid.bins(way), grid.shift()))
    }
}
