//! Tests with captures that were recorded at both ends of a line.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
#[allow(dead_code, reason = "shared with other crates, which use other parts")]
#[path = "../../../flow/tests/it/capture.rs"]
mod capture;
mod recorded;
