//! What the series of many lines show: sites by lag when busy, groups of them, the scatter plot of
//! capacity and buffer (Kreibich et al., Netalyzr: illuminating the edge network, IMC 2010, figure
//! 5), what changed between two periods, and sites that slow down together.
//!
//! The series are those of `fathom watch` with `[site]` and `[[test]]`, in any engine with the HTTP
//! API of Prometheus: this crate writes the queries and reads the answers. Nothing here does I/O.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod answer;
mod change;
mod fleet;
mod group;
mod promql;
mod scatter;
mod together;

pub use answer::{AnswerError, Labelled, Track, read_range, read_vector};
pub use change::{Change, changes};
pub use fleet::{Fleet, LineSummary, Site};
pub use group::{Group, groups, outliers};
pub use promql::{Measure, Selector, slow_query};
pub use scatter::{Cell, Point, Scatter, scatter};
pub use together::{Membership, Together, together};
