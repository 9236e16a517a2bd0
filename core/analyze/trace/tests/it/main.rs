//! Tests of the tracer: hand-written time lines, a naive oracle, hostile input, and a real capture with its truth.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod batch;
mod bloated;
mod capture;
mod golden;
mod hostile;
mod kernel;
mod lab;
mod long;
mod missed;
mod one_sided;
mod oracle;
mod parts;
mod path_recorded;
mod probes;
mod queue_bloated;
mod queue_host;
mod queue_model;
mod queue_synthetic;
mod segments;
mod series;
mod trace_bytes;
