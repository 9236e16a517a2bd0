//! Percentiles and medians (RFC 2330), samples with censored values, mergeable delay histograms.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

pub mod bins;
mod held;
mod histogram;
mod interval;
mod order;
mod sample;
mod trend;

pub use held::{Held, summary_over_time, times_held};
pub use histogram::DelayHistogram;
pub use interval::percentile_interval;
pub use order::{
    median, midpoint_median, percentile, percentile_bin, percentile_of_sorted, rank, sorted, upper_median,
};
pub use sample::{Bounded, Sample, Summary, jain_index, trimmed_mean};
pub use trend::mann_kendall;
