//! What is measured: the registry of metrics, [`Observation`]s, the [`Run`] that every source produces, and scores.
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;

mod capture;
mod check;
mod datagrams;
mod measure;
mod registry;
mod run;
mod score;
mod timing;

pub use capture::{
    Capture, CaptureSource, CapturedAnswers, CapturedFlow, CapturedHop, CapturedProbes, CapturedQueue,
    CapturedSide, Estimate, Limits, ProbeKind, QueueManagement, QueuePlace, Retransmissions, RoundTrips,
    Swing,
};
pub use check::RunError;
pub use datagrams::DatagramLog;
pub use measure::{Measure, MeasureError};
pub use registry::{Metric, MetricInfo};
pub use run::{
    Host, Instrument, Load, NOT_RUN_IN_TIME, Observation, Phase, PhaseEnd, PhaseKind, Run, SCHEMA_VERSION,
    Series, SeriesKey, Value,
};
pub use score::{
    Call, Game, Grade, PAGE_BYTES, PAGE_ROUND_TRIPS, Rpm, SCORES, ScoreInfo, page_load_s, reference_page,
};
pub use timing::Timings;
