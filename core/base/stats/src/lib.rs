//! From a sample to statistics: percentiles of censored samples, trimmed means, mergeable delay histograms, growth.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod histogram;
mod sample;

pub use histogram::DelayHistogram;
pub use sample::{Bounded, Sample, Summary, jain_index, trimmed_mean};
