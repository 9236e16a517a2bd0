//! Integration tests of `fathom-sim`.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod closed_forms;
mod common;
mod conformance;
mod cross;
mod determinism;
mod deep_queues;
mod diagnosis;
mod seeds;
mod workloads;
