//! Integration tests of `fathom-prose`.
mod golden;
#[path = "../../../../analyze/diagnose/tests/it/hops.rs"]
mod hops;
#[path = "../../../../analyze/diagnose/tests/it/line.rs"]
mod line;
mod samples;
#[path = "../../../../analyze/diagnose/tests/it/upload.rs"]
mod upload;
