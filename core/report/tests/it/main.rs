//! Integration tests of `fathom-report`.
mod golden;
mod hostile;
#[path = "../../../diagnose/tests/it/line.rs"]
mod line;
