//! Tests of the inference of queues, with a simulated model and with a real bloated upload.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod bloated;
#[allow(dead_code, reason = "shared with other crates, which use other parts")]
#[path = "../../../flow/tests/it/capture.rs"]
mod capture;
mod model;
mod synthetic;
