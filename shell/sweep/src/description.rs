//! What a sweep is: everything on which its rows depend.
use fathom_run::Measure;
use fathom_scenario::{Axis, Grid, Setting};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// A sweep as a document, which identifies it and which another process can run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Description {
    /// The version of Fathom: another one may simulate other numbers.
    pub version: String,
    /// The name of the scenario, for errors.
    pub scenario: String,
    /// Its text.
    pub text: String,
    /// The files that it names, such as recorded rates.
    pub files: BTreeMap<String, String>,
    /// Queue of every bottleneck.
    pub queue: Option<String>,
    /// Changes in every cell: key and value.
    pub set: Vec<[String; 2]>,
    /// The axes.
    pub vary: Vec<Values>,
    /// Ranges of seeds, both ends included.
    pub seeds: Vec<[u64; 2]>,
    /// The measures, one per column.
    pub measures: Vec<String>,
    /// Number of cells.
    pub cells: u64,
    /// Cells of each file. The last one may have fewer.
    pub rows_per_file: u64,
}

/// An axis.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Values {
    /// The varied key.
    pub key: String,
    /// Its values.
    pub values: Vec<String>,
}

impl Description {
    /// Axes of a grid.
    pub fn axes(grid: &Grid) -> Vec<Values> {
        let values = |axis: &Axis| Values { key: axis.path.clone(), values: axis.values.clone() };
        grid.axes.iter().map(values).collect()
    }
    /// Seeds as ranges. A sweep may have a million seeds, and mostly they are one range.
    pub fn ranges(seeds: &[u64]) -> Vec<[u64; 2]> {
        let mut ranges: Vec<[u64; 2]> = Vec::new();
        for seed in seeds {
            match ranges.last_mut() {
                Some([_, last]) if last.checked_add(1) == Some(*seed) => *last = *seed,
                _ => ranges.push([*seed, *seed]),
            }
        }
        ranges
    }
    /// The cells.
    pub fn grid(&self) -> Grid {
        let axis = |axis: &Values| Axis { path: axis.key.clone(), values: axis.values.clone() };
        Grid {
            axes: self.vary.iter().map(axis).collect(),
            seeds: self.seeds.iter().flat_map(|[from, to]| *from..=*to).collect(),
        }
    }
    /// The changes in every cell.
    pub fn settings(&self) -> Vec<Setting> {
        let setting = |[path, value]: &[String; 2]| Setting { path: path.clone(), value: value.clone() };
        self.set.iter().map(setting).collect()
    }
    /// The measures.
    ///
    /// # Errors
    /// If a text is not a measure.
    pub fn parsed_measures(&self) -> Result<Vec<Measure>, <Measure as std::str::FromStr>::Err> {
        self.measures.iter().map(|text| text.parse()).collect()
    }
    /// Number of files.
    pub const fn files(&self) -> u64 {
        self.cells.div_ceil(self.rows_per_file)
    }
    /// The cells of a file.
    pub fn cells_of(&self, file: u64) -> Range<u64> {
        let first = file.saturating_mul(self.rows_per_file).min(self.cells);
        first..first.saturating_add(self.rows_per_file).min(self.cells)
    }
    /// The members in which two descriptions differ.
    pub(crate) fn differences(&self, other: &serde_json::Value) -> Vec<String> {
        let own = serde_json::to_value(self).unwrap_or_default();
        let members = own.as_object().into_iter().flatten();
        members.filter(|(key, value)| other.get(key) != Some(value)).map(|(key, _)| key.clone()).collect()
    }
}
