//! Integration tests of `fathom-store`.
mod export;
mod files;
mod history;
#[path = "../../../../core/diagnose/tests/it/line.rs"]
mod line;
