//! Integration tests of `fathom-report`.
mod audit;
mod corpus;
#[path = "../../../audit/tests/it/fixture.rs"]
mod fixture;
mod gallery;
mod golden;
mod hostile;
#[path = "../../../diagnose/tests/it/line.rs"]
mod line;
mod run_file_bytes;
mod size;
mod sweep;
#[path = "../../../diagnose/tests/it/upload.rs"]
mod upload;
mod works;
