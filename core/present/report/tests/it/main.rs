//! Integration tests of `fathom-report`.
mod audit;
mod corpus;
#[path = "../../../../analyze/audit/tests/it/fixture.rs"]
mod fixture;
mod gallery;
mod golden;
mod hostile;
#[path = "../../../../analyze/diagnose/tests/it/line.rs"]
mod line;
mod run_file_bytes;
mod size;
mod sweep;
#[path = "../../../../analyze/diagnose/tests/it/upload.rs"]
mod upload;
mod works;
