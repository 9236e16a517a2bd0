//! The cells of a sweep, in their order.
use crate::{Axis, Setting};
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// All combinations of the axes' values, with each seed; the last axis changes fastest, then the seed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    /// What is varied.
    pub axes: Vec<Axis>,
    /// One run for each.
    pub seeds: Vec<u64>,
}

impl Grid {
    /// Number of cells; `None` beyond what can be counted.
    pub fn len(&self) -> Option<u64> {
        let count = |sum: u64, n: usize| sum.checked_mul(n as u64);
        self.axes.iter().map(|axis| axis.values.len()).try_fold(self.seeds.len() as u64, count)
    }
    /// True if there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }
    /// The settings and the seed of cell `index`.
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
    /// Columns that tell a cell: the axes and the seed.
    pub fn key_columns(&self) -> Vec<String> {
        self.axes.iter().map(|axis| axis.path.clone()).chain(["seed".to_owned()]).collect()
    }
    /// Values of the key columns of cell `index`.
    pub fn key(&self, index: u64) -> Vec<String> {
        let (settings, seed) = self.cell(index);
        settings.into_iter().map(|setting| setting.value).chain([seed.to_string()]).collect()
    }
}
