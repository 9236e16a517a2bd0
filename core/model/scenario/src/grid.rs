//! The cells of a sweep, in order.
use crate::{Axis, Setting};
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// All combinations of axis values and seeds. The seed changes fastest, then the last axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// The varied parameters.
    pub axes: Vec<Axis>,
    /// Seeds; each combination of values runs once per seed.
    pub seeds: Vec<u64>,
}

impl Grid {
    /// Number of cells; `None` on overflow.
    pub fn len(&self) -> Option<u64> {
        let count = |sum: u64, n: usize| sum.checked_mul(n as u64);
        self.axes.iter().map(|axis| axis.values.len()).try_fold(self.seeds.len() as u64, count)
    }
    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }
    /// Settings and seed of a cell.
    pub fn cell(&self, index: u64) -> (Vec<Setting>, u64) {
        let mut rest = index;
        let mut take = |n: usize| {
            let digit = rest % n as u64;
            rest /= n as u64;
            digit as usize
        };
        let seed = self.seeds[take(self.seeds.len())];
        let setting = |axis: &Axis| {
            let value = axis.values[take(axis.values.len())].clone();
            Setting { path: axis.path.clone(), value }
        };
        let mut settings: Vec<Setting> = self.axes.iter().rev().map(setting).collect();
        settings.reverse();
        (settings, seed)
    }
    /// Names of the columns that identify a cell: the axes and the seed.
    pub fn key_columns(&self) -> Vec<String> {
        self.axes.iter().map(|axis| axis.path.clone()).chain(["seed".to_owned()]).collect()
    }
    /// Values of these columns for a cell.
    pub fn key(&self, index: u64) -> Vec<String> {
        let (settings, seed) = self.cell(index);
        settings.into_iter().map(|setting| setting.value).chain([seed.to_string()]).collect()
    }
}
