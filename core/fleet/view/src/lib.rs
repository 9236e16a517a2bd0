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
mod document;
mod fleet;
mod group;
mod labels;
mod promql;
mod scatter;
mod site_tests;
mod stream;
mod together;
mod trend;

pub use answer::{AnswerError, Labelled, Track, read_range, read_vector};
pub use change::{Change, ChangeKind, changes};
pub use document::{
    changes_document, scatter_document, site_document, sites_document, together_document, trends_document,
};
pub use fleet::{Fleet, FleetBuilder, LineSummary, Site};
pub use group::{Group, groups, outliers};
pub use labels::{SeriesLabels, SiteLabels};
pub use promql::{
    Aggregate, InvalidLabel, Measure, Selector, known_query, shared_queries, slow_query, tests_query,
    trend_query,
};
pub use scatter::{Cell, Point, Scatter, density, drain_s, lines, scatter};
pub use site_tests::{SiteTests, TestSeries, TestValues};
pub use stream::{AnswerKind, EachSeries, read_answer};
pub use together::{Membership, SlowTimes, Slowness, Together, together};
pub use trend::{Trend, TrendPoint, trend_step, trends, trends_of};
