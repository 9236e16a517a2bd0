//! Integration tests of `fathom-prose`.
#![expect(clippy::unwrap_used, reason = "a helper that panics fails its test")]
mod corpus;
mod error_forms;
mod errors;
mod every;
mod examples;
#[path = "../../../../analyze/audit/tests/it/fixture.rs"]
mod fixture;
mod golden;
#[path = "../../../../analyze/diagnose/tests/it/hops.rs"]
mod hops;
#[path = "../../../../analyze/diagnose/tests/it/line.rs"]
mod line;
mod recent;
mod rust_source;
mod samples;
mod shapers;
#[path = "../../../../analyze/diagnose/tests/it/switch.rs"]
mod switch;
#[path = "../../../../analyze/diagnose/tests/it/upload.rs"]
mod upload;
mod variants;
