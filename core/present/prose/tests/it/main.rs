//! Integration tests of `fathom-prose`.
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
mod samples;
mod shapers;
#[path = "../../../../analyze/diagnose/tests/it/upload.rs"]
mod upload;
