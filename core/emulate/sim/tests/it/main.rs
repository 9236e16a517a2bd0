//! Integration tests of `fathom-sim`.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod closed_forms;
mod common;
mod conformance;
mod cross;
mod deep_queues;
mod determinism;
mod diagnosis;
mod plugins;
mod seeds;
mod workloads;
