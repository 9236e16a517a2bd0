//! Tests of the tracer: hand-written time lines, a naive oracle, malicious input, and a real
//! capture with its ground truth.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod batch;
mod bloated;
mod capture;
mod golden;
mod hostile;
mod kernel;
mod long;
mod missed;
mod oracle;
mod packets;
mod probes;
mod segments;
