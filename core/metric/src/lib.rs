//! What is measured: the registry of metrics, [`Observation`]s, the [`Run`] that every source produces, and scores.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod registry;
mod run;

pub use registry::{Metric, MetricInfo};
pub use run::{
    Direction, Host, Instrument, Load, Observation, Phase, PhaseEnd, PhaseKind, Run, SCHEMA_VERSION, Series,
    SeriesKey, Value,
};
