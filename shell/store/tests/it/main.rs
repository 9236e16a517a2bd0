//! Integration tests of `fathom-store`.
mod export;
mod files;
mod history;
#[path = "../../../../core/analyze/diagnose/tests/it/line.rs"]
mod line;
