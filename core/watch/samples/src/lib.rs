//! What a year of samples is: quantised values, chunks of them, histograms that merge, and the columns of a plot.
//!
//! A value is kept as the number of its bucket on one logarithmic [`scale`], whose buckets are those of Prometheus' native
//! histograms of schema 5. What is made of samples, at any zoom, is a merging of whole numbers, so that a percentile of a year is as
//! true as that of a minute: it is within 1.09 % of a value that was sampled.
//!
//! Nothing here does I/O: [`Chunk`] and [`Windows`] are encoded to bytes with a version and a checksum, which `shell/store` packs and keeps.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod bytes;
mod chunk;
mod code;
mod column;
mod frame;
mod grid;
mod recent;
mod sample;
pub mod scale;
mod sketch;
mod tally;
mod window;

pub use bytes::{DecodeError, checksum, seal};
pub use chunk::{Chunk, MAX_SAMPLES, Mark};
pub use code::Code;
pub use column::{Column, Columns};
pub use frame::{Entry, Frame};
pub use grid::Grid;
pub use recent::{RecentSample, ShortTime};
pub use sample::{Level, Outcome, Sample, Stored, Unit};
pub use sketch::Sketch;
pub use tally::Tally;
pub use window::{Window, Windows};
